// The stack after a call of the provider has no keystream that the call computed and did not give
// to its caller.
#include <pthread.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "cipher.h"
#include "support/stack.h"

namespace {

using namespace tests;

// Calls `work` below a large frame, so that later calls on the stack do not reach its frames.
__attribute__((noinline)) void call_deep(const std::function<void()>& work) {
    [[maybe_unused]] volatile uint8_t frame[65536];
    frame[0] = 1;
    work();
    frame[0] = 0;
}

// Memory for the stack of a thread, which stays as the thread leaves it.
struct OwnStack {
    alignas(4096) uint8_t bytes[size_t{1} << 20];

    void run(const std::function<void()>& work) {
        const auto start = [](void* given) -> void* {
            call_deep(*static_cast<const std::function<void()>*>(given));
            return nullptr;
        };
        pthread_attr_t attributes;
        pthread_t thread;
        ASSERT_EQ(pthread_attr_init(&attributes), 0);
        ASSERT_EQ(pthread_attr_setstack(&attributes, bytes, sizeof bytes), 0);
        ASSERT_EQ(
            pthread_create(&thread, &attributes, start, const_cast<std::function<void()>*>(&work)),
            0);
        pthread_attr_destroy(&attributes);
        ASSERT_EQ(pthread_join(thread, nullptr), 0);
    }
    bool holds(const Bytes& secret) const {
        return std::search(std::begin(bytes), std::end(bytes), secret.begin(), secret.end()) !=
               std::end(bytes);
    }
};

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
    const auto stack = std::make_unique<OwnStack>();
    stack->run([&] {
        const Bytes marker(24, 0xb7);  // on the heap, and its copy in a frame
        volatile uint8_t copy[24];
        for (size_t i = 0; i < sizeof copy; ++i) copy[i] = marker[i];
        done = one.update(&text, 1, &text, &made);
    });
    ASSERT_TRUE(done);
    EXPECT_EQ(text, keystream[15]);
    EXPECT_TRUE(stack->holds(Bytes(24, 0xb7))) << "the search itself is blind";
    keystream.pop_back();
    EXPECT_FALSE(stack->holds(keystream));
}

}  // namespace
