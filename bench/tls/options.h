// Options of this program's commands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/support/command.h"

namespace warpseal::tls {

// Returns the GPU for a report's head, or "" if the device is not a GPU.
inline std::string gpu_of(const std::string& device) {
    return device.rfind("cuda", 0) == 0 ? device : "";
}

struct HandshakesOptions {
    std::vector<std::string> groups;
    uint64_t handshakes = 5000;  // for each group
    unsigned rounds = 5;         // rounds that share the handshakes; groups take turns
    unsigned in_flight = 64;
    // Number of OpenSSL's library contexts on each side. Loop i uses context i % library_contexts.
    unsigned library_contexts = 1;
    unsigned server_threads = 0,
             client_threads = 0;  // 0: all cores; over sockets, half of them each.
    bool async = false;
    bool sockets = false;
    bool mixed = false;
    std::string connect;    // "host:port" of a remote server
    std::string authority;  // Certificates that sign the server's; empty: not verified.
    // Device of the server's key exchanges; clients always use cores.
    std::string device = "auto";
    std::string max_delay_us, max_batch;  // In the provider's format; empty: its defaults.
    std::string json;
};
cli::ExitCode run_handshakes(const HandshakesOptions& options, cli::Session& session);

// Options of key exchanges without TLS.
struct ExchangesOptions {
    std::vector<std::string> sets;
    std::vector<uint64_t> clients;
    std::string device = "auto";
    unsigned threads = 16;        // threads that submit requests
    unsigned outstanding = 4096;  // total of pending requests
    unsigned max_batch = 0, max_delay_us = 0;
    double seconds = 1;
    std::string json;
};
cli::ExitCode run_exchanges(const ExchangesOptions& options, cli::Session& session);

}  // namespace warpseal::tls
