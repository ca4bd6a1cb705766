// A non-blocking TLS connection that carries the exchange: handshake, exporter, and bytes in both
// directions.
#pragma once

#include <vector>

#include "cli/support/descriptor.h"
#include "examples/tls_exchange/exchange.h"
#include "examples/tls_exchange/openssl.h"

namespace warpseal::tls {

// Configure a context for the exchange: TLS 1.3 with the exchange's ALPN protocol on both sides.
// Throw Failure.
void offer_exchange(SSL_CTX* client);
void accept_exchange(SSL_CTX* server);

class TlsStream {
public:
    TlsStream(SSL_CTX* context, cli::Descriptor socket, bool server);

    enum class State { open, blocked, closed, broken };
    // `open`: the handshake is done, and the other side supports the exchange.
    State shake_hands();
    // Appends at most `most` received bytes. `closed`: the other side has ended its data.
    State read(std::vector<uint8_t>& in, size_t most);
    // Sends as much as possible from the front and removes it. `open`: everything is sent.
    State write(std::vector<uint8_t>& out);
    void close() { SSL_shutdown(tls_.get()); }

    SecretKey exporter() const;
    SSL* get() const { return tls_.get(); }
    int socket() const { return socket_.get(); }
    bool wants_write() const { return SSL_want_write(tls_.get()); }
    const std::string& why() const { return why_; }  // reason, after `broken`

private:
    State after(int result);
    cli::Descriptor socket_;
    Ssl tls_;
    std::string why_;
};

}  // namespace warpseal::tls
