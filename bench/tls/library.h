// Library context of OpenSSL with the provider under test, and a server's identity.
#pragma once

#include <openssl/provider.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "examples/tls_exchange/openssl.h"

namespace warpseal::tls {

using PrivateKey = std::unique_ptr<EVP_PKEY, Release<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Release<X509_free>>;

// Names and values of the provider's section in a configuration file.
using ProviderSettings = std::vector<std::pair<std::string, std::string>>;

// A separate library context with the default provider and, if wanted, ours. Searches
// $OPENSSL_MODULES, this program's folder, its installation prefix, then OpenSSL's modules folder.
class Library {
public:
    Library(bool with_warpseal, const ProviderSettings& settings);
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    OSSL_LIB_CTX* get() const { return context_.get(); }
    // Returns a context for TLS 1.3 with these groups. The default provider does everything that it
    // can, so that groups differ only in the key exchange, or another provider does. Throws Failure
    // (unsupported) if there is no such group.
    SslContext context(const SSL_METHOD* method, const std::string& groups,
                       const std::string& provider = "default") const;
    // Returns the provider's metrics as Prometheus text; empty without our provider.
    std::string metrics() const;

private:
    struct Unload {
        void operator()(OSSL_PROVIDER* provider) const { OSSL_PROVIDER_unload(provider); }
    };
    std::unique_ptr<OSSL_LIB_CTX, Release<OSSL_LIB_CTX_free>> context_;
    std::unique_ptr<OSSL_PROVIDER, Unload> warpseal_;
};

// Self-signed ECDSA P-256 identity for the host "localhost" and the address 127.0.0.1, valid for a
// day.
struct Identity {
    PrivateKey key;
    Certificate certificate;
};
Identity make_identity(OSSL_LIB_CTX* library);

}  // namespace warpseal::tls
