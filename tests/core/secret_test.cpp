// Types that zeroize themselves, and the comparison of secrets.
#include "core/secret.h"

#include <gtest/gtest.h>

#include <cstring>
#include <new>
#include <vector>

#include "support/random.h"

namespace {

using namespace warpseal;

// Makes the compiler assume that the memory is read and written here.
void escape(void* memory) { __asm__ __volatile__("" : : "r"(memory) : "memory"); }

template <class Type>
void expect_zeroized_on_destruction() {
    alignas(Type) uint8_t memory[sizeof(Type)];
    std::memset(memory, 0x5a, sizeof memory);
    Type* const secret = new (memory) Type;
    std::memset(static_cast<void*>(memory), 0xa5, sizeof memory);
    escape(memory);
    secret->~Type();
    escape(memory);
    for (const uint8_t byte : memory) ASSERT_EQ(byte, 0);
}

TEST(Secret, IsZeroizedOnDestruction) {
    expect_zeroized_on_destruction<Secret<64>>();
    expect_zeroized_on_destruction<SecretOf<uint64_t[8]>>();
}

TEST(Secret, StartsAsZerosAtA64ByteBoundary) {
    alignas(Secret<48>) uint8_t memory[sizeof(Secret<48>)];
    std::memset(memory, 0x5a, sizeof memory);
    escape(memory);
    Secret<48>* const secret = new (memory) Secret<48>;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(secret->data()) % 64, 0u);
    EXPECT_EQ(secret->size(), 48u);
    for (size_t i = 0; i < 48; ++i) EXPECT_EQ(secret->data()[i], 0) << i;
    secret->~Secret<48>();
}

TEST(Secret, WipeClearsThoseBytesAlone) {
    uint8_t memory[32];
    std::memset(memory, 0x5a, sizeof memory);
    wipe(memory + 7, 11);
    for (size_t i = 0; i < sizeof memory; ++i)
        EXPECT_EQ(memory[i], i >= 7 && i < 18 ? 0 : 0x5a) << i;
}

TEST(Secret, ADifferenceInAnyBitIsFound) {
    const std::vector<uint8_t> a = tests::Random(76).text(33);
    EXPECT_TRUE(equal_secret(a.data(), a.data(), a.size()));
    for (size_t bit = 0; bit < 8 * a.size(); ++bit) {
        std::vector<uint8_t> b = a;
        b[bit / 8] = static_cast<uint8_t>(b[bit / 8] ^ 1 << bit % 8);
        EXPECT_FALSE(equal_secret(a.data(), b.data(), a.size())) << bit;
        EXPECT_TRUE(equal_secret(a.data(), b.data(), bit / 8)) << "up to byte " << bit / 8;
    }
}

}  // namespace
