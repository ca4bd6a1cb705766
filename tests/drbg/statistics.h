// Statistical tests of a byte stream. They find gross faults of the construction; no such test can
// show that a generator is secure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tests {

// A test is failed below this p. All of them together raise a false alarm with a probability below
// 1e-10 for one stream.
constexpr double least_p = 1e-12;

// Runs one test. Returns the probability of a result at least as far from the expected one.
// `bytes` is a whole number of segments of 64 KiB, two or more.
double statistic(std::string_view test, std::span<const uint8_t> bytes);
// Runs every test. Returns the names of the failed tests, with a space after each.
std::string failed(std::span<const uint8_t> bytes);

}  // namespace tests
