// WARPSEAL_TARGETS: known answers under each mask of one target, several masks of two, and refusal
// of masks that name no target.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/targets.h"

namespace {

struct Child {
    int exit_code = -1;
    std::string output;
};

// Runs this program again under that mask.
Child run(const std::string& mask, const std::string& filter) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    const std::string command = "WARPSEAL_TARGETS='" + mask + "' '" + self +
                                "' --gtest_also_run_disabled_tests --gtest_filter='" + filter +
                                "' 2>&1";
    Child child;
    std::FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return child;
    char buffer[4096];
    size_t got = 0;
    while ((got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0) child.output.append(buffer, got);
    const int status = pclose(pipe);
    if (WIFEXITED(status)) child.exit_code = WEXITSTATUS(status);
    return child;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Returns the status of `auto` under the environment's mask as this process's exit code.
TEST(MaskedChild, DISABLED_StatusOfAnAutoEngine) {
    warpseal_engine* engine = nullptr;
    const warpseal_status status = warpseal_engine_create(nullptr, &engine);
    warpseal_engine_destroy(engine);
    std::exit(100 + status);
}

class Masks : public testing::Test {
    void SetUp() override {
        if (std::getenv("WARPSEAL_TARGETS") != nullptr)
            GTEST_SKIP() << "NOT RUN: already under a mask";
    }
};

TEST_F(Masks, EachTargetAlone) {
    for (const warpseal_target_info& only : targets::all()) {
        SCOPED_TRACE(only.name);
        if (!only.usable) {
            EXPECT_EQ(run(only.name, "MaskedChild.DISABLED_StatusOfAnAutoEngine").exit_code,
                      100 + WARPSEAL_NO_DEVICE);
            continue;
        }
        const Child child = run(only.name, "Targets/KnownAnswers.Rows/*");
        EXPECT_EQ(child.exit_code, 0) << child.output;
        EXPECT_TRUE(contains(child.output, std::string(only.name) + ": ")) << child.output;
        for (const warpseal_target_info& other : targets::all()) {
            const std::string not_run =
                std::string("NOT RUN Targets/KnownAnswers.Rows/") + other.name;
            EXPECT_EQ(contains(child.output, not_run), std::string(other.name) != only.name)
                << child.output;
        }
        EXPECT_EQ(run(only.name, "MaskedChild.DISABLED_StatusOfAnAutoEngine").exit_code,
                  100 + WARPSEAL_OK);
    }
}

TEST_F(Masks, SeveralTargets) {
    for (const char* mask :
         {"portable,aesni", "vaes512,portable", "aesni,avx2,vaes256,vaes512", "portable,cuda"}) {
        const Child child = run(mask, "Public.AutoPicksAUsableTarget:Public.SealDrawsItsIv");
        EXPECT_EQ(child.exit_code, 0) << mask << "\n" << child.output;
    }
}

TEST_F(Masks, NonsenseIsRefused) {
    for (const char* mask : {"nonsense", ",", "aesni,", ",aesni", "AESNI", "portable nonsense",
                             " portable", "portable,nonsense", "all", "0"})
        EXPECT_EQ(run(mask, "MaskedChild.DISABLED_StatusOfAnAutoEngine").exit_code,
                  100 + WARPSEAL_INVALID_ARGUMENT)
            << mask;
}

}  // namespace
