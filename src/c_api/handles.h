// What the opaque handles of the C interface hold, and the wall that no exception passes.
#pragma once

#include <cstring>
#include <memory>
#include <new>
#include <system_error>

#include "engine/limits.h"
#include "platform/cancellation.h"

struct warpseal_engine {
    std::unique_ptr<warpseal::Engine> engine;
};

struct warpseal_key {
    warpseal::Engine& engine;
    std::unique_ptr<warpseal::Key> key;
};

namespace warpseal::c_api {

// A mode comes as any number that C has. One that is none is refused where it arrives: C++ does not
// define reading it from memory, where a lambda keeps it. So modes are captured by value, and
// `known` is asked before.
template <class Work>
warpseal_status guarded(Work work) noexcept {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return WARPSEAL_OUT_OF_MEMORY;
    } catch (const std::system_error&) {  // a thread or a lock that the system does not give
        return WARPSEAL_OUT_OF_MEMORY;
    } catch (...) {  // nothing here throws anything else on purpose: what could was a length or an
                     // argument out of range
        return WARPSEAL_INVALID_ARGUMENT;
    }
}

// For calls that wait: for threads, a device, a file or other callers. A thread that is cancelled
// meanwhile is so when the call is done.
template <class Work>
warpseal_status guarded_waiting(Work work) noexcept {
    const CancellationDisabled disabled;
    return guarded(work);
}

// A size that a newer or older caller could have: at least what the first version had.
template <class Struct>
bool sized(const Struct* given) {
    return given != nullptr && given->struct_bytes >= sizeof(Struct);
}

// The policy of the public calls: SP 800-38D, revision 1 draft, has no shorter tags. Other modes
// keep to their standards anyway.
inline bool long_enough(warpseal_mode mode, size_t tag_bytes) {
    return mode != WARPSEAL_GCM || tag_bytes >= 12;
}

inline XtsUnits units(const void* first, uint64_t unit_bytes) {
    XtsUnits units = {{}, unit_bytes};
    std::memcpy(units.first, first, sizeof units.first);
    return units;
}

inline Bytes span(const void* data, size_t bytes) {
    return {static_cast<const uint8_t*>(data), bytes};
}

}  // namespace warpseal::c_api
