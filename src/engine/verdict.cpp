// A table under one lock, which no test runs under: a child that is forked meanwhile finds it free,
// and what its parent's threads have under test is nobody's there.
#include "engine/verdict.h"

#include <atomic>
#include <map>
#include <optional>
#include <tuple>

#include "engine/cancellation.h"
#include "engine/forks.h"

namespace warpseal {
namespace {

using Place = std::tuple<const void*, const void*, int, Path, warpseal_mode, Direction>;

struct Outcome {
    std::optional<warpseal_status> status;
    std::optional<unsigned long>
        tester;  // the process that has it under test, by the forks before it
};

class Outcomes {
public:
    // Nothing: it is the caller's to test, and to settle. Waits while others do.
    std::optional<warpseal_status> known(const Place& place) {
        while (true) {
            uint32_t seen;
            {
                const std::lock_guard lock(mutex_);
                Outcome& outcome = outcomes_[place];
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

    void settle(const Place& place, std::optional<warpseal_status> status) {
        {
            const std::lock_guard lock(mutex_);
            outcomes_.at(place) = {status, std::nullopt};
            changes_.fetch_add(1, std::memory_order_relaxed);
        }
        changes_.notify_all();
    }

private:
    ForkMutex mutex_;
    std::map<Place, Outcome> outcomes_;
    std::atomic<uint32_t> changes_{0};
};

WARPSEAL_AT_LOAD AtLoad<Outcomes> outcomes;

}  // namespace

warpseal_status verdict(const PathName& name, const std::function<warpseal_status()>& test,
                        bool* failed_now) {
    *failed_now = false;
    const Place place{name.cipher, name.backend, name.device, name.path, name.mode, name.direction};
    const CancellationDisabled disabled;  // others wait until the outcome is settled
    if (const auto known = outcomes->known(place)) return *known;
    // Of a test that could not be run to its end nothing is known.
    struct Settled {
        const Place& place;
        std::optional<warpseal_status> status;
        ~Settled() { outcomes->settle(place, status); }
    } settled{place, std::nullopt};
    const warpseal_status status = test();
    *failed_now = status == WARPSEAL_SELF_TEST_FAILED;
    if (status == WARPSEAL_OK || *failed_now) settled.status = status;
    return status;
}

}  // namespace warpseal
