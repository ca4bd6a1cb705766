// The limits by which warpseal-dudect judges its test cases, and the test cases of NTRU.
#pragma once

#include <string>

#include "backends/cipher_backend.h"
#include "timing/two_classes.h"

namespace dudect {

constexpr uint64_t dearer =
    8;  // long work gets that fraction of the timings: each is dozens of times as long
constexpr uint64_t more = 4;  // timings of a repeated measurement, and of planted leaks, so that
                              // noise does not hide those

extern uint64_t timings;  // of each test case

// Returns true if the test case is selected.
bool wanted(const std::string& what);
void report(bool right, const std::string& what, const std::string& figures, uint64_t count);
void expect_constant(const std::string& what, const timing::Work& work, uint64_t count,
                     bool equal = false);
void expect_leak(const std::string& what, const timing::Work& work, uint64_t count);

// Measures the operations of every set, if the target and this machine have them.
void kem_test_cases(const char* name, warpseal::Target target);

}  // namespace dudect
