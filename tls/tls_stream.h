// A TLS connection that carries the exchange, without blocking: handshake, exporter, bytes both
// ways.
#pragma once

#include <vector>

#include "descriptor.h"
#include "exchange.h"
#include "openssl.h"

namespace warpseal::tls {

// What the exchange wants of TLS: version 1.3, its protocol named by both sides, 32 bytes of
// exporter. These set it up; they throw Failure.
void offer_exchange(SSL_CTX* client);
void accept_exchange(SSL_CTX* server);

class TlsStream {
public:
    TlsStream(SSL_CTX* context, cli::Descriptor socket, bool server);

    enum class State { open, blocked, closed, broken };
    // open: the handshake is done, and the other side knows the exchange.
    State shake_hands();
    // Appends what has come, at most `most` bytes. closed: the other side has said that nothing
    // more comes.
    State read(std::vector<uint8_t>& in, size_t most);
    // Sends from the front what can be sent, and removes it. open: all of it.
    State write(std::vector<uint8_t>& out);
    void close() { SSL_shutdown(tls_.get()); }

    SecretKey exporter() const;
    SSL* get() const { return tls_.get(); }
    int socket() const { return socket_.get(); }
    bool wants_write() const { return SSL_want_write(tls_.get()); }
    const std::string& why() const { return why_; }  // after broken

private:
    State after(int result);
    cli::Descriptor socket_;
    Ssl tls_;
    std::string why_;
};

}  // namespace warpseal::tls
