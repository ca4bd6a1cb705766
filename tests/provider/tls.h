// TLS connections over memory, with one side's records from this provider and the other's from
// OpenSSL, for tests.
#pragma once

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "cipher.h"

namespace tests {

struct FreeTls {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    void operator()(SSL* connection) const { SSL_free(connection); }
    void operator()(X509* certificate) const { X509_free(certificate); }
};
using TlsContext = std::unique_ptr<SSL_CTX, FreeTls>;
using Connection = std::unique_ptr<SSL, FreeTls>;

struct Suite {
    const char* name;
    int version;
    bool encrypt_then_mac;  // or MAC-then-encrypt: in CBC alone
    const char* cipher;     // the cipher of its records
};

struct Identity {
    Key key;
    std::unique_ptr<X509, FreeTls> certificate;
};

inline Identity identity(const char* type) {
    Identity out{Key(std::string_view(type) == "RSA"
                         ? EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", size_t{2048})
                         : EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256")),
                 std::unique_ptr<X509, FreeTls>(X509_new())};
    X509* const certificate = out.certificate.get();
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, out.key.get());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("here"), -1, -1, 0);
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
    if (X509_sign(certificate, out.key.get(), EVP_sha256()) == 0)
        throw std::runtime_error("no certificate");
    return out;
}

inline const Identity& rsa() {
    static const Identity& made = *new Identity(identity("RSA"));
    return made;
}
inline const Identity& ecdsa() {
    static const Identity& made = *new Identity(identity("EC"));
    return made;
}

inline TlsContext tls_context(const Suite& suite, bool server, bool with_ours) {
    TlsContext context(with_ours
                           ? SSL_CTX_new_ex(ours().context(), "?provider=warpseal",
                                            server ? TLS_server_method() : TLS_client_method())
                           : SSL_CTX_new_ex(stock().context(), nullptr,
                                            server ? TLS_server_method() : TLS_client_method()));
    SSL_CTX* const to = context.get();
    SSL_CTX_set_security_level(to, 0);
    SSL_CTX_set_min_proto_version(to, suite.version);
    SSL_CTX_set_max_proto_version(to, suite.version);
    SSL_CTX_set_options(to, suite.encrypt_then_mac ? 0 : SSL_OP_NO_ENCRYPT_THEN_MAC);
    SSL_CTX_set1_groups_list(to, "P-256");
    if (suite.version == TLS1_3_VERSION) {
        EXPECT_EQ(SSL_CTX_set_ciphersuites(to, suite.name), 1);
    } else {
        EXPECT_EQ(SSL_CTX_set_cipher_list(to, suite.name), 1) << suite.name;
    }
    const bool with_rsa = std::string_view(suite.name).find("ECDSA") == std::string_view::npos &&
                          suite.version != TLS1_3_VERSION;
    const Identity& who = with_rsa ? rsa() : ecdsa();
    if (server) {
        EXPECT_EQ(SSL_CTX_use_certificate(to, who.certificate.get()), 1);
        EXPECT_EQ(SSL_CTX_use_PrivateKey(to, who.key.get()), 1);
    }
    return context;
}

struct Side {
    Connection connection;
    BIO *in = nullptr, *out = nullptr;  // the connection's own
    int alert = 0;                      // sent, or received

    explicit Side(const TlsContext& context, bool server)
        : connection(SSL_new(context.get())), in(BIO_new(BIO_s_mem())), out(BIO_new(BIO_s_mem())) {
        SSL_set_bio(connection.get(), in, out);
        server ? SSL_set_accept_state(connection.get()) : SSL_set_connect_state(connection.get());
        SSL_set_msg_callback(connection.get(), [](int, int, int type, const void* text,
                                                  size_t bytes, SSL*, void* side) {
            if (type == SSL3_RT_ALERT && bytes == 2)
                static_cast<Side*>(side)->alert = static_cast<const uint8_t*>(text)[1];
        });
        SSL_set_msg_callback_arg(connection.get(), this);
    }
    Bytes sent() {
        char* data = nullptr;
        const long bytes = BIO_get_mem_data(out, &data);
        const Bytes taken(data, data + bytes);
        BIO_reset(out);
        return taken;
    }
    void receive(const Bytes& bytes) {
        BIO_write(in, bytes.data(), static_cast<int>(bytes.size()));
    }
};

inline bool shake(Side& client, Side& server) {
    for (int i = 0; i < 20; ++i) {
        const int a = SSL_do_handshake(client.connection.get());
        server.receive(client.sent());
        const int b = SSL_do_handshake(server.connection.get());
        client.receive(server.sent());
        if (a == 1 && b == 1) return true;
    }
    return false;
}

inline bool carry(Side& from, Side& to, const Bytes& text) {
    size_t n = 0;
    if (SSL_write_ex(from.connection.get(), text.data(), text.size(), &n) != 1 || n != text.size())
        return false;
    to.receive(from.sent());
    Bytes out(text.size());
    for (size_t done = 0; done < out.size(); done += n)
        if (SSL_read_ex(to.connection.get(), out.data() + done, out.size() - done, &n) != 1)
            return false;
    return out == text;
}

}  // namespace tests
