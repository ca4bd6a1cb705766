// Marks memory as secret or as public, and counts the reports of branches and addresses that depend
// on secrets. The reports are memcheck's, or those of MemorySanitizer in a build with it
// (WARPSEAL_SANITIZE=memory), which runs targets that valgrind cannot run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cipher_backend.h"

#if defined(WARPSEAL_MSAN)
#include <sanitizer/msan_interface.h>
#include <unistd.h>

#include <cstdio>

namespace tests {
inline unsigned report_count = 0;
}  // namespace tests

// The runtime calls this after each report, and reads the options before main. Only what is marked
// secret counts: memory from malloc is not. A run with many reports ends early.
extern "C" __attribute__((used, visibility("default"))) inline void
__sanitizer_report_error_summary(const char*) {
    constexpr unsigned most_reports = 100;
    if (++tests::report_count <= most_reports) return;
    std::printf("more than %u reports\n0 passed, 1 failed\n", most_reports);
    std::fflush(stdout);
    _exit(1);
}
extern "C" __attribute__((used, visibility("default"))) inline const char*
__msan_default_options() {
    return "exitcode=0:poison_in_malloc=0:poison_in_free=0:poison_in_dtor=0:print_stats=0";
}
#else
#include <valgrind/memcheck.h>
#endif

namespace tests {

#if defined(WARPSEAL_MSAN)

bool models_are_right();  // those of msan_models.h

inline bool marks_are_watched() { return true; }
// True if a secret could get lost on its way to an output, which all_secret then shows.
inline constexpr bool marks_may_get_lost = true;
inline void mark_secret(const void* at, size_t bytes) { __msan_poison(at, bytes); }
inline void mark_public(const void* at, size_t bytes) { __msan_unpoison(at, bytes); }
// Returns true if every byte depends on what is marked secret.
inline bool all_secret(const void* at, size_t bytes) {
    const auto* const byte = static_cast<const uint8_t*>(at);
    for (size_t i = 0; i < bytes; ++i)
        if (__msan_test_shadow(byte + i, 1) < 0) return false;
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
inline bool all_secret(const void*, size_t) { return true; }
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
