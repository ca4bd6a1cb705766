// Commands of the program `warpseal-bench`. Each function registers its options with CLI11.
#pragma once

#include "cli/support/command.h"

namespace warpseal::bench {

// Runs the whole program and returns its exit code.
int run_bench(int argument_count, char** arguments);

void add_bulk(CLI::App& program, cli::Session& session);  // without a command's name
void add_random(CLI::App& program, cli::Session& session);
void add_kem(CLI::App& program, cli::Session& session);
void add_tls(CLI::App& program, cli::Session& session);
void add_papers(CLI::App& program, cli::Session& session);
void add_ladder(CLI::App& program, cli::Session& session);

}  // namespace warpseal::bench
