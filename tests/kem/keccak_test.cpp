// Our Keccak, one state and many, against libcrypto's SHA3-256 and SHAKE256.
#pragma GCC diagnostic ignored \
    "-Wpsabi"  // inlined functions return vectors wider than the baseline's

#include <gtest/gtest.h>

#include "backends/cpu/kem/hash.h"
#include "reference/ntru.h"
#include "support/random.h"

namespace {

using reference::Text;

template <class Word>
class Keccak : public testing::Test {};
typedef uint64_t Two __attribute__((vector_size(16)));
typedef uint64_t Four __attribute__((vector_size(32)));
typedef uint64_t Eight __attribute__((vector_size(64)));
using Words = testing::Types<uint64_t, Two, Four, Eight>;
TYPED_TEST_SUITE(Keccak, Words);

template <class Word>
std::vector<Text> hashes(const std::vector<Text>& messages, size_t hash_bytes, uint8_t suffix) {
    constexpr size_t lanes = warpseal::cpu::hash_lanes<Word>;
    const size_t bytes = messages[0].size(), stride = warpseal::kem::padded_bytes(bytes) + 8;
    Text memory(lanes * stride, 0xa5), out(lanes * hash_bytes, 0xa5);
    for (size_t i = 0; i < messages.size(); ++i)
        std::copy(messages[i].begin(), messages[i].end(),
                  memory.begin() + static_cast<long>(i * stride));
    warpseal::cpu::sponge<Word>(out.data(), hash_bytes, memory.data(), stride, bytes,
                                static_cast<int>(messages.size()), suffix);
    for (size_t i = messages.size() * hash_bytes; i < out.size(); ++i) EXPECT_EQ(out[i], 0xa5);
    std::vector<Text> each;
    for (size_t i = 0; i < messages.size(); ++i)
        each.emplace_back(out.begin() + static_cast<long>(i * hash_bytes),
                          out.begin() + static_cast<long>((i + 1) * hash_bytes));
    return each;
}

TYPED_TEST(Keccak, IsSha3AndShakeAtEveryLength) {
    tests::Random random(5001);
    for (size_t bytes = 0; bytes <= 3 * 136 + 1; ++bytes) {
        std::vector<Text> messages;
        for (size_t i = 0; i < 1 + bytes % warpseal::cpu::hash_lanes<TypeParam>; ++i)
            messages.push_back(random.text(bytes));
        const size_t squeezed = 8 * (1 + bytes % 70);  // up to five blocks
        const auto sha3 = hashes<TypeParam>(messages, 32, warpseal::kem::keccak::sha3_suffix);
        const auto shake =
            hashes<TypeParam>(messages, squeezed, warpseal::kem::keccak::shake_suffix);
        for (size_t i = 0; i < messages.size(); ++i) {
            ASSERT_EQ(sha3[i], reference::sha3_256(messages[i])) << bytes << " bytes, lane " << i;
            ASSERT_EQ(shake[i], reference::shake256(messages[i], squeezed))
                << bytes << " bytes, lane " << i;
        }
    }
}

}  // namespace
