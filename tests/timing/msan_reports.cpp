// Counts the reports of MemorySanitizer, and sets its options. Its runtime calls these functions.
#include <sanitizer/msan_interface.h>
#include <unistd.h>

#include <cstdio>

#include "timing/secret_marks.h"

namespace tests {
volatile unsigned report_count = 0;
}  // namespace tests

extern "C" {

// After each report. A run with many reports ends early.
__attribute__((visibility("default"))) void __sanitizer_report_error_summary(const char* summary) {
    constexpr unsigned most_reports = 100;
    std::fprintf(stderr, "%s\n", summary);
    tests::report_count = tests::report_count + 1;
    if (tests::report_count <= most_reports) return;
    std::printf("more than %u reports\n0 passed, 1 failed\n", most_reports);
    std::fflush(stdout);
    _exit(1);
}

// Before main. Only what is marked secret counts: memory from malloc is not.
__attribute__((visibility("default"))) const char* __msan_default_options() {
    return "exitcode=0:poison_in_malloc=0:poison_in_free=0:poison_in_dtor=0";
}
}
