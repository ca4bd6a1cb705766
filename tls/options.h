// What the commands of this program are asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command.h"

namespace warpseal::tls {

struct BenchOptions {
    std::vector<std::string> groups;
    uint64_t handshakes = 5000;  // of each group
    unsigned rounds = 5;         // they are done in, groups taking turns
    unsigned in_flight = 64;
    unsigned server_threads = 0, client_threads = 0;  // 0: all cores, over sockets half of them each
    bool async = false;
    bool sockets = false;
    bool mixed = false;
    std::string connect;                  // "host:port" of a server elsewhere
    std::string authority;                // certificates that sign its own; empty: not verified
    std::string max_delay_us, max_batch;  // as the provider takes them; empty: its defaults
    std::string json;
};
cli::ExitCode run_bench(const BenchOptions& options, cli::Session& session);

}  // namespace warpseal::tls
