// Many threads share one engine and one key, and create and destroy keys of their own: the outputs
// are right. Also run under ThreadSanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "support/oracle.h"
#include "support/random.h"
#include "support/targets.h"

namespace {

using reference::Text;

struct ExpectedOutput {
    warpseal_mode mode;
    Text iv, aad, in, out, tag;
};

std::vector<ExpectedOutput> expected_outputs(const std::string& cipher, const Text& key) {
    tests::Random random(61);
    std::vector<ExpectedOutput> all;
    for (int i = 0; i < 40; ++i) {
        ExpectedOutput a{
            i % 2 == 0 ? WARPSEAL_GCM : WARPSEAL_CTR,
            {},
            {},
            random.text(i % 10 == 0 ? 3000000 + random.below(99) : random.length(1 << 15)),
            {},
            {}};
        const bool gcm = a.mode == WARPSEAL_GCM;
        a.iv = random.text(gcm ? 12 : 16);
        if (gcm) a.aad = random.text(random.below(50));
        a.out = oracle::run(cipher + (gcm ? "-gcm" : "-ctr"), true, key, a.iv, a.aad, a.in,
                            gcm ? &a.tag : nullptr);
        all.push_back(std::move(a));
    }
    return all;
}

bool right(const warpseal_key* key, const ExpectedOutput& a) {
    Text out(a.in.size()), tag(16);
    if (a.mode == WARPSEAL_CTR) {
        if (warpseal_encrypt(key, a.mode, a.iv.data(), a.iv.size(), a.in.data(), out.data(),
                             out.size()) != WARPSEAL_OK)
            return false;
        return out == a.out;
    }
    if (warpseal_seal_unsafe_iv(key, a.mode, a.iv.data(), a.iv.size(), a.aad.data(), a.aad.size(),
                                a.in.data(), out.data(), out.size(), tag.data(),
                                tag.size()) != WARPSEAL_OK)
        return false;
    if (out != a.out || tag != a.tag) return false;
    if (warpseal_open(key, a.mode, a.iv.data(), a.iv.size(), a.aad.data(), a.aad.size(), out.data(),
                      out.data(), out.size(), tag.data(), tag.size()) != WARPSEAL_OK)
        return false;
    return out == a.in;
}

void run(const std::string& device, unsigned engine_threads) {
    const std::string cipher = "aes-256";
    const Text key_bytes(32, 0x17);
    const std::vector<ExpectedOutput> all = expected_outputs(cipher, key_bytes);
    const auto engine = targets::engine(device, engine_threads);
    const auto shared = targets::key(engine, cipher, key_bytes);
    std::atomic<size_t> wrong{0}, done{0};
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 6; ++t)
        threads.emplace_back([&, t] {
            for (size_t i = 0; i < all.size(); ++i) {
                const ExpectedOutput& a = all[(i * (2 * t + 1)) % all.size()];
                if (!right(shared.get(), a)) ++wrong;
                if (i % 4 == t % 4) {  // a key of its own, destroyed while others work
                    const auto own = targets::key(engine, cipher, key_bytes);
                    if (!right(own.get(), a)) ++wrong;
                }
                ++done;
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0u) << device;
    EXPECT_EQ(done, 6 * all.size());
}

TEST(Threads, ShareAnEngineAndAKey) {
    for (const warpseal_target_info& target : targets::all()) {
        if (!target.usable) continue;
        run(target.name, 1);
        run(target.name, 3);
    }
    run("auto", 0);
}

// Engines are created and destroyed in several threads at once: the first uses of a target, and
// their self-tests, race with each other.
TEST(Threads, MakeEnginesAtOnce) {
    std::atomic<size_t> wrong{0};
    std::vector<std::thread> threads;
    const Text key_bytes(16, 3);
    const std::vector<ExpectedOutput> all = expected_outputs("aes-128", key_bytes);
    for (size_t t = 0; t < 8; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 5; ++i) {
                const auto engine = targets::engine("auto", t % 2 == 0 ? 2 : 1);
                const auto key = targets::key(engine, "aes-128", key_bytes);
                if (!right(key.get(), all[1 + t])) ++wrong;
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0u);
}

}  // namespace
