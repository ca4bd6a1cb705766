// `tls-exchange connect`: sends standard input to the server and prints its answers, both encrypted
// under the exchanged key.
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "cli/support/format.h"
#include "cli/support/interrupt.h"
#include "examples/tls_exchange/exchange_ends.h"
#include "examples/tls_exchange/options.h"
#include "examples/tls_exchange/socket.h"
#include "examples/tls_exchange/tls_stream.h"

namespace warpseal::tls {
namespace {

using Clock = std::chrono::steady_clock;
using cli::ExitCode;
using cli::Failure;

SslContext make_context(const ConnectOptions& options) {
    SslContext context(SSL_CTX_new(TLS_client_method()));
    if (!context) fail("make a TLS context");
    offer_exchange(context.get());
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    if (!options.authority.empty()) require_file(options.authority);
    const int trusts =
        options.authority.empty()
            ? SSL_CTX_set_default_verify_paths(context.get())
            : SSL_CTX_load_verify_locations(context.get(), options.authority.c_str(), nullptr);
    if (trusts != 1) fail("read the certificates in " + options.authority);
    return context;
}

class Conversation {
public:
    Conversation(const ConnectOptions& options, SSL_CTX* context, warpseal_engine* engine)
        : server_(split_address(options.server)),
          sets_(exchange_set_numbers(options.sets)),
          patience_(options.patience_seconds),
          engine_(engine),
          stream_(context, connect(), false) {
        name_server(stream_.get(), options.name.empty() ? server_.host : options.name);
    }

    void run() {
        const Clock::time_point deadline = Clock::now() + patience_;
        while (step(stream_.shake_hands())) wait(deadline);
        ClientExchange exchange(engine_, stream_.exporter(), sets_);
        while (!exchange.open()) {
            flush(exchange);
            if (receive(exchange)) wait(deadline);
        }
        converse(exchange);
        stream_.close();
    }

private:
    cli::Descriptor connect() const {
        Address taken;
        return connect_to_any(server_, patience_, taken);
    }

    // Returns true if the stream is blocked. Throws if it is closed or broken.
    bool step(TlsStream::State state) const {
        if (state == TlsStream::State::closed)
            throw Failure(ExitCode::truncated, "the server ended the connection too early.");
        if (state == TlsStream::State::broken)
            throw Failure(ExitCode::input_output,
                          cli::format("{}: {}.", server_.host, stream_.why()));
        return state == TlsStream::State::blocked;
    }
    bool flush(ClientExchange& exchange) { return step(stream_.write(exchange.output)); }

    // Returns true if no more input is available now.
    bool receive(ClientExchange& exchange) {
        std::vector<uint8_t> in;
        if (step(stream_.read(in, record_text_bytes))) return true;
        try {
            exchange.receive(in);
        } catch (const ExchangeError& error) {
            if (!dynamic_cast<const Refused*>(&error)) exchange.refuse(Refusal::failed);
            stream_.write(exchange.output);
            throw Failure(ExitCode::error,
                          cli::format("no exchange with {}: {}.", server_.host, error.what()));
        }
        return false;
    }

    // Reads input only after all earlier data is sent, and prints answers as they arrive.
    void converse(ClientExchange& exchange) {
        bool input = true, blocked = flush(exchange);
        write_all(exchange.text);
        while (!exchange.finished()) {
            wait_for(input && !blocked, blocked, Clock::time_point::max());
            if (input && !blocked && input_ready_) input = read_input(exchange);
            blocked = flush(exchange);
            while (!exchange.finished() && !receive(exchange)) write_all(exchange.text);
        }
        write_all(exchange.text);
    }

    bool read_input(ClientExchange& exchange) {
        std::vector<uint8_t> text(record_text_bytes);
        const ssize_t count = read(STDIN_FILENO, text.data(), text.size());
        if (count < 0 && errno == EINTR) return true;
        if (count < 0)
            throw Failure(ExitCode::input_output,
                          cli::format("cannot read standard input: {}.", strerror(errno)));
        if (count == 0)
            exchange.send_last();
        else
            exchange.send({text.data(), static_cast<size_t>(count)});
        return count > 0;
    }

    static void write_all(std::vector<uint8_t>& text) {
        cli::print_output(std::string(text.begin(), text.end()));
        text.clear();
    }

    void wait(Clock::time_point deadline) { wait_for(false, stream_.wants_write(), deadline); }

    void wait_for(bool for_input, bool to_write, Clock::time_point deadline) {
        pollfd polled[] = {
            {cli::interrupt_descriptor(), POLLIN, 0},
            {stream_.socket(), static_cast<short>(to_write ? POLLIN | POLLOUT : POLLIN), 0},
            {for_input ? STDIN_FILENO : -1, POLLIN, 0}};
        int milliseconds = -1;
        if (deadline != Clock::time_point::max())
            milliseconds = static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                                deadline - Clock::now())
                                                .count()) +
                           1;
        const int count = milliseconds < -1 ? 0 : poll(polled, std::size(polled), milliseconds);
        if (cli::interrupted_by() != 0)
            throw Failure(static_cast<ExitCode>(128 + cli::interrupted_by()), "interrupted.");
        if (count == 0)
            throw Failure(ExitCode::input_output, cli::format("{}: no answer.", server_.host));
        input_ready_ = polled[2].revents != 0;
    }

    const HostAndPort server_;
    const std::vector<uint8_t> sets_;
    const std::chrono::seconds patience_;
    warpseal_engine* const engine_;
    TlsStream stream_;
    bool input_ready_ = false;
};

}  // namespace

ExitCode run_connect(const ConnectOptions& options, cli::Session& session) {
    const SslContext context = make_context(options);
    const cli::EngineHandle engine = cli::create_engine({"cpu", 1}, session);
    Conversation(options, context.get(), engine.get()).run();
    return ExitCode::ok;
}

}  // namespace warpseal::tls
