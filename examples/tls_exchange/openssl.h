// OpenSSL: owning pointers, error texts and checks of names.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

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

// Returns the texts of OpenSSL's error queue, first cause first, and empties the queue.
std::string openssl_error();
// Throws cli::Failure with the text "cannot WHAT: reason".
[[noreturn]] void fail(const std::string& what);

// Checks a file before OpenSSL opens it. Throws Failure (input_missing or input_output) if it is
// not readable.
void require_file(const std::string& path);

// Requests the certificate of `host`, a name or an address. A client that verifies accepts no
// other.
void name_server(SSL* client, const std::string& host);

}  // namespace warpseal::tls
