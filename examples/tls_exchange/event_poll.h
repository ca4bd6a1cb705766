// Waits for an event loop's descriptors, and for connections that other threads wake.
#pragma once

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
    // Wakes connection `id` once the descriptor is readable.
    void wake_when_readable(int descriptor, uint32_t id);
    // Thread-safe.
    void wake(uint32_t id);

    // Connection of a poll, for other threads that wake it.
    struct Wakeup {
        Poll* poll;
        uint32_t id;
        void wake() const { poll->wake(id); }
    };

    // Waits at most `milliseconds` (0: does not wait, -1: no limit). `ready` gets connections with
    // a descriptor event. `woken` gets those that were woken.
    void wait(int milliseconds, std::vector<uint32_t>& ready, std::vector<uint32_t>& woken);

private:
    void add(int descriptor, uint64_t tag, uint32_t events);
    cli::Descriptor epoll_, event_;
    std::mutex mutex_;
    std::vector<uint32_t> woken_;
};

}  // namespace warpseal::tls
