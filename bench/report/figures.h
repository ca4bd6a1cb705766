// Figures of a report: medians, and numbers as JSON and as text.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace warpseal::bench {

// Repetitions of each measurement; the figure is their median.
constexpr int bench_repetitions = 7;

double median(std::vector<double> values);
// Rounds to four significant digits.
nlohmann::ordered_json rounded(double value);
std::string size_text(uint64_t bytes);  // Returns a size such as "16 KiB".
// Returns a rate with about three significant digits.
std::string rate_text(double gigabytes_per_second);

}  // namespace warpseal::bench
