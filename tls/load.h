// Very many TLS 1.3 handshakes at once, each full and with a connection of its own: what is asked
// of a run, and what it took.
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
    unsigned server_threads = 1;  // event loops; in memory each drives both ends of its connections
    unsigned client_threads = 1;  // over sockets
    bool async = false;  // the server pauses in fibres while its key exchanges are computed
};

// Who shakes hands with whom: connection i takes clients[i % count].
struct Ends {
    std::vector<SSL_CTX*> clients;
    SSL_CTX* server = nullptr;
};

// What a loop saw. Times of handshakes: from the client's first step until both ends are done.
struct Tally {
    uint64_t done = 0, failed = 0;
    std::string first_failure;
    std::vector<float> milliseconds;  // sorted, once all loops have ended
    double server_seconds = 0;  // of the thread's CPU clock, within SSL_do_handshake of servers
    double thread_seconds = 0;  // of it in all

    void fail(const std::string& why);
    void add(Tally&& other);
};

struct Measured {
    Tally tally;
    double seconds = 0;
    size_t loops = 0;
    double engine_seconds = 0;  // CPU of all threads that are not loops: those that compute batches
    double server_cpu() const {
        return (tally.server_seconds + engine_seconds) / static_cast<double>(tally.done);
    }
    // Of the loops' time, what they computed; the rest they waited.
    double busy() const { return tally.thread_seconds / (seconds * static_cast<double>(loops)); }
    double rate() const { return static_cast<double>(tally.done) / seconds; }
    double percentile(double part) const;
};

// The two ends of each connection joined by memory.
Measured run_in_memory(const Load& load, const Ends& ends);
// By TCP over loopback.
Measured run_over_sockets(const Load& load, const Ends& ends);
// Clients alone, of a server elsewhere. name: the host that its certificate must be of, if the
// clients verify.
Measured run_against(const Load& load, const Ends& ends, const std::string& host,
                     const std::string& port);

// One step of one end's handshake.
enum class Step { done, blocked, paused, failed };
Step step(SSL* end, Tally& tally, bool server);

// Runs each loop on a thread of its own; together what they say.
Measured run_loops(const std::vector<std::function<Tally()>>& loops);
// So many of `all` that the parts of all `count` loops add up.
uint64_t part_of(uint64_t all, unsigned index, unsigned count);

// What the process has in memory.
uint64_t resident_bytes();

}  // namespace warpseal::tls
