// Commands of the program `warpseal`. Each function registers its command with CLI11.
#pragma once

#include "cli/support/command.h"

namespace warpseal::cli {

// Runs the whole program and returns its exit code.
int run_warpseal(int argument_count, char** arguments);

void add_encrypt(CLI::App& program, Session& session);
void add_decrypt(CLI::App& program, Session& session);
void add_verify(CLI::App& program, Session& session);
void add_rescue(CLI::App& program, Session& session);
void add_raw(CLI::App& program, Session& session);
void add_info(CLI::App& program, Session& session);
void add_keygen(CLI::App& program, Session& session);
void add_key(CLI::App& program, Session& session);
void add_devices(CLI::App& program, Session& session);
void add_random(CLI::App& program, Session& session);
void add_list(CLI::App& program, Session& session);
void add_help(CLI::App& program, Session& session);
void add_doctor(CLI::App& program, Session& session);
void add_kem(CLI::App& program, Session& session);
void add_vectors(CLI::App& program, Session& session);
void add_bench(CLI::App& program, Session& session);      // runs warpseal-bench
void add_tls_bench(CLI::App& program, Session& session);  // runs warpseal-bench tls

}  // namespace warpseal::cli
