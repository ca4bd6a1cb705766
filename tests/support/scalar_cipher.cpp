// Single blocks by the text of each cipher header: support/scalar_cipher.h.
#include "support/scalar_cipher.h"

#include <cstring>
#include <iterator>

#include "every_cipher.h"
#include "support/plain_byte.h"

namespace tests {
namespace {

using reference::Text;

template <class Header>
class Scalar : public reference::Cipher {
public:
    explicit Scalar(const Text& key) {
        Header::expand(schedule_[0], key.data(), TableSubstitution{});
        Header::invert(schedule_[1], schedule_[0]);
    }
    size_t block_bytes() const override { return Header::block_bytes; }
    void encrypt(uint8_t* block) const override { run<false>(schedule_[0], block); }
    void decrypt(uint8_t* block) const override { run<true>(schedule_[1], block); }
    std::vector<Text> secrets() const override { return {}; }

private:
    using Words = uint32_t[Header::block_bytes / 4];
    using Bytes = PlainByte[Header::block_bytes];
    using Bits = uint32_t[8 * Header::block_bytes];  // bit 0 of each
    uint32_t schedule_[2][Header::schedule_words];

    template <bool inverse>
    static void run(const uint32_t* schedule, uint8_t* block) {
        if constexpr (requires(Words & s, uint32_t(*key)(int)) { Header::encrypt_words(s, key); })
            by_words<inverse>(schedule, block);
        else if constexpr (requires(Bytes & s, PlainByte(*key)(int)) {
                               Header::encrypt_bytes(s, key);
                           })
            by_bytes<inverse>(schedule, block);
        else
            by_bits<inverse>(schedule, block);
    }

    template <bool inverse>
    static void by_words(const uint32_t* schedule, uint8_t* block) {
        Words s;
        std::memcpy(s, block, sizeof s);
        const auto key = [&](int i) { return schedule[i]; };
        if constexpr (inverse && requires { Header::decrypt_words(s, key); })
            Header::decrypt_words(s, key);
        else
            Header::encrypt_words(s, key);
        std::memcpy(block, s, sizeof s);
    }
    template <bool inverse>
    static void by_bytes(const uint32_t* schedule, uint8_t* block) {
        Bytes s;
        std::memcpy(s, block, sizeof s);
        const auto key = [&](int i) {
            return PlainByte{static_cast<uint8_t>(schedule[i / 4] >> (8 * (i % 4)))};
        };
        if constexpr (inverse && requires { Header::decrypt_bytes(s, key); })
            Header::decrypt_bytes(s, key);
        else
            Header::encrypt_bytes(s, key);
        std::memcpy(block, s, sizeof s);
    }
    template <bool inverse>
    static void by_bits(const uint32_t* schedule, uint8_t* block) {
        Bits s;
        for (size_t i = 0; i < std::size(s); ++i) s[i] = block[i / 8] >> (i % 8) & 1;
        const auto key = [&](int i) { return 0 - (schedule[i / 32] >> (i % 32) & 1); };
        if constexpr (inverse && requires { Header::decrypt_bitsliced(s, key); })
            Header::decrypt_bitsliced(s, key);
        else
            Header::encrypt_bitsliced(s, key);
        for (size_t i = 0; i < Header::block_bytes; ++i) block[i] = 0;
        for (size_t i = 0; i < std::size(s); ++i)
            block[i / 8] = static_cast<uint8_t>(block[i / 8] | (s[i] & 1) << (i % 8));
    }
};

}  // namespace

std::unique_ptr<reference::Cipher> scalar_cipher(const std::string& name, const Text& key) {
    std::unique_ptr<reference::Cipher> out;
    warpseal::for_each_cipher([&]<class Cipher>(warpseal::CipherType<Cipher>) {
        if (name == Cipher::name) out = std::make_unique<Scalar<Cipher>>(key);
    });
    return out;
}

}  // namespace tests
