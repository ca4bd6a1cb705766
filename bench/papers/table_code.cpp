// Table-based code of the cipher headers over plain arrays. Its addresses depend on the data, so it
// runs only with the standards' example keys.
#include "bench/papers/table_code.h"

#include <cstring>

#include "bench/ladder/five_tables.h"
#include "ciphers/aria.h"
#include "core/bitsliced_byte.h"

namespace warpseal::papers {
namespace {

template <class Cipher>
class TableCode {
public:
    TableCode() { Cipher::expand(schedule_, Cipher::known().key, WordSubstitution{}); }

    void encrypt(uint8_t* data, uint64_t bytes) const {
        const ArrayLayout<typename Cipher::EncryptTables> tables{table_data};
        for (uint64_t at = 0; at < bytes; at += Cipher::block_bytes) {
            uint32_t state[Cipher::block_bytes / 4];
            std::memcpy(state, data + at, sizeof state);
            Cipher::encrypt(state, schedule_, tables);
            std::memcpy(data + at, state, sizeof state);
        }
    }

private:
    static constexpr TableData<typename Cipher::EncryptTables> table_data{};
    uint32_t schedule_[Cipher::schedule_words];
};

template <class Cipher>
TableCodeRate rate(Study& study) {
    constexpr uint64_t bytes = 64 << 10, rounds = 64;
    const TableCode<Cipher> code;
    std::vector<uint8_t> data(bytes);
    const auto known = Cipher::known();
    std::memcpy(data.data(), known.plaintext, Cipher::block_bytes);
    code.encrypt(data.data(), bytes);
    if (std::memcmp(data.data(), known.ciphertext, Cipher::block_bytes) != 0)
        study.wrong(std::string(Cipher::name) + " in 32-bit code is wrong");
    const Timed time = study.seconds_of([&] {
        for (uint64_t i = 0; i < rounds; ++i) code.encrypt(data.data(), bytes);
    });
    return {static_cast<double>(rounds * bytes) / time.seconds / 1e9, time.spread};
}

}  // namespace

TableCodeRate table_code_rate(const std::string& cipher, Study& study) {
    return cipher == "AES" ? rate<ladder::AesByFiveTables>(study)
                           : rate<ciphers::aria::Aria<128>>(study);
}

}  // namespace warpseal::papers
