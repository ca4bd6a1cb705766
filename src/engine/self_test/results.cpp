// Table of self-test results under one lock. No test runs while the lock is held, so a forked child
// finds it free.
// A child ignores tests that were running in its parent.
#include "engine/self_test/results.h"

#include <atomic>
#include <map>
#include <optional>
#include <tuple>

#include "platform/cancellation.h"
#include "platform/forks.h"

namespace warpseal {
namespace {

using PathKey = std::tuple<const void*, const void*, int, Path, warpseal_mode, Direction>;

struct Outcome {
    std::optional<warpseal_status> status;
    // Process that is running the test, identified by the number of forks before it.
    std::optional<unsigned long> tester;
};

class Outcomes {
public:
    // Returns the result, or nullopt if the caller must run the test and call settle(). Waits while
    // another thread runs it.
    std::optional<warpseal_status> known(const PathKey& path_key) {
        while (true) {
            uint32_t seen;
            {
                const std::lock_guard lock(mutex_);
                Outcome& outcome = outcomes_[path_key];
                if (outcome.status) return outcome.status;
                if (outcome.tester != forks_so_far()) {
                    outcome.tester = forks_so_far();
                    return std::nullopt;
                }
                seen = changes_.load(std::memory_order_relaxed);
            }
            changes_.wait(seen);
        }
    }

    void settle(const PathKey& path_key, std::optional<warpseal_status> status) {
        {
            const std::lock_guard lock(mutex_);
            outcomes_.at(path_key) = {status, std::nullopt};
            changes_.fetch_add(1, std::memory_order_relaxed);
        }
        changes_.notify_all();
    }

private:
    ForkMutex mutex_;
    std::map<PathKey, Outcome> outcomes_;
    std::atomic<uint32_t> changes_{0};
};

WARPSEAL_AT_LOAD AtLoad<Outcomes> outcomes;

}  // namespace

warpseal_status self_test_result(const PathName& name, const std::function<warpseal_status()>& test,
                                 bool* failed_now) {
    *failed_now = false;
    const PathKey path_key{name.cipher, name.backend, name.device,
                           name.path,   name.mode,    name.direction};
    const CancellationDisabled disabled;  // other threads wait until the result is settled
    if (const auto known = outcomes->known(path_key)) return *known;
    // A test that did not run to completion leaves no result.
    struct Settled {
        const PathKey& path_key;
        std::optional<warpseal_status> status;
        ~Settled() { outcomes->settle(path_key, status); }
    } settled{path_key, std::nullopt};
    const warpseal_status status = test();
    *failed_now = status == WARPSEAL_SELF_TEST_FAILED;
    if (status == WARPSEAL_OK || *failed_now) settled.status = status;
    return status;
}

}  // namespace warpseal
