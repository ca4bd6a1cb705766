// `warpseal bench survey`: every cipher at its best size, and two ciphers at every size.
#pragma once

#include "bench/bulk/measure.h"

namespace warpseal::bench {

// Writes {head, rows, sizes}; rows and sizes have the form of `--json`. Takes about two minutes.
// Returns `error` if an output was wrong; that row has no figure.
cli::ExitCode run_survey(const BenchOptions& options, cli::Session& session);

}  // namespace warpseal::bench
