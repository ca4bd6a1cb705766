// Upper bounds of a GPU's figures, computed from the throughput of its units; docs/design/tuning.md
// derives them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace warpseal::bench {

struct Bound {
    double gigabytes_per_second;
    std::string binds;  // limiting unit, e.g. "160 lookups a block, 32 a clock and multiprocessor"
};

// Returns the bound of a report's row on the GPU of the report's head, or on as many of them as the
// row's "gpus" says. Returns nothing if the head lacks the GPU's data or the cipher has no
// operation counts.
std::optional<Bound> gpu_bound(const nlohmann::ordered_json& head,
                               const nlohmann::ordered_json& row);

// Adds "bound" and "bound_gigabytes_per_second" to a row of a GPU, if a bound is known.
void add_bound(const nlohmann::ordered_json& head, nlohmann::ordered_json& row);

}  // namespace warpseal::bench
