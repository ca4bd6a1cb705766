// A table under one lock, which no test runs under: a child that is forked meanwhile finds it free,
// and what its parent's threads have under test is nobody's there.
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
    std::optional<unsigned long>
        tester;  // the process that has it under test, by the forks before it
};

class Outcomes {
public:
    // Nothing: it is the caller's to test, and to settle. Waits while others do.
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
    const CancellationDisabled disabled;  // others wait until the outcome is settled
    if (const auto known = outcomes->known(path_key)) return *known;
    // Of a test that could not be run to its end nothing is known.
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
