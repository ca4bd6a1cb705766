// JSON of a row of `warpseal bench papers`.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/papers/row.h"

namespace warpseal::papers {

// Has the same keys for every row, then those of Row::more.
nlohmann::ordered_json json_row(const Row& row);

}  // namespace warpseal::papers
