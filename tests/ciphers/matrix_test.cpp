// Prints the matrix at the end of the program, and checks that every target of the CPU is usable.
#include "support/matrix.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <tuple>

#include "support/random.h"
#include "support/targets.h"

namespace matrix {

namespace {

using Cell = std::tuple<std::string, std::string, int, int>;  // target, cipher, mode, direction

std::mutex lock;
std::map<Cell, uint64_t> cells;

constexpr uint64_t least = 1000000;  // minimum cases of a whole run

const char* operation(int mode, int direction) {
    if (mode == WARPSEAL_GCM || mode == WARPSEAL_CCM) return direction == 0 ? "seal" : "open";
    if (mode == WARPSEAL_CMAC) return direction == 0 ? "tag" : "verify";
    return direction == 0 ? "encrypt" : "decrypt";
}

// Prints the whole table. A cell of a usable target without a case fails the program, unless a
// filter excluded tests.
class Table : public testing::Environment {
    void SetUp() override {
        std::printf("seed %llu (WARPSEAL_TEST_SEED)\n",
                    static_cast<unsigned long long>(tests::seed()));
    }
    void TearDown() override {
        const bool whole = testing::GTEST_FLAG(filter) == "*";
        const std::vector<warpseal_target_info> targets = targets::all();
        std::printf("\n%-24s", "compared with outputs");
        for (const warpseal_target_info& target : targets) std::printf(" %12s", target.name);
        std::printf("\n");
        uint64_t total = 0, empty = 0;
        for (const warpseal_cipher_info& cipher : targets::ciphers())
            for (int mode = 0; mode < WARPSEAL_MODE_COUNT; ++mode)
                for (int direction = 0; direction < 2; ++direction) {
                    if (!targets::has(cipher, static_cast<warpseal_mode>(mode))) continue;
                    const std::string row = std::string(cipher.name) + "-" +
                                            warpseal_mode_name(static_cast<warpseal_mode>(mode));
                    std::printf("%-15s %-8s", row.c_str(), operation(mode, direction));
                    for (const warpseal_target_info& target : targets) {
                        const uint64_t n = cells[{target.name, cipher.name, mode, direction}];
                        total += n;
                        if (n == 0 && target.usable) ++empty;
                        if (n == 0 && !target.usable)
                            std::printf(" %12s", "NOT RUN");
                        else
                            std::printf(" %12llu", static_cast<unsigned long long>(n));
                    }
                    std::printf("\n");
                }
        for (const warpseal_target_info& target : targets)
            if (!target.usable) std::printf("NOT RUN %s: %s\n", target.name, target.reason);
        std::printf("%llu cases in all%s\n", static_cast<unsigned long long>(total),
                    whole ? "" : " (a filtered run: empty cells are not judged)");
        const bool narrowed = std::getenv("WARPSEAL_TEST_CIPHERS") != nullptr ||
                              std::getenv("WARPSEAL_TARGETS") != nullptr;
        if (whole && total < (narrowed ? 1 : least))
            ADD_FAILURE() << "only " << total << " cases were compared";
        if (whole && empty != 0) ADD_FAILURE() << empty << " cells of usable targets are empty";
    }
};

testing::Environment* const table = testing::AddGlobalTestEnvironment(new Table);

}  // namespace

void count(const std::string& target, const std::string& cipher, warpseal_mode mode,
           warpseal::Direction direction, uint64_t n) {
    const std::lock_guard<std::mutex> guard(lock);
    cells[{target, cipher, mode, static_cast<int>(direction)}] += n;
}

namespace {

// Detects CPU features by the compiler's runtime, not by ours.
bool expected(const std::string& target) {
    __builtin_cpu_init();
    const bool aesni = __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul") &&
                       __builtin_cpu_supports("sse4.1");
    const bool avx2 = aesni && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
    const bool vaes = avx2 && __builtin_cpu_supports("vaes") &&
                      __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("gfni");
    if (target == "portable") return true;
    if (target == "aesni") return aesni;
    if (target == "avx2") return avx2;
    if (target == "vaes256") return vaes;
    if (target == "vaes512")
        return vaes && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vbmi");
#if defined(WARPSEAL_WITH_CUDA)
    return target == "cuda" && std::filesystem::exists("/dev/nvidiactl");
#else
    return false;
#endif
}

TEST(Targets, NoneIsHidden) {
    if (std::getenv("WARPSEAL_TARGETS") != nullptr)
        GTEST_SKIP() << "NOT RUN: WARPSEAL_TARGETS masks targets";
    const std::vector<warpseal_target_info> all = targets::all();
    ASSERT_EQ(all.size(), static_cast<size_t>(warpseal::target_count));
    for (const warpseal_target_info& target : all) {
        EXPECT_EQ(target.usable != 0, expected(target.name))
            << target.name << ": " << target.reason;
        EXPECT_EQ(target.usable != 0, std::string(target.reason).empty()) << target.name;
        EXPECT_NE(std::string(target.side_channels), "") << target.name;
    }
}

}  // namespace

}  // namespace matrix
