// Handshakes over TCP: event loops of servers, and of clients, which may also connect to a remote
// server.
#include <openssl/async.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>

#include "bench/tls/async_job.h"
#include "bench/tls/load.h"
#include "cli/support/command.h"
#include "examples/tls_exchange/openssl.h"
#include "examples/tls_exchange/socket.h"

namespace warpseal::tls {
namespace {

using Clock = std::chrono::steady_clock;

struct Connection {
    cli::Descriptor socket;  // must be closed after `tls`
    Ssl tls;
    Poll::Wakeup wakeup{};
    Clock::time_point start;
    bool connected = false, done = false, paused = false;
};

// Accepts connections, shakes hands and closes them.
class ServerLoop {
public:
    ServerLoop(const Load& load, SSL_CTX* context, int listening)
        : load_(load), context_(context), listening_(listening) {
        poll_.watch(listening, listening_id, true);
    }
    void stop() {
        stopping_ = true;
        poll_.wake(listening_id);
    }
    Tally run() {
        std::vector<uint32_t> ready, woken;
        while (!stopping_ || paused_ > 0) {
            poll_.wait(-1, ready, woken);
            for (const uint32_t id : woken)
                if (id != listening_id && connections_[id].paused) {
                    connections_[id].paused = false;
                    --paused_;
                    go_on(id);
                }
            for (const uint32_t id : ready)
                if (id == listening_id)
                    accept();
                else if (connections_[id].tls && !connections_[id].paused)
                    go_on(id);
        }
        connections_.clear();
        if (load_.async) ASYNC_cleanup_thread();
        return std::move(tally_);
    }

private:
    static constexpr uint32_t listening_id = 0;

    void accept() {
        cli::Descriptor socket = accept_from(listening_);
        if (!socket) return;
        if (free_.empty()) {
            free_.push_back(static_cast<uint32_t>(connections_.size()));
            connections_.emplace_back();
        }
        const uint32_t id = free_.back();
        free_.pop_back();
        Connection& one = connections_[id];
        one.socket = std::move(socket);
        one.tls.reset(SSL_new(context_));
        if (!one.tls || SSL_set_fd(one.tls.get(), one.socket.get()) != 1) fail("make a connection");
        SSL_set_accept_state(one.tls.get());
        if (load_.async) {
            one.wakeup = {&poll_, id};
            SSL_set_mode(one.tls.get(), SSL_MODE_ASYNC);
            wake_after_jobs(one.tls.get(), one.wakeup);
        }
        poll_.watch(one.socket.get(), id);
    }

    void go_on(uint32_t id) {
        Connection& one = connections_[id];
        const Step taken = step(one.tls.get(), tally_, true);
        if (taken == Step::blocked) return;
        if (taken == Step::paused) {
            one.paused = true;
            ++paused_;
            return watch_job(one.tls.get(), one.wakeup);
        }
        if (taken == Step::done) SSL_shutdown(one.tls.get());
        one = {};
        free_.push_back(id);
    }

    const Load& load_;
    SSL_CTX* const context_;
    const int listening_;
    std::atomic<bool> stopping_{false};
    Poll poll_;
    std::deque<Connection> connections_{1};  // index 0 stands for the listening socket
    std::vector<uint32_t> free_;
    unsigned paused_ = 0;
    Tally tally_;
};

// Keeps its quota of connections in progress until its quota of handshakes is done.
class ClientLoop {
public:
    ClientLoop(const Load& load, const Ends& ends, const Address& address, const std::string& host,
               bool until_closed, unsigned index)
        : ends_(ends),
          address_(address),
          host_(host),
          until_closed_(until_closed),
          quota_(share_of(load.handshakes, index, load.client_threads)),
          connections_(
              std::min<uint64_t>(quota_, share_of(load.in_flight, index, load.client_threads))) {}

    Tally run() {
        tally_.milliseconds.reserve(quota_);
        for (uint32_t id = 0; id < connections_.size(); ++id) begin(id);
        std::vector<uint32_t> ready, woken;
        while (tally_.done + tally_.failed < quota_ && cli::interrupted_by() == 0) {
            poll_.wait(sweep_milliseconds, ready, woken);
            for (const uint32_t id : ready)
                if (connections_[id].tls) go_on(id);
            if (Clock::now() >= next_sweep_) sweep();
        }
        return std::move(tally_);
    }

private:
    static constexpr int sweep_milliseconds = 200;
    static constexpr std::chrono::seconds patience{20};

