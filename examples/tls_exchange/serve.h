// Server of the exchange: event loops that accept, shake hands, run the exchange and echo each
// record's text.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>

#include "examples/tls_exchange/event_poll.h"
#include "examples/tls_exchange/exchange_ends.h"
#include "examples/tls_exchange/pool_batcher.h"
#include "examples/tls_exchange/tls_stream.h"

namespace warpseal::tls {

// State shared by all loops.
struct ExchangeService {
    warpseal_engine* engine;
    SSL_CTX* tls;
    PoolBatcher& pool;
    uint8_t set;
    // Time limit for handshake and exchange together, and afterwards between two steps of a client.
    std::chrono::seconds patience;
    size_t most_clients;  // limit of each loop
    std::atomic<uint64_t> accepted{0}, turned_away{0}, opened{0}, refused{0}, failed{0},
        timed_out{0}, bytes{0};
};

class ExchangeLoop {
public:
    ExchangeLoop(ExchangeService& service, int listening);
    // Runs until an interrupt, and returns after all requests to the pool have returned.
    void run();

private:
    using Clock = std::chrono::steady_clock;
    struct Client {
        // null: no client, or one that left while the pool had its request
        std::unique_ptr<TlsStream> stream;
        std::unique_ptr<ServerExchange> exchange;
        PoolRequest request;
        Clock::time_point deadline;
        bool requested = false;   // the pool has the request
        bool has_handle = false;  // of a pair that is not used yet
        bool closing = false;     // close once everything is sent
    };
    enum class Progress { waits, more, ended };

    void accept();
    void go_on(uint32_t id);
    Progress advance(Client& client);
    Progress read_some(Client& client);
    Progress fail_exchange(Client& client, Refusal why);
    void attend(Client& client);  // Handles what the client's exchange is waiting for.
    void request(Client& client, PoolRequest::Kind kind);
    void take_answer(uint32_t id);
    void use_answer(Client& client);
    void answer_data(Client& client);
    void end(uint32_t id);
    void sweep();

    ExchangeService& service_;
    const int listening_;
    Poll poll_;
    std::deque<Client> clients_{1};  // index 0 stands for the listening socket
    std::vector<uint32_t> free_;
    size_t requested_ = 0;
    Clock::time_point next_sweep_{};
};

}  // namespace warpseal::tls
