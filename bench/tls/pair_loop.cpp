// Handshakes with both ends in one process, joined in memory. They make no system calls except for
// clocks, so that only TLS is measured.
#include <openssl/async.h>
#include <openssl/bio.h>

#include <chrono>
#include <deque>

#include "bench/tls/async_job.h"
#include "bench/tls/load.h"
#include "cli/support/command.h"
#include "cli/support/interrupt.h"
#include "examples/tls_exchange/openssl.h"

namespace warpseal::tls {
namespace {

using Clock = std::chrono::steady_clock;

struct Pair {
    Ssl client, server;
    Poll::Wakeup wakeup{};
    Clock::time_point start;
    bool client_done = false, server_done = false, servers_turn = false, paused = false;
    int turns = 0;
};

// Runs one thread's connections, each of which takes a step in turn.
class PairLoop {
public:
    PairLoop(const Load& load, const Ends& ends, unsigned index)
        : load_(load),
          ends_(ends),
          quota_(quota_of(load.handshakes, index, load.server_threads)),
          pairs_(std::min<uint64_t>(quota_, quota_of(load.in_flight, index, load.server_threads))) {
    }

    Tally run() {
        tally_.milliseconds.reserve(quota_);
        for (uint32_t id = 0; id < pairs_.size(); ++id) begin(id);
        while (tally_.done + tally_.failed < quota_ && cli::interrupted_by() == 0) {
            for (size_t count = ready_.size(); count > 0; --count) {
                const uint32_t id = ready_.front();
                ready_.pop_front();
                take_turn(id);
            }
            if (load_.async) resume();
        }
        drain();
        pairs_.clear();
        if (load_.async) ASYNC_cleanup_thread();
        return std::move(tally_);
    }

private:
    // Connects the ends: each reads what the other writes.
    static void join(SSL* client, SSL* server) {
        BIO* const up = BIO_new(BIO_s_mem());
        BIO* const down = BIO_new(BIO_s_mem());
        if (!up || !down) fail("make a connection in memory");
        for (BIO* const direction : {up, down}) {
            BIO_set_mem_eof_return(direction, -1);
            BIO_up_ref(direction);
        }
        SSL_set_bio(client, down, up);
        SSL_set_bio(server, up, down);
    }

    void begin(uint32_t id) {
        if (begun_ == quota_) return;
        Pair& pair = pairs_[id];
        pair = {};
        pair.client.reset(SSL_new(ends_.clients[begun_++ % ends_.clients.size()]));
        pair.server.reset(SSL_new(ends_.server));
        if (!pair.client || !pair.server) fail("make a connection");
        join(pair.client.get(), pair.server.get());
        name_server(pair.client.get(), "localhost");
        SSL_set_connect_state(pair.client.get());
        SSL_set_accept_state(pair.server.get());
        if (load_.async) {
            pair.wakeup = {&poll_, id};
            SSL_set_mode(pair.server.get(), SSL_MODE_ASYNC);
            wake_after_jobs(pair.server.get(), pair.wakeup);
        }
        pair.start = Clock::now();
        ready_.push_back(id);
    }

    void take_turn(uint32_t id) {
        // A handshake takes four, and two more after a HelloRetryRequest.
        constexpr int most_turns = 16;
        Pair& pair = pairs_[id];
        const bool server = pair.servers_turn;
        const Step taken = step(server ? pair.server.get() : pair.client.get(), tally_, server);
        if (taken == Step::failed) return begin(id);
        if (taken == Step::paused) {
            pair.paused = true;
            return watch_job(pair.server.get(), pair.wakeup);
        }
        (server ? pair.server_done : pair.client_done) |= taken == Step::done;
        if (pair.client_done && pair.server_done) return finish(id);
        pair.servers_turn = !server;
        if (++pair.turns < most_turns) return ready_.push_back(id);
        tally_.fail("both ends wait for each other");
        begin(id);
    }

    void finish(uint32_t id) {
        tally_.milliseconds.push_back(
            std::chrono::duration<float, std::milli>(Clock::now() - pairs_[id].start).count());
        ++tally_.done;
        begin(id);
    }

    // Resumes connections whose batch is done. Sleeps only if all connections are paused.
    void resume() {
        const bool all_paused = ready_.empty() && tally_.done + tally_.failed < quota_;
        poll_.wait(all_paused ? longest_sleep : 0, descriptors_, woken_);
        for (const uint32_t id : woken_)
            if (std::exchange(pairs_[id].paused, false)) ready_.push_back(id);
    }

    // Called after an interrupt. A job that has not ended holds memory that its batch writes to.
    void drain() {
        for (Pair& pair : pairs_)
            while (pair.paused) {
                poll_.wait(longest_sleep, descriptors_, woken_);
                for (const uint32_t id : woken_)
                    if (pairs_[id].paused)
                        pairs_[id].paused =
                            step(pairs_[id].server.get(), tally_, true) == Step::paused;
            }
    }

    static constexpr int longest_sleep = 200;  // milliseconds between checks for an interrupt
    const Load& load_;
    const Ends& ends_;
    const uint64_t quota_;
    uint64_t begun_ = 0;
    Poll poll_;
    std::vector<Pair> pairs_;
    std::deque<uint32_t> ready_;
    std::vector<uint32_t> descriptors_, woken_;
    Tally tally_;
};

}  // namespace

Measured run_in_memory(const Load& load, const std::vector<Ends>& ends) {
    std::vector<std::function<Tally()>> loops;
    for (unsigned i = 0; i < load.server_threads; ++i)
        loops.emplace_back(
            [&load, &own = ends[i % ends.size()], i] { return PairLoop(load, own, i).run(); });
    return run_loops(loops);
}

}  // namespace warpseal::tls
