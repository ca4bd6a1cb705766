// A table under one lock: whoever holds a key asks once for each path and remembers the answer itself.
#include "engine/verdict.h"

#include <map>
#include <mutex>
#include <tuple>

namespace warpseal {

warpseal_status verdict(const PathName& name, const std::function<warpseal_status()>& test, bool* failed_now) {
    using Place = std::tuple<const void*, const void*, int, Path, warpseal_mode, Direction>;
    static std::mutex mutex;
    static std::map<Place, warpseal_status>& outcomes = *new std::map<Place, warpseal_status>;  // outlives every static destructor
    *failed_now = false;
    const std::lock_guard lock(mutex);
    const Place place{name.cipher, name.door, name.device, name.path, name.mode, name.direction};
    const auto known = outcomes.find(place);
    if (known != outcomes.end()) return known->second;
    const warpseal_status status = test();
    if (status == WARPSEAL_OK || status == WARPSEAL_SELF_TEST_FAILED) outcomes[place] = status;
    *failed_now = status == WARPSEAL_SELF_TEST_FAILED;
    return status;
}

}  // namespace warpseal
