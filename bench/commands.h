// The commands of warpseal-bench, which `warpseal bench` runs under the same names.
#pragma once

#include "command.h"

namespace warpseal::papers {

void add_papers(CLI::App& program, cli::Session& session);
void add_ladder(CLI::App& program, cli::Session& session);

}  // namespace warpseal::papers
