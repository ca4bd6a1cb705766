// Figures of a report.
#include "bench/report/figures.h"

#include <algorithm>

#include "cli/support/format.h"

namespace warpseal::bench {

nlohmann::ordered_json rounded(double value) { return std::stod(cli::format("{:.4g}", value)); }

std::string size_text(uint64_t bytes) {
    for (const auto& [unit, shift] : {std::pair{"GiB", 30}, {"MiB", 20}, {"KiB", 10}})
        if (bytes >> shift != 0 && bytes % (uint64_t{1} << shift) == 0)
            return cli::format("{} {}", bytes >> shift, unit);
    return cli::format("{} B", bytes);
}

std::string rate_text(double gigabytes_per_second) {
    return gigabytes_per_second >= 100 ? cli::format("{:.0f}", gigabytes_per_second)
                                       : cli::format("{:.2f}", gigabytes_per_second);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const size_t middle = values.size() / 2;
    return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace warpseal::bench
