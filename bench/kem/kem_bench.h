// Options of `warpseal kem bench`, which measures operations or runs many round trips.
#pragma once

#include <string>
#include <vector>

#include "cli/support/command.h"

namespace warpseal::bench {

struct KemBenchOptions {
    std::vector<std::string> sets;  // empty: all
    std::vector<uint64_t> batches;  // empty: the default sizes
    cli::EngineChoice engine{"auto", 1};
    bool prepared = false;  // encapsulation and decapsulation under one prepared key
    std::string place;      // "device" or "host"; empty: GPU memory on a GPU
    double seconds = 1;
    uint64_t round_trips = 0;  // 0: measure
    std::string json;
};
cli::ExitCode run_kem_bench(const KemBenchOptions& options, cli::Session& session);

}  // namespace warpseal::bench
