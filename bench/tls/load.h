// Many concurrent full TLS 1.3 handshakes, each on its own connection: parameters and results of a
// run.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace warpseal::tls {

struct Load {
    uint64_t handshakes = 0;
    unsigned in_flight = 64;
    // Event loops; in memory, each drives both ends of its connections.
    unsigned server_threads = 1;
    unsigned client_threads = 1;  // over sockets
    bool async = false;  // The server pauses in fibres while its key exchanges are computed.
};

// Contexts of both sides: connection i uses clients[i % count].
struct Ends {
    std::vector<SSL_CTX*> clients;
    SSL_CTX* server = nullptr;
};

// Results of a loop. Handshake times run from the client's first step until both ends are done.
struct Tally {
    uint64_t done = 0, failed = 0;
    std::string first_failure;
    std::vector<float> milliseconds;  // Sorted once all loops have ended.
    double server_seconds = 0;        // Thread CPU time within SSL_do_handshake of servers.
    double thread_seconds = 0;        // total CPU time of the thread

    void fail(const std::string& why);
    void add(Tally&& other);
};

struct Measured {
    Tally tally;
    double seconds = 0;
    size_t loops = 0;
    // CPU time of all threads that are not loops, which compute the batches.
    double engine_seconds = 0;
    double server_cpu() const {
        return (tally.server_seconds + engine_seconds) / static_cast<double>(tally.done);
    }
    // Returns the fraction of the loops' time spent computing; the rest is waiting.
    double busy() const { return tally.thread_seconds / (seconds * static_cast<double>(loops)); }
    double rate() const { return static_cast<double>(tally.done) / seconds; }
    double percentile(double fraction) const;
};

// Joins the two ends of each connection in memory. Loop i uses ends[i % count].
Measured run_in_memory(const Load& load, const std::vector<Ends>& ends);
// Uses TCP over loopback.
Measured run_over_sockets(const Load& load, const Ends& ends);
// Runs only clients, against a server elsewhere. `host` is the name that its certificate must have,
// if the clients verify.
Measured run_against(const Load& load, const Ends& ends, const std::string& host,
                     const std::string& port);

// Runs one step of one end's handshake.
enum class Step { done, blocked, paused, failed };
Step step(SSL* end, Tally& tally, bool server);

// Runs each loop on its own thread and combines their results.
Measured run_loops(const std::vector<std::function<Tally()>>& loops);
// Returns the quota of loop `index`; the quotas of all `count` loops add up to `all`.
uint64_t quota_of(uint64_t all, unsigned index, unsigned count);

// Returns the resident memory of the process.
uint64_t resident_bytes();

}  // namespace warpseal::tls
