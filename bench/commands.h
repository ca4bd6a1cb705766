// Commands of warpseal-bench, which `warpseal bench` runs under the same names.
#pragma once

#include "cli/support/command.h"

namespace warpseal::papers {

// Runs the whole program and returns its exit code.
int run_program(int argument_count, char** arguments);

void add_papers(CLI::App& program, cli::Session& session);
void add_ladder(CLI::App& program, cli::Session& session);

}  // namespace warpseal::papers
