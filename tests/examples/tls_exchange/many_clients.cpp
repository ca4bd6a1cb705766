// Many clients of the server at once. Each shakes hands and requests a key; when all have one they
// answer together, and each sends data.
//
//   warpseal-test-many-clients HOST:PORT CA-FILE CLIENTS
#include <cstdio>
#include <cstdlib>

#include "cli/support/command.h"
#include "examples/tls_exchange/event_poll.h"
#include "examples/tls_exchange/exchange_ends.h"
#include "examples/tls_exchange/socket.h"
#include "examples/tls_exchange/tls_stream.h"

namespace {

using namespace warpseal;
using namespace warpseal::tls;

struct Client {
    std::unique_ptr<TlsStream> stream;
    std::unique_ptr<ClientExchange> exchange;
    bool sent = false, has_answer = false, done = false;
};

class Crowd {
public:
    Crowd(const char* server, const char* authority, uint32_t count)
        : context_(SSL_CTX_new(TLS_client_method())), clients_(count) {
        const HostAndPort name = split_address(server);
        const Address address = resolve(name, false).front();
        allow_descriptors(count + 64);
        engine_ = cli::create_engine({"cpu", 1}, session_);
        offer_exchange(context_.get());
        SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
        if (SSL_CTX_load_verify_locations(context_.get(), authority, nullptr) != 1)
            fail("read the certificate");
        for (uint32_t id = 0; id < count; ++id) {
            clients_[id].stream =
                std::make_unique<TlsStream>(context_.get(), connect_to(address), false);
            name_server(clients_[id].stream->get(), name.host);
            poll_.watch(clients_[id].stream->socket(), id);
        }
    }

    void run() {
        std::vector<uint32_t> ready, woken;
        while (done_ < clients_.size()) {
            poll_.wait(20'000, ready, woken);
            if (ready.empty() && woken.empty())
                throw std::runtime_error("the server says nothing any more");
            for (const uint32_t id : ready) go_on(clients_[id]);
            if (answers_ == clients_.size() && !std::exchange(all_have_answers_, true))
                for (Client& client : clients_) go_on(client);
        }
    }

private:
    static bool blocked(const Client& client, TlsStream::State state) {
        if (state == TlsStream::State::broken || state == TlsStream::State::closed)
            throw std::runtime_error("a connection ended: " + client.stream->why());
        return state == TlsStream::State::blocked;
    }

    void go_on(Client& client) {
        while (!client.done) {
            if (!client.exchange) {
                if (blocked(client, client.stream->shake_hands())) return;
                client.exchange = std::make_unique<ClientExchange>(
                    engine_.get(), client.stream->exporter(), std::vector<uint8_t>{1});
            }
            ClientExchange& exchange = *client.exchange;
            if ((!client.has_answer || all_have_answers_) &&
                blocked(client, client.stream->write(exchange.output)))
                return;
            if (exchange.open() && !std::exchange(client.sent, true)) {
                exchange.send(data_);
                exchange.send_last();
                continue;
            }
            std::vector<uint8_t> in;
            if (blocked(client, client.stream->read(in, record_text_bytes))) return;
            exchange.take(in);
            if (!exchange.open() && !client.has_answer && !exchange.output.empty()) {
                client.has_answer = true;
                ++answers_;
            }
            if (!exchange.finished()) continue;
            if (exchange.text != data_) throw std::runtime_error("other data came back");
            client.done = true;
            ++done_;
        }
    }

    const std::vector<uint8_t> data_ = std::vector<uint8_t>(1000, 'x');
    cli::Session session_;
    cli::EngineHandle engine_;
    SslContext context_;
    Poll poll_;
    std::vector<Client> clients_;
    size_t answers_ = 0, done_ = 0;
    bool all_have_answers_ = false;
};

}  // namespace

int main(int argument_count, char** arguments) {
    if (argument_count != 4) return 2;
    try {
        Crowd(arguments[1], arguments[2], static_cast<uint32_t>(std::atoi(arguments[3]))).run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    std::printf("%s clients\n", arguments[3]);
    return 0;
}
