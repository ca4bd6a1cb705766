// Head of a report: the machine, the commit and the versions that its figures belong to.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace warpseal::bench {

// `gpu_device`: e.g. "cuda:0", or empty if no GPU is measured. `seconds`: the value of --seconds
// for each figure, for commands that have the option.
nlohmann::ordered_json json_head(const std::string& gpu_device,
                                 std::optional<double> seconds = std::nullopt);

}  // namespace warpseal::bench
