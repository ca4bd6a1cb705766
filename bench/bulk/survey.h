// Measurements for the page of `warpseal bench --html`: every cipher at its best size, and two
// ciphers at every size. Takes about a minute.
#pragma once

#include "bench/bulk/measure.h"

namespace warpseal::cli {

// Returns {head, rows, sizes}; rows have the form of `--json`. Sets `wrong` if an output was wrong;
// that row has no figure.
nlohmann::ordered_json survey(const BenchOptions& options, Session& session, bool& wrong);

}  // namespace warpseal::cli
