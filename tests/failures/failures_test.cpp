// Memory, pages, threads and random bytes may be refused at any moment: every call returns a
// status, and the next one works.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "refused.h"
#include "works.h"

namespace {

using refused::Which;
using works::Named;

// Exit statuses of a child.
constexpr int whole = 0, gave_a_status = 10, gave_another_status = 11, failed_afterwards = 12,
              not_reached = 13;

bool documented(warpseal_status status) {
    // WARPSEAL_LIMIT_EXCEEDED: a batcher that gets no thread.
    return status == WARPSEAL_OUT_OF_MEMORY || status == WARPSEAL_NO_RANDOM ||
           status == WARPSEAL_LIMIT_EXCEEDED;
}

[[noreturn]] void child(works::Work work, long number, Which which) {
    (void)alarm(300);  // SIGALRM ends a hang here
    refused::begin(number, which);
    const warpseal_status status = work();
    const long requests = refused::end();
    if (status != WARPSEAL_OK && !documented(status))
        std::fprintf(stderr, "status %d\n", static_cast<int>(status));
    if (status != WARPSEAL_OK && !documented(status)) _exit(gave_another_status);
    const warpseal_status again = work();
    if (again != WARPSEAL_OK)
        std::fprintf(stderr, "status %d afterwards\n", static_cast<int>(again));
    if (again != WARPSEAL_OK) _exit(failed_afterwards);
    if (requests <= number) _exit(not_reached);
    _exit(status == WARPSEAL_OK ? whole : gave_a_status);
}

std::string ending(int status) {
    if (WIFSIGNALED(status)) return std::string("signal ") + strsignal(WTERMSIG(status));
    switch (WEXITSTATUS(status)) {
        case whole: return "whole";
        case gave_a_status: return "a status";
        case gave_another_status: return "a status that does not tell of refused requests";
        case failed_afterwards: return "the next call failed, too";
        case works::wrong: return "wrong bytes";
        default: return "exit code " + std::to_string(WEXITSTATUS(status));
    }
}

// Runs the work with that request refused. Returns false if it makes fewer requests.
bool refused_at(const Named& named, long number, Which which, long& statuses) {
    const pid_t pid = fork();
    if (pid == 0) child(named.work, number, which);
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == not_reached) return false;
    const bool good =
        WIFEXITED(status) && (WEXITSTATUS(status) == whole || WEXITSTATUS(status) == gave_a_status);
    EXPECT_TRUE(good) << named.name << ", request " << number
                      << (which == Which::that_one ? "" : " and all after it")
                      << " refused: " << ending(status);
    statuses += WEXITSTATUS(status) == gave_a_status;
    return true;
}

class Failures : public testing::TestWithParam<Named> {};

TEST_P(Failures, EveryRequestMayBeRefused) {
    if (GetParam().self_tested) {
        ASSERT_EQ(GetParam().work(), WARPSEAL_OK);
    }
    for (const Which which : {Which::that_one, Which::all_from_then_on}) {
        // The number of requests varies with the threads: three consecutive unreached numbers end
        // the loop.
        long number = 0, statuses = 0;
        for (int missed = 0; missed < 3; ++number)
            missed = refused_at(GetParam(), number, which, statuses) ? 0 : missed + 1;
        EXPECT_GT(number, 3) << "nothing is refused";
        EXPECT_GT(statuses, 0);
        std::printf("%s, %s: %ld requests, %ld ended in a status\n", GetParam().name,
                    which == Which::that_one ? "one refused" : "all refused from one on", number,
                    statuses);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Works, Failures,
    testing::Values(Named{"ciphers", works::ciphers, true}, Named{"batches", works::batches, true},
                    Named{"files", works::files, true}, Named{"host_memory", works::host_memory},
                    Named{"kem_one", works::kem_one}, Named{"kem_many", works::kem_many},
                    Named{"pool", works::pool}, Named{"batcher", works::batcher},
                    Named{"drbg", works::drbg, true}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
