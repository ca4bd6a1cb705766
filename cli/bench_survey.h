// What the page of `warpseal bench --html` shows, measured in about a minute: every cipher where it
// is at its best, and two at every size.
#pragma once

#include "bench.h"

namespace warpseal::cli {

// {head, rows, sizes}, rows as `--json` has them. `wrong`: an output was wrong and has no figure.
nlohmann::ordered_json survey(const BenchOptions& options, Session& session, bool& wrong);

}  // namespace warpseal::cli
