// OpenSSL for this program: objects that free themselves, errors in words, and a library context
// with the providers that a run needs.
#pragma once

#include <openssl/provider.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace warpseal::tls {

template <auto release>
struct Release {
    template <class Object>
    void operator()(Object* object) const {
        release(object);
    }
};
using Ssl = std::unique_ptr<SSL, Release<SSL_free>>;
using SslContext = std::unique_ptr<SSL_CTX, Release<SSL_CTX_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Release<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Release<X509_free>>;

// What OpenSSL's error queue has to say, the first cause first; the queue is empty afterwards.
std::string openssl_error();
// Throws cli::Failure: "cannot WHAT: why".
[[noreturn]] void fail(const std::string& what);

// Before OpenSSL opens it: Failure (input_missing, or input_output) if the file cannot be read.
void require_file(const std::string& path);

// Of a client: asks for the host's certificate, and, if it verifies at all, takes no other. A name
// or an address.
void name_server(SSL* client, const std::string& host);

// Names and values of the provider's section of a configuration file.
using ProviderSettings = std::vector<std::pair<std::string, std::string>>;

// A library context of its own, with the default provider and, if wanted, ours: from
// $OPENSSL_MODULES, from beside this program, from the prefix where this program is installed, or
// from where OpenSSL has its modules.
class Library {
public:
    Library(bool with_warpseal, const ProviderSettings& settings);
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    OSSL_LIB_CTX* get() const { return context_.get(); }
    // TLS 1.3 alone, with the one group; the default provider does what it can, so that groups
    // differ in nothing but the key exchange. Throws Failure (unsupported) if there is no such
    // group.
    SslContext context(const SSL_METHOD* method, const std::string& group) const;
    // The provider's metrics as Prometheus text; empty without ours.
    std::string metrics() const;

private:
    struct Unload {
        void operator()(OSSL_PROVIDER* provider) const { OSSL_PROVIDER_unload(provider); }
    };
    std::unique_ptr<OSSL_LIB_CTX, Release<OSSL_LIB_CTX_free>> context_;
    std::unique_ptr<OSSL_PROVIDER, Unload> warpseal_;
};

// ECDSA on P-256, self-signed, for the host "localhost" and the address 127.0.0.1; valid for a day.
struct Identity {
    PrivateKey key;
    Certificate certificate;
};
Identity make_identity(OSSL_LIB_CTX* library);

}  // namespace warpseal::tls
