// The commands of `warpseal-bench`, which `warpseal bench`, `warpseal kem bench` and `warpseal
// tls-bench` run.
#include <CLI/CLI.hpp>

#include "bench/commands.h"
#include "cli/support/program.h"

namespace warpseal::bench {
namespace {

void add_commands(CLI::App& program, cli::Session& session) {
    for (const auto add : {add_bulk, add_random, add_kem, add_tls, add_papers, add_ladder})
        add(program, session);
}

}  // namespace

int run_bench(int argument_count, char** arguments) {
    return cli::run_program(
        {"warpseal bench", "Measure ciphers, and OpenSSL's beside them", add_commands},
        argument_count, arguments);
}

}  // namespace warpseal::bench
