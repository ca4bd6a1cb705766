// Keys that the files of a run share: equal to derived ones, for one passphrase, salt and cost
// only.
#include "container/slot_keys.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace tests {
namespace {

using namespace warpseal;
using container::Argon2Cost;
using container::SlotKeys;

constexpr Argon2Cost cheap = {1, 8};

Bytes bytes_of(const std::string& text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string derived(SlotKeys* keys, const std::string& passphrase, uint8_t salt, Argon2Cost cost) {
    uint8_t all[container::argon2_salt_bytes];
    memset(all, salt, sizeof all);
    Secret<32> key;
    const Bytes bytes = bytes_of(passphrase);
    EXPECT_EQ(keys != nullptr ? keys->derive(bytes, all, cost, key)
                              : container::argon2id(bytes, all, cost, key),
              WARPSEAL_OK);
    return {reinterpret_cast<const char*>(key.data()), key.size()};
}

std::string salt_of(SlotKeys& keys, const std::string& passphrase, Argon2Cost cost) {
    uint8_t salt[container::argon2_salt_bytes];
    EXPECT_TRUE(keys.salt_for(bytes_of(passphrase), cost, salt));
    return {reinterpret_cast<const char*>(salt), sizeof salt};
}

TEST(SlotKeys, AreThoseOfArgon2id) {
    SlotKeys keys;
    for (int round = 0; round < 2; ++round) {
        for (const char* passphrase : {"one", "two"}) {
            for (const uint8_t salt : {1, 2}) {
                for (const Argon2Cost cost : {cheap, Argon2Cost{2, 8}, Argon2Cost{1, 16}}) {
                    EXPECT_EQ(derived(&keys, passphrase, salt, cost),
                              derived(nullptr, passphrase, salt, cost));
                }
            }
        }
    }
}

TEST(SlotKeys, StayRightBeyondTheNumberThatIsHeld) {
    SlotKeys keys;
    const std::string first = derived(&keys, "one", 0, cheap);
    for (size_t i = 0; i < SlotKeys::most_keys + 10; ++i)
        derived(&keys, std::to_string(i), 0, cheap);
    EXPECT_EQ(derived(&keys, "one", 0, cheap), first);
    EXPECT_EQ(derived(&keys, "265", 0, cheap), derived(nullptr, "265", 0, cheap));
}

TEST(SlotKeys, HaveOneSaltForAPassphraseAndCost) {
    SlotKeys keys, others;
    const std::string salt = salt_of(keys, "one", cheap);
    EXPECT_EQ(salt_of(keys, "one", cheap), salt);
    EXPECT_NE(salt_of(keys, "two", cheap), salt);
    EXPECT_NE(salt_of(keys, "one", {2, 8}), salt);
    EXPECT_NE(salt_of(keys, "one", {1, 16}), salt);
    EXPECT_EQ(salt_of(keys, "one", cheap), salt);
    EXPECT_NE(salt_of(others, "one", cheap), salt);
}

TEST(SlotKeys, ServeManyThreads) {
    SlotKeys keys;
    const std::string wanted = derived(nullptr, "one", 1, {4, 1024});
    std::vector<std::string> found(8);
    std::vector<std::thread> threads;
    for (std::string& one : found)
        threads.emplace_back([&] { one = derived(&keys, "one", 1, {4, 1024}); });
    for (std::thread& thread : threads) thread.join();
    for (const std::string& one : found) EXPECT_EQ(one, wanted);
}

// A cost at which a hundred derivations take about a minute.
TEST(SlotKeys, AreDerivedOnce) {
    SlotKeys keys;
    constexpr Argon2Cost costly = {16, 64 * 1024};
    const auto seconds = [] {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    };
    const double begin = seconds();
    const std::string key = derived(&keys, "one", 1, costly);
    const double once = seconds() - begin;
    for (int i = 0; i < 100 && !HasFailure(); ++i) {
        EXPECT_EQ(derived(&keys, "one", 1, costly), key);
        EXPECT_LT(seconds() - begin, 2 * once);
    }
}

}  // namespace
}  // namespace tests