    void begin(uint32_t id) {
        Connection& one = connections_[id];
        one = {};
        if (begun_ == quota_) return;
        one.tls.reset(SSL_new(ends_.clients[begun_++ % ends_.clients.size()]));
        one.start = Clock::now();
        one.socket = connect_to(address_);
        if (!one.tls || SSL_set_fd(one.tls.get(), one.socket.get()) != 1) fail("make a connection");
        name_server(one.tls.get(), host_);
        SSL_set_connect_state(one.tls.get());
        poll_.watch(one.socket.get(), id);
    }

    void go_on(uint32_t id) {
        Connection& one = connections_[id];
        if (!one.connected) {
            if (const int error = error_of(one.socket.get()))
                return end(id, std::string("client: ") + strerror(error));
            one.connected = true;
        }
        if (!one.done) {
            const Step taken = step(one.tls.get(), tally_, false);
            if (taken == Step::failed) return begin(id);
            if (taken != Step::done) return;
            one.done = true;
        }
        // Waits for the server's close, which shows that the server has seen the client's end.
        if (until_closed_) {
            char byte = 0;
            const int count = SSL_read(one.tls.get(), &byte, 1);
            const int error = SSL_get_error(one.tls.get(), count);
            if (count > 0) return end(id, "client: data that nobody sent");
            if (error == SSL_ERROR_WANT_READ) return;
            if (error != SSL_ERROR_ZERO_RETURN)
                return end(id, "client: after its handshake: " + openssl_error());
        } else {
            SSL_shutdown(one.tls.get());
        }
        tally_.milliseconds.push_back(
            std::chrono::duration<float, std::milli>(Clock::now() - one.start).count());
        ++tally_.done;
        begin(id);
    }

    void end(uint32_t id, const std::string& why) {
        tally_.fail(why);
        begin(id);
    }

    void sweep() {
        const Clock::time_point now = Clock::now();
        next_sweep_ = now + std::chrono::milliseconds(sweep_milliseconds);
        for (uint32_t id = 0; id < connections_.size(); ++id)
            if (connections_[id].tls && now - connections_[id].start > patience)
                end(id, "client: no answer for 20 seconds");
    }

    const Ends& ends_;
    const Address& address_;
    const std::string& host_;
    const bool until_closed_;
    const uint64_t quota_;
    uint64_t begun_ = 0;
    Poll poll_;
    std::vector<Connection> connections_;
    Clock::time_point next_sweep_{};
    Tally tally_;
};

std::vector<std::function<Tally()>> client_loops(const Load& load, const Ends& ends,
                                                 const Address& address, const std::string& host,
                                                 bool until_closed) {
    std::vector<std::function<Tally()>> loops;
    for (unsigned i = 0; i < load.client_threads; ++i)
        loops.emplace_back([&, until_closed, i] {
            return ClientLoop(load, ends, address, host, until_closed, i).run();
        });
    return loops;
}

// The client counts a server's failure too, so it is dropped here.
Tally without_failures(Tally tally) {
    tally.failed = 0;
    return tally;
}

}  // namespace

Measured run_over_sockets(const Load& load, const Ends& ends) {
    const std::string host = "localhost";
    const cli::Descriptor listening = listen_on(resolve({"127.0.0.1", "0"}, true).front());
    const Address address = address_of(listening.get());
    std::deque<ServerLoop> servers;
    for (unsigned i = 0; i < load.server_threads; ++i)
        servers.emplace_back(load, ends.server, listening.get());
    std::vector<std::function<Tally()>> loops = client_loops(load, ends, address, host, true);
    std::atomic<size_t> clients_left{loops.size()};
    const auto leave = [&](void*) {
        if (--clients_left == 0)
            for (ServerLoop& server : servers) server.stop();
    };
    for (std::function<Tally()>& client : loops)
        client = [&, client] {
            // Also runs after an exception.
            const std::unique_ptr<void, decltype(leave)> leaving(&clients_left, leave);
            return client();
        };
    for (ServerLoop& server : servers)
        loops.emplace_back([&server] { return without_failures(server.run()); });
    return run_loops(loops);
}

Measured run_against(const Load& load, const Ends& ends, const std::string& host,
                     const std::string& port) {
    Address address;
    // Closed again; it only checks that a server answers.
    connect_to_any({host, port}, std::chrono::seconds(10), address);
    return run_loops(client_loops(load, ends, address, host, false));
}

}  // namespace warpseal::tls
