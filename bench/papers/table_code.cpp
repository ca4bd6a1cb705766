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

constexpr uint64_t buffer_bytes = 64 << 10, buffers = 64;

// Checks the first block and returns a call that encrypts a buffer `buffers` times.
template <class Cipher>
std::function<void()> encryption(Study& study) {
    std::vector<uint8_t> data(buffer_bytes);
    const TableCode<Cipher> code;
    const auto known = Cipher::known();
    std::memcpy(data.data(), known.plaintext, Cipher::block_bytes);
    code.encrypt(data.data(), buffer_bytes);
    if (std::memcmp(data.data(), known.ciphertext, Cipher::block_bytes) != 0)
        study.wrong(std::string(Cipher::name) + " in 32-bit code is wrong");
    return [code, data]() mutable {
        for (uint64_t i = 0; i < buffers; ++i) code.encrypt(data.data(), buffer_bytes);
    };
}

std::function<void()> encryption(const std::string& cipher, Study& study) {
    return cipher == "AES" ? encryption<ladder::AesByFiveTables>(study)
                           : encryption<ciphers::aria::Aria<128>>(study);
}

}  // namespace

TableCodeRate table_code_rate(const std::string& cipher, Study& study) {
    const Timed time = study.seconds_of(encryption(cipher, study));
    return {static_cast<double>(buffers * buffer_bytes) / time.seconds / 1e9, time.spread};
}

Load table_code_load(const std::string& cipher, Study& study) {
    return measure_load(study, buffers * buffer_bytes, encryption(cipher, study));
}

}  // namespace warpseal::papers
