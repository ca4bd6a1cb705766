// Contents of the C API's opaque handles, and the functions that keep exceptions from leaving the
// library.
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

// Converts exceptions to statuses. A mode from C may be any number, and loading an invalid
// enumerator from memory is undefined in C++.
// So lambdas capture a mode by value, after a check with known().
template <class Work>
warpseal_status guarded(Work work) noexcept {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return WARPSEAL_OUT_OF_MEMORY;
    } catch (const std::system_error&) {  // the system has no more threads or locks
        return WARPSEAL_OUT_OF_MEMORY;
        // Nothing else is thrown on purpose; a length or an argument was out of range.
    } catch (...) {
        return WARPSEAL_INVALID_ARGUMENT;
    }
}

// For calls that may wait for threads, a device, a file or other callers. Thread cancellation is
// deferred until the call returns.
template <class Work>
warpseal_status guarded_waiting(Work work) noexcept {
    const CancellationDisabled disabled;
    return guarded(work);
}

// True if struct_bytes covers every field that this version knows.
template <class Struct>
bool sized(const Struct* given) {
    return given != nullptr && given->struct_bytes >= sizeof(Struct);
}

// Policy of the public calls: the draft of SP 800-38D revision 1 has no shorter tags. The engine
// checks other modes against their standards.
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
