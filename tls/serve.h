// The server of the exchange: event loops that accept, shake hands, exchange, and answer each
// record with its own text.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>

#include "event_poll.h"
#include "exchange_ends.h"
#include "pool_batcher.h"
#include "tls_stream.h"

namespace warpseal::tls {

// What all loops share.
struct ExchangeService {
    warpseal_engine* engine;
    SSL_CTX* tls;
    PoolBatcher& pool;
    uint8_t set;
    std::chrono::seconds patience;  // for handshake and exchange together; then between one step of
                                    // a client and its next
    size_t most_clients;            // of each loop
    std::atomic<uint64_t> accepted{0}, turned_away{0}, opened{0}, refused{0}, failed{0},
        timed_out{0}, bytes{0};
};

class ExchangeLoop {
public:
    ExchangeLoop(ExchangeService& service, int listening);
    // Until an interrupt. Not before all requests to the pool have come back.
    void run();

private:
    using Clock = std::chrono::steady_clock;
    struct Client {
        std::unique_ptr<TlsStream>
            stream;  // null: no client, or one that went while its request was the pool's
        std::unique_ptr<ServerExchange> exchange;
        PoolRequest request;
        Clock::time_point deadline;
        bool requested = false;   // the request is the pool's
        bool has_handle = false;  // of a pair that is not used yet
        bool closing = false;     // once all is sent
    };
    enum class Progress { waits, more, ended };

    void accept();
    void go_on(uint32_t id);
    Progress advance(Client& client);
    Progress read_some(Client& client);
    Progress fail_exchange(Client& client, Refusal why);
    void attend(Client& client);  // to what its exchange wants
    void request(Client& client, PoolRequest::Kind kind);
    void take_answer(uint32_t id);
    void use_answer(Client& client);
    void answer_data(Client& client);
    void end(uint32_t id);
    void sweep();

    ExchangeService& service_;
    const int listening_;
    Poll poll_;
    std::deque<Client> clients_{1};  // the first number is the listening socket's
    std::vector<uint32_t> free_;
    size_t requested_ = 0;
    Clock::time_point next_sweep_{};
};

}  // namespace warpseal::tls
