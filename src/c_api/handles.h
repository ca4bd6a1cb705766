// Contents of the C API's opaque handles, and the functions that keep exceptions from leaving the
// library.
#pragma once

#include <cstring>
#include <memory>
#include <new>
#include <system_error>

#include "engine/limits.h"
#include "engine/refusal.h"
#include "platform/cancellation.h"

struct warpseal_engine {
    std::unique_ptr<warpseal::Engine> engine;
};

struct warpseal_key {
    warpseal::Engine& engine;
    std::unique_ptr<warpseal::Key> key;
};

namespace warpseal::c_api {

// Ends a call: a failure without a text of its own gets that of its status. Returns the status.
inline warpseal_status ended(warpseal_status status) {
    if (status != WARPSEAL_OK && !take_refusal(status))
        set_refusal_text(warpseal_status_text(status));
    return status;
}

// Converts exceptions to statuses. A mode from C may be any number, and loading an invalid
// enumerator from memory is undefined in C++.
// So lambdas capture a mode by value, after a check with known().
template <class Work>
warpseal_status guarded(Work work) noexcept {
    try {
        return ended(work());
    } catch (const std::bad_alloc&) {
        return ended(WARPSEAL_OUT_OF_MEMORY);
    } catch (const std::system_error&) {  // the system has no more threads or locks
        return ended(WARPSEAL_OUT_OF_MEMORY);
        // Nothing else is thrown on purpose; a length or an argument was out of range.
    } catch (...) {
        return refuse("a length is out of range");
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

// Checks return WARPSEAL_OK, or refuse the argument by its name.
inline warpseal_status check_pointer(const void* given, const char* name) {
    return given == nullptr ? refuse("%s is null", name) : WARPSEAL_OK;
}

inline warpseal_status check_mode(warpseal_mode mode) {
    if (known(mode)) return WARPSEAL_OK;
    return refuse("mode is %d: there is no such mode", static_cast<int>(mode));
}

inline warpseal_status check_key_and_mode(const warpseal_key* key, warpseal_mode mode) {
    const warpseal_status status = check_pointer(key, "key");
    return status != WARPSEAL_OK ? status : check_mode(mode);
}

template <class Struct>
warpseal_status check_struct(const Struct* given, const char* name) {
    if (given == nullptr) return refuse("%s is null", name);
    if (sized(given)) return WARPSEAL_OK;
    return refuse("the struct_bytes of %s is %u: set it to sizeof, %zu", name,
                  static_cast<unsigned>(given->struct_bytes), sizeof(Struct));
}

// Policy of the public calls: the draft of SP 800-38D revision 1 has no shorter tags. The engine
// checks other modes against their standards.
inline warpseal_status check_tag_policy(warpseal_mode mode, size_t tag_bytes) {
    if (mode != WARPSEAL_GCM || tag_bytes >= 12) return WARPSEAL_OK;
    return refuse("tag_bytes is %zu: a GCM tag has 12 to 16 bytes", tag_bytes);
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
