// The stack after a call of the provider has no keystream that the call computed and did not give
// to its caller.
#include <algorithm>
#include <vector>

#include "cipher.h"
#include "support/stack.h"

namespace {

using namespace tests;

bool holds(const std::vector<uint8_t>& stack, const Bytes& secret) {
    return std::search(stack.begin(), stack.end(), secret.begin(), secret.end()) != stack.end();
}

// A position within a block of CTR makes the provider compute the keystream before it.
TEST(StreamCipherStack, HasNoSkippedKeystream) {
    if (stacks_are_sanitized) GTEST_SKIP() << "NOT RUN: a sanitizer changes the stack layout";
    const Cipher ctr = our_cipher("AES-256-CTR"), ecb = stock_cipher("AES-256-ECB");
    Random random(87);
    const Bytes key = random.text(32);
    Bytes counter = random.text(16), keystream(16);
    counter[15] = 5;
    Evp block(ecb.get()), one(ctr.get());
    size_t made = 0;
    ASSERT_TRUE(block.init(true, key.data(), nullptr) &&
                block.update(counter.data(), 16, keystream.data(), &made));
    ++counter[15];  // the counter of the next block, as a context continues from it
    unsigned used = 15;
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_uint(OSSL_CIPHER_PARAM_NUM, &used),
                                 OSSL_PARAM_construct_end()};
    ASSERT_TRUE(one.init(true, key.data(), counter.data(), params));
    uint8_t text = 0;
    bool done = false;
    const Bytes marker(24, 0xb7);  // on the heap, and its copy in a frame
    Stack stack;
    const std::vector<uint8_t>& memory = stack.after([&] {
        volatile uint8_t copy[24];
        for (size_t i = 0; i < sizeof copy; ++i) copy[i] = marker[i];
        done = one.update(&text, 1, &text, &made);
    });
    ASSERT_TRUE(done);
    EXPECT_EQ(text, keystream[15]);
    EXPECT_TRUE(holds(memory, marker)) << "the search itself is blind";
    keystream.pop_back();
    EXPECT_FALSE(holds(memory, keystream));
}

}  // namespace
