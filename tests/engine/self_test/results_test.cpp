// Self-test results requested by several threads at once and across forks.
#include "engine/self_test/results.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>

namespace {

using namespace warpseal;

// Returns a separate path for each address: results last as long as the process.
PathName path_of(const int& its_address) {
    return {&its_address, nullptr, -1, Path::cores, WARPSEAL_ECB, Direction::encrypt};
}

warpseal_status ask(const PathName& path, const std::function<warpseal_status()>& test) {
    bool failed_now = false;
    const warpseal_status status = self_test_result(path, test, &failed_now);
    EXPECT_LE(failed_now, status == WARPSEAL_SELF_TEST_FAILED);
    return status;
}

// Runs a test of `path` on a thread of its own, in flight from construction on. It ends with
// `status` when released.
class TestInFlight {
public:
    TestInFlight(const PathName& path, warpseal_status status) {
        thread_ = std::thread([this, path, status] {
            got = ask(path, [&] {
                begun_.set_value();
                ended_.get_future().wait();
                return status;
            });
        });
        begun_.get_future().wait();
    }
    void end() {
        ended_.set_value();
        thread_.join();
    }
    warpseal_status got = WARPSEAL_NO_DEVICE;

private:
    std::promise<void> begun_, ended_;
    std::thread thread_;
};

TEST(SelfTestResults, ConcurrentCallersShareTheOutcome) {
    static int one, other;
    TestInFlight test(path_of(one), WARPSEAL_SELF_TEST_FAILED);
    std::atomic<int> tests{0};
    std::atomic<bool> there{false};
    std::thread second([&] {
        EXPECT_EQ(ask(path_of(one), [&] { return ++tests, WARPSEAL_OK; }),
                  WARPSEAL_SELF_TEST_FAILED);
        there = true;
    });
    // Another path does not wait.
    EXPECT_EQ(ask(path_of(other), [] { return WARPSEAL_OK; }), WARPSEAL_OK);
    EXPECT_FALSE(there);
    test.end();
    second.join();
    EXPECT_EQ(test.got, WARPSEAL_SELF_TEST_FAILED);
    EXPECT_EQ(tests, 0);
}

TEST(SelfTestResults, AMissingResultIsTestedAgain) {
    static int path;
    TestInFlight test(path_of(path), WARPSEAL_OUT_OF_MEMORY);
    std::thread second([&] {
        EXPECT_EQ(ask(path_of(path), [] { return WARPSEAL_NO_DEVICE; }), WARPSEAL_NO_DEVICE);
    });
    test.end();
    second.join();
    EXPECT_EQ(test.got, WARPSEAL_OUT_OF_MEMORY);
    EXPECT_THROW(
        ask(path_of(path), []() -> warpseal_status { throw std::runtime_error("no end"); }),
        std::runtime_error);
    EXPECT_EQ(ask(path_of(path), [] { return WARPSEAL_OK; }), WARPSEAL_OK);
    EXPECT_EQ(ask(path_of(path), [] { return WARPSEAL_SELF_TEST_FAILED; }), WARPSEAL_OK);
}

// The testing thread does not exist in the child, which would wait for it forever.
TEST(SelfTestResults, AForkedChildTestsForItself) {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "NOT RUN: ThreadSanitizer ends forked children of programs with threads";
#endif
    static int path, other;
    TestInFlight test(path_of(path), WARPSEAL_OK);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        const bool right =
            ask(path_of(path), [] { return WARPSEAL_SELF_TEST_FAILED; }) ==
                WARPSEAL_SELF_TEST_FAILED &&
            ask(path_of(path), [] { return WARPSEAL_OK; }) == WARPSEAL_SELF_TEST_FAILED &&
            ask(path_of(other), [] { return WARPSEAL_OK; }) == WARPSEAL_OK;
        _exit(right ? 7 : 1);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    test.end();
    EXPECT_EQ(test.got, WARPSEAL_OK);
    EXPECT_EQ(ask(path_of(path), [] { return WARPSEAL_SELF_TEST_FAILED; }), WARPSEAL_OK);
}

}  // namespace
