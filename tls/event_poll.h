// What an event loop waits for: descriptors, and connections that another thread says may go on.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <mutex>
#include <vector>

#include "descriptor.h"

namespace warpseal::tls {

class Poll {
public:
    Poll();

    // Readable, writable or hung up, told once for each change; which thread has a connection that
    // all wait for: `shared`.
    void watch(int descriptor, uint32_t id, bool shared = false);
    // Connection `id` pauses in asynchronous jobs: whoever completes them calls back, on any
    // thread, or makes a descriptor readable. `place` stays where it is as long as the connection.
    struct Place {
        Poll* poll;
        uint32_t id;
    };
    static void call_back(SSL* connection, Place& place);
    // After SSL_ERROR_WANT_ASYNC.
    void watch_job(SSL* connection, uint32_t id);
    // From any thread.
    void wake(uint32_t id);

    // Waits so long at most, 0: looks only, -1: without end. `ready`: by descriptor. `woken`: by a
    // job's end or by wake.
    void wait(int milliseconds, std::vector<uint32_t>& ready, std::vector<uint32_t>& woken);

private:
    void add(int descriptor, uint64_t tag, uint32_t events);
    cli::Descriptor epoll_, event_;
    std::mutex mutex_;
    std::vector<uint32_t> woken_;
};

}  // namespace warpseal::tls
