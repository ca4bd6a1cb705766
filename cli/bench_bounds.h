// Bounds of GPU figures, from the operations of its units in a clock: docs/design/tuning.md derives
// them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace warpseal::cli {

struct Bound {
    double gigabytes_per_second;
    std::string binds;  // "160 look-ups a block, 32 a clock and multiprocessor"
};

// Of a row of a report, on the GPU that the report's head describes; none where the head lacks the
// facts, or the cipher has no counts.
std::optional<Bound> gpu_bound(const nlohmann::ordered_json& head,
                               const nlohmann::ordered_json& row);

}  // namespace warpseal::cli
