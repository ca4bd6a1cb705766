// Both ends of TLS 1.3 connections in one process, over stock libssl and a pair of BIOs.
#pragma once

#include <openssl/async.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "provider/library.h"

namespace tests {

struct FreeTls {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    void operator()(SSL* end) const { SSL_free(end); }
    void operator()(X509* certificate) const { X509_free(certificate); }
};
using TlsContext = std::unique_ptr<SSL_CTX, FreeTls>;
using Tls = std::unique_ptr<SSL, FreeTls>;

inline void require(bool condition, const char* what) {
    if (!condition) throw std::runtime_error(what);
}

// State shared by the ends of all connections over one group.
class Ends {
public:
    // query: the property query of both contexts, or null.
    Ends(const Library& library, const std::string& group, const char* query = nullptr)
        : client_(SSL_CTX_new_ex(library.context(), query, TLS_client_method())),
          server_(SSL_CTX_new_ex(library.context(), query, TLS_server_method())) {
        require(client_ && server_, "no context of TLS");
        for (SSL_CTX* const context : {client_.get(), server_.get()})
            require(SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
                        SSL_CTX_set1_groups_list(context, group.c_str()) == 1,
                    group.c_str());
        const Key key(EVP_PKEY_Q_keygen(library.context(), nullptr, "EC", "P-256"));
        const std::unique_ptr<X509, FreeTls> certificate(X509_new_ex(library.context(), nullptr));
        require(key && certificate &&
                    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1) == 1 &&
                    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60) != nullptr &&
                    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600) != nullptr &&
                    X509_set_pubkey(certificate.get(), key.get()) == 1 &&
                    X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0,
                "no certificate");
        require(SSL_CTX_use_certificate(server_.get(), certificate.get()) == 1 &&
                    SSL_CTX_use_PrivateKey(server_.get(), key.get()) == 1 &&
                    SSL_CTX_set_num_tickets(server_.get(), 0) == 1,
                "no server");
    }
    SSL_CTX* client() const { return client_.get(); }
    SSL_CTX* server() const { return server_.get(); }

private:
    TlsContext client_, server_;
};

class Connection {
public:
    // mode: SSL_MODE_ASYNC or 0, for both ends.
    explicit Connection(const Ends& ends, long mode = 0)
        : client_(SSL_new(ends.client())), server_(SSL_new(ends.server())) {
        BIO *at_client = nullptr, *at_server = nullptr;
        require(
            client_ && server_ && BIO_new_bio_pair(&at_client, 1 << 16, &at_server, 1 << 16) == 1,
            "no connection");
        SSL_set_bio(client_.get(), at_client, at_client);
        SSL_set_bio(server_.get(), at_server, at_server);
        SSL_set_connect_state(client_.get());
        SSL_set_accept_state(server_.get());
        SSL_set_mode(client_.get(), mode);
        SSL_set_mode(server_.get(), mode);
    }

    SSL* client() const { return client_.get(); }
    SSL* server() const { return server_.get(); }
    bool done() const {
        return SSL_is_init_finished(client_.get()) != 0 && SSL_is_init_finished(server_.get()) != 0;
    }

    // Resumes one end; returns false if it has failed. `pauses` counts fibres that paused.
    static bool step(SSL* end, size_t& pauses) {
        if (SSL_is_init_finished(end) != 0) return true;
        const int result = SSL_do_handshake(end);
        const int error = SSL_get_error(end, result);
        if (error == SSL_ERROR_WANT_ASYNC) ++pauses;
        return error == SSL_ERROR_NONE || error == SSL_ERROR_WANT_READ ||
               error == SSL_ERROR_WANT_WRITE || error == SSL_ERROR_WANT_ASYNC;
    }
    bool step(size_t& pauses) const {
        return step(client_.get(), pauses) && step(server_.get(), pauses);
    }

    // Returns the secret exported by both ends, unique to this connection.
    std::string exported() const {
        unsigned char ours[32], theirs[32];
        constexpr char label[] = "EXPORTER test";
        const bool got = SSL_export_keying_material(client_.get(), ours, sizeof ours, label,
                                                    sizeof label - 1, nullptr, 0, 0) == 1 &&
                         SSL_export_keying_material(server_.get(), theirs, sizeof theirs, label,
                                                    sizeof label - 1, nullptr, 0, 0) == 1 &&
                         CRYPTO_memcmp(ours, theirs, sizeof ours) == 0;
        return got ? std::string(ours, ours + sizeof ours) : std::string();
    }

private:
    Tls client_, server_;
};

// Returns the descriptors that a paused end waits for.
inline std::vector<int> descriptors(SSL* end) {
    size_t count = 0;
    if (SSL_get_all_async_fds(end, nullptr, &count) != 1) return {};
    std::vector<int> found(count);
    if (count != 0 && SSL_get_all_async_fds(end, found.data(), &count) != 1) return {};
    return found;
}

}  // namespace tests
