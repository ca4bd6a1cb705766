// The published example of each cipher header, on every target of this machine and below the
// self-test. It stops at the first wrong block: all else of that cipher is then wrong too.
#include <cstdio>

#include "core/bitsliced_byte.h"
#include "every_cipher.h"
#include "paths.h"

namespace {

using reference::Text;
using warpseal::Direction;

std::string hex(const uint8_t* bytes, size_t count) {
    std::string out;
    char digits[3];
    for (size_t i = 0; i < count; ++i) {
        std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
        out += digits;
    }
    return out;
}

template <class Cipher>
std::string first_words_of_schedule(const uint8_t* key) {
    uint32_t schedule[Cipher::schedule_words];
    Cipher::expand(schedule, key, warpseal::WordSubstitution{});
    std::string out;
    char word[10];
    for (int i = 0; i < Cipher::schedule_words && i < 4; ++i) {
        std::snprintf(word, sizeof word, " %08x", schedule[i]);
        out += word;
    }
    return "its schedule of " + std::to_string(Cipher::schedule_words) + " words begins" + out;
}

template <class Cipher>
void expect_published_block() {
    const warpseal::KnownAnswer known = Cipher::known();
    const Text key(known.key, known.key + Cipher::key_bytes);
    for (const auto& path : tests::paths(Cipher::name, key))
        for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
            const bool forward = direction == Direction::encrypt;
            const uint8_t* const in = forward ? known.plaintext : known.ciphertext;
            const std::string expected =
                hex(forward ? known.ciphertext : known.plaintext, Cipher::block_bytes);
            uint8_t out[Cipher::block_bytes];
            path->sweep(WARPSEAL_ECB, direction, nullptr, 0, in, out, sizeof out);
            const std::string got = hex(out, sizeof out);
            ASSERT_EQ(got, expected)
                << Cipher::name << ": the published block " << (forward ? "" : "decrypted ")
                << "gives " << got << ", not " << expected << ", on " << path->target() << "; "
                << first_words_of_schedule<Cipher>(known.key);
        }
}

TEST(PublishedBlock, OnEachTarget) {
    warpseal::for_each_cipher([]<class Cipher>(warpseal::CipherType<Cipher>) {
        if (vectors::wanted(Cipher::name) && !testing::Test::HasFailure())
            expect_published_block<Cipher>();
    });
}

}  // namespace
