// A TLS connection that carries the exchange.
#include "examples/tls_exchange/tls_stream.h"

#include <openssl/err.h>

#include <algorithm>
#include <cstring>

#include "cli/support/command.h"
#include "examples/tls_exchange/socket.h"

namespace warpseal::tls {
namespace {

// Unregistered label for private use (RFC 5705 section 4).
constexpr char exporter_label[] = "EXPERIMENTAL warpseal exchange 1";
constexpr size_t protocol_bytes = sizeof exchange_protocol - 1;
const auto* protocol = reinterpret_cast<const unsigned char*>(exchange_protocol);

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_bytes,
                    const unsigned char* offered, unsigned int offered_bytes, void*) {
    unsigned char* found = nullptr;
    if (SSL_select_next_proto(&found, chosen_bytes, protocol, protocol_bytes, offered,
                              offered_bytes) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

}  // namespace

void offer_exchange(SSL_CTX* client) {
    if (SSL_CTX_set_min_proto_version(client, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_alpn_protos(client, protocol, protocol_bytes) != 0)
        fail("set up TLS");
}

void accept_exchange(SSL_CTX* server) {
    if (SSL_CTX_set_min_proto_version(server, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_num_tickets(server, 0) != 1)
        fail("set up TLS");
    SSL_CTX_set_session_cache_mode(server, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_alpn_select_cb(server, choose_protocol, nullptr);
}

TlsStream::TlsStream(SSL_CTX* context, cli::Descriptor socket, bool server)
    : socket_(std::move(socket)), tls_(SSL_new(context)) {
    if (!tls_ || SSL_set_fd(tls_.get(), socket_.get()) != 1) fail("make a connection");
    SSL_set_mode(tls_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                 SSL_MODE_RELEASE_BUFFERS);
    server ? SSL_set_accept_state(tls_.get()) : SSL_set_connect_state(tls_.get());
}

TlsStream::State TlsStream::after(int result) {
    const int error = SSL_get_error(tls_.get(), result);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return State::blocked;
    if (error == SSL_ERROR_ZERO_RETURN) return State::closed;
    const long verified = SSL_get_verify_result(tls_.get());
    const int broken = error_of(socket_.get());
    if (verified != X509_V_OK)
        why_ = std::string("certificate: ") + X509_verify_cert_error_string(verified);
    else if (broken != 0)
        why_ = strerror(broken);
    else
        why_ = ERR_peek_error() == 0 ? "the connection ended" : openssl_error();
    return State::broken;
}

TlsStream::State TlsStream::shake_hands() {
    ERR_clear_error();
    const int result = SSL_do_handshake(tls_.get());
    if (result != 1) return after(result) == State::blocked ? State::blocked : State::broken;
    const unsigned char* name = nullptr;
    unsigned int bytes = 0;
    SSL_get0_alpn_selected(tls_.get(), &name, &bytes);
    if (bytes == protocol_bytes - 1 && std::equal(name, name + bytes, protocol + 1))
        return State::open;
    why_ = "the other side does not know the exchange";
    return State::broken;
}

TlsStream::State TlsStream::read(std::vector<uint8_t>& in, size_t most) {
    ERR_clear_error();
    const size_t before = in.size();
    in.resize(before + most);
    const int result = SSL_read(tls_.get(), in.data() + before, static_cast<int>(most));
    in.resize(before + static_cast<size_t>(std::max(result, 0)));
    return result > 0 ? State::open : after(result);
}

TlsStream::State TlsStream::write(std::vector<uint8_t>& out) {
    size_t sent = 0;
    State state = State::open;
    while (sent < out.size() && state == State::open) {
        ERR_clear_error();
        const int result =
            SSL_write(tls_.get(), out.data() + sent, static_cast<int>(out.size() - sent));
        if (result > 0)
            sent += static_cast<size_t>(result);
        else
            state = after(result);
    }
    out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(sent));
    return state;
}

SecretKey TlsStream::exporter() const {
    SecretKey key;
    if (SSL_export_keying_material(tls_.get(), key.data(), SecretKey::size(), exporter_label,
                                   sizeof exporter_label - 1, nullptr, 0, 0) != 1)
        fail("export keying material");
    return key;
}

}  // namespace warpseal::tls
