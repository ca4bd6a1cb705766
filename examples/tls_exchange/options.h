// Options of this program's commands.
#pragma once

#include <string>
#include <vector>

#include "cli/support/command.h"

namespace warpseal::tls {

struct ServeOptions {
    std::string certificate, key, listen, set = "ntruhps4096821", device = "auto";
    unsigned threads = 0;  // event loops; 0: one for each core
    unsigned pairs = 4096, max_batch = 1024, max_delay_us = 1000, most_clients = 10'000,
             patience_seconds = 10;
};
cli::ExitCode run_serve(const ServeOptions& options, cli::Session& session);

struct ConnectOptions {
    std::string server, authority, name;
    std::vector<std::string> sets;  // none: ntruhps4096821
    unsigned patience_seconds = 10;
};
cli::ExitCode run_connect(const ConnectOptions& options, cli::Session& session);

}  // namespace warpseal::tls
