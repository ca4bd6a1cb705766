// Marks memory as secret or as public, and counts the reports of branches and addresses that depend
// on secrets. The reports are memcheck's, or those of MemorySanitizer in a build with it
// (WARPSEAL_SANITIZE=memory), which runs targets that valgrind cannot run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cipher_backend.h"

#if defined(WARPSEAL_MSAN)
#include <sanitizer/msan_interface.h>
#else
#include <valgrind/memcheck.h>
#endif

namespace tests {

#if defined(WARPSEAL_MSAN)

extern volatile unsigned report_count;
bool models_are_right();  // those of msan_models.h

inline bool marks_are_watched() { return true; }
// True if a secret could get lost on its way to an output, which all_secret then shows.
inline constexpr bool marks_may_get_lost = true;
inline void mark_secret(const void* at, size_t bytes) { __msan_poison(at, bytes); }
inline void mark_public(const void* at, size_t bytes) { __msan_unpoison(at, bytes); }
// Returns true if each `unit` bytes have a bit that depends on what is marked secret. Not every bit
// need: MemorySanitizer does not carry marks to other bits in sums and differences.
inline bool all_secret(const void* at, size_t bytes, size_t unit) {
    for (size_t i = 0; i < bytes; i += unit) {
        const size_t left = bytes - i;
        if (__msan_test_shadow(static_cast<const char*>(at) + i, left < unit ? left : unit) < 0)
            return false;
    }
    return true;
}
inline bool is_watched(warpseal::Target target) {
    return target == warpseal::Target::vaes256 || target == warpseal::Target::vaes512;
}
inline unsigned reports() { return report_count; }
inline void watch(bool) {}

#else

// False: marks have no effect without valgrind.
inline bool marks_are_watched() { return RUNNING_ON_VALGRIND != 0; }
// Valgrind follows every instruction.
inline constexpr bool marks_may_get_lost = false;
inline bool all_secret(const void*, size_t, size_t) { return true; }
inline void mark_secret(const void* at, size_t bytes) {
    (void)VALGRIND_MAKE_MEM_UNDEFINED(at, bytes);
}
inline void mark_public(const void* at, size_t bytes) {
    (void)VALGRIND_MAKE_MEM_DEFINED(at, bytes);
}
inline bool is_watched(warpseal::Target) { return true; }
inline unsigned reports() { return VALGRIND_COUNT_ERRORS; }
// Turns reports on or off.
inline void watch(bool on) {
    if (on)
        VALGRIND_ENABLE_ERROR_REPORTING;
    else
        VALGRIND_DISABLE_ERROR_REPORTING;
}

#endif

}  // namespace tests
