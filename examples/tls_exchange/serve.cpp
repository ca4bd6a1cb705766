// Server of the exchange.
#include "examples/tls_exchange/serve.h"

#include "cli/support/command.h"
#include "cli/support/interrupt.h"
#include "examples/tls_exchange/socket.h"

namespace warpseal::tls {
namespace {

constexpr uint32_t listening_id = 0;
// Flag in the number of a woken connection: the pool has completed its request.
constexpr uint32_t of_pool = uint32_t{1} << 31;
constexpr int sweep_milliseconds = 100;
constexpr int steps_at_a_time = 16;  // Limit before other clients get their turn.

}  // namespace

ExchangeLoop::ExchangeLoop(ExchangeService& service, int listening)
    : service_(service), listening_(listening) {
    poll_.watch(listening, listening_id, true);
}

void ExchangeLoop::run() {
    std::vector<uint32_t> ready, woken;
    while (cli::interrupted_by() == 0 || requested_ > 0) {
        poll_.wait(sweep_milliseconds, ready, woken);
        for (const uint32_t id : woken) {
            if (id & of_pool)
                take_answer(id & ~of_pool);
            else if (clients_[id].stream)
                go_on(id);
        }
        for (const uint32_t id : ready)
            if (id == listening_id)
                accept();
            else if (clients_[id].stream)
                go_on(id);
        if (Clock::now() >= next_sweep_) sweep();
    }
}

void ExchangeLoop::accept() {
    cli::Descriptor socket = accept_from(listening_);
    if (!socket) return;
    ++service_.accepted;
    if (clients_.size() - 1 - free_.size() >= service_.most_clients) {
        ++service_.turned_away;
        return;
    }
    if (free_.empty()) {
        free_.push_back(static_cast<uint32_t>(clients_.size()));
        clients_.emplace_back();
    }
    const uint32_t id = free_.back();
    free_.pop_back();
    Client& client = clients_[id];
    client.request.done = {&poll_, id | of_pool};
    client.deadline = Clock::now() + service_.patience;
    try {
        client.stream = std::make_unique<TlsStream>(service_.tls, std::move(socket), true);
        poll_.watch(client.stream->socket(), id);
    } catch (const std::exception&) {
        ++service_.turned_away;
        end(id);
    }
}

// Descriptors are edge-triggered, so a client is served until it blocks or reaches the step limit.
void ExchangeLoop::go_on(uint32_t id) {
    Client& client = clients_[id];
    try {
        for (int steps = 0; steps < steps_at_a_time; ++steps) {
            const Progress progress = advance(client);
            if (progress == Progress::ended) return end(id);
            if (progress == Progress::waits) return;
        }
        poll_.wake(id);
    } catch (const std::exception&) {  // Errors such as exhausted memory end only this client.
        ++service_.failed;
        end(id);
    }
}

ExchangeLoop::Progress ExchangeLoop::advance(Client& client) {
    if (client.requested) return Progress::waits;
    if (!client.exchange) {
        const TlsStream::State state = client.stream->shake_hands();
        if (state == TlsStream::State::blocked) return Progress::waits;
        if (state != TlsStream::State::open) {
            ++service_.failed;
            return Progress::ended;
        }
        client.exchange = std::make_unique<ServerExchange>(service_.engine,
                                                           client.stream->exporter(), service_.set);
    }
    // Sends before reading, so that a client that does not read cannot make the server hold more
    // than one piece for it.
    const TlsStream::State sent = client.stream->write(client.exchange->output);
    if (sent == TlsStream::State::blocked) return Progress::waits;
    if (sent != TlsStream::State::open) return Progress::ended;
    if (client.closing) {
        client.stream->close();
        return Progress::ended;
    }
    return read_some(client);
}

ExchangeLoop::Progress ExchangeLoop::read_some(Client& client) {
    std::vector<uint8_t> in;
    const TlsStream::State state = client.stream->read(in, record_text_bytes);
    if (state == TlsStream::State::blocked) return Progress::waits;
    if (state != TlsStream::State::open) {
        if (!client.exchange->open()) ++service_.failed;
        return Progress::ended;
    }
    try {
        client.exchange->take(in);
        attend(client);
    } catch (const Refused&) {
        ++service_.refused;
        return Progress::ended;
    } catch (const NoCommonSet&) {
        return fail_exchange(client, Refusal::no_common_set);
    } catch (const ExchangeError&) {
        return fail_exchange(client, Refusal::failed);
    }
    return Progress::more;
}

ExchangeLoop::Progress ExchangeLoop::fail_exchange(Client& client, Refusal why) {
    ++service_.refused;
    client.exchange->refuse(why);
    client.closing = true;
    return Progress::more;
}

void ExchangeLoop::attend(Client& client) {
    if (cli::interrupted_by() != 0) return;  // No new work starts after an interrupt.
    if (client.exchange->wants_key())
        request(client, PoolRequest::Kind::acquire);
    else if (client.exchange->wants_secret())
        request(client, PoolRequest::Kind::decapsulate);
    else if (client.exchange->open())
        answer_data(client);
}

void ExchangeLoop::request(Client& client, PoolRequest::Kind kind) {
    client.request.kind = kind;
    client.request.ciphertext = client.exchange->ciphertext();
    client.requested = true;
    client.has_handle = false;  // The request has taken the handle, or will return one.
    ++requested_;
    service_.pool.submit(client.request);
}

void ExchangeLoop::take_answer(uint32_t id) {
    Client& client = clients_[id];
    const bool key = client.request.kind == PoolRequest::Kind::acquire;
    client.requested = false;
    --requested_;
    client.has_handle = key && client.request.status == WARPSEAL_OK;
    if (!client.stream) return end(id);  // The client has disconnected in the meantime.
    if (client.request.status == WARPSEAL_OK)
        use_answer(client);
    else
        fail_exchange(client, key ? Refusal::busy : Refusal::failed);
    go_on(id);
}

void ExchangeLoop::use_answer(Client& client) {
    try {
        if (client.has_handle) {
            client.exchange->give_key(client.request.public_key);
        } else {
            client.exchange->give_secret(std::exchange(client.request.secret, {}));
            ++service_.opened;
            client.deadline = Clock::now() + service_.patience;
        }
        attend(client);
        // The client did not confirm, or the server failed; the client cannot distinguish these.
    } catch (const std::exception&) {
        fail_exchange(client, Refusal::failed);
    }
}

void ExchangeLoop::answer_data(Client& client) {
    ServerExchange& exchange = *client.exchange;
    if (!exchange.text.empty()) client.deadline = Clock::now() + service_.patience;
    service_.bytes += exchange.text.size();
    exchange.send(exchange.text);
    exchange.text.clear();
    if (!exchange.finished()) return;
    exchange.send_last();
    client.closing = true;
}

void ExchangeLoop::end(uint32_t id) {
    Client& client = clients_[id];
    // The pool still writes to the request, so the client ends when the request returns.
    if (client.requested) {
        client.stream.reset();
        return;
    }
    if (client.has_handle) service_.pool.release(client.request.handle);
    client = {};
    free_.push_back(id);
}

void ExchangeLoop::sweep() {
    const Clock::time_point now = Clock::now();
    next_sweep_ = now + std::chrono::milliseconds(sweep_milliseconds);
    for (uint32_t id = listening_id + 1; id < clients_.size(); ++id)
        if (clients_[id].stream && now > clients_[id].deadline) {
            ++service_.timed_out;
            end(id);
        }
}

}  // namespace warpseal::tls
