// Waits for an event loop's descriptors, and for connections that other threads wake.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <mutex>
#include <vector>

#include "cli/support/descriptor.h"

namespace warpseal::tls {

class Poll {
public:
    Poll();

    // Watches for readable, writable and hangup, edge-triggered. With `shared`, watches a listening
    // socket of several loops: readable only, level-triggered, waking one loop (EPOLLEXCLUSIVE).
    void watch(int descriptor, uint32_t id, bool shared = false);
    // For connection `id`, which pauses in asynchronous jobs. Their completion calls back on any
    // thread, or makes a descriptor readable. `place` must stay at its address as long as the
    // connection.
    struct Place {
        Poll* poll;
        uint32_t id;
    };
    static void call_back(SSL* connection, Place& place);
    // Must be called after SSL_ERROR_WANT_ASYNC.
    void watch_job(SSL* connection, uint32_t id);
    // Thread-safe.
    void wake(uint32_t id);

    // Waits at most `milliseconds` (0: does not wait, -1: no limit). `ready` gets connections with
    // a descriptor event. `woken` gets those woken by a job's end or by wake.
    void wait(int milliseconds, std::vector<uint32_t>& ready, std::vector<uint32_t>& woken);

private:
    void add(int descriptor, uint64_t tag, uint32_t events);
    cli::Descriptor epoll_, event_;
    std::mutex mutex_;
    std::vector<uint32_t> woken_;
};

}  // namespace warpseal::tls
