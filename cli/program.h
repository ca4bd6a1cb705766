// All commands of `warpseal`, for the program and for tests that run it in their own process.
#pragma once

#include "cli/support/command.h"

namespace warpseal::cli {

void add_commands(CLI::App& program, Session& session);

}  // namespace warpseal::cli
