// OpenSSL: error texts and checks of names.
#include "examples/tls_exchange/openssl.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/support/command.h"
#include "cli/support/descriptor.h"
#include "cli/support/format.h"

namespace warpseal::tls {

std::string openssl_error() {
    std::string text;
    while (const unsigned long code = ERR_get_error()) {
        char reason[256];
        ERR_error_string_n(code, reason, sizeof reason);
        text += (text.empty() ? "" : "; ") + std::string(reason);
    }
    return text.empty() ? "no reason given" : text;
}

void fail(const std::string& what) {
    throw cli::Failure(cli::ExitCode::error, cli::format("cannot {}: {}.", what, openssl_error()));
}

void require_file(const std::string& path) {
    const cli::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat about {};
    int error = file && fstat(file.get(), &about) == 0 ? 0 : errno;
    if (error == 0 && S_ISDIR(about.st_mode)) error = EISDIR;
    if (error == 0) return;
    throw cli::Failure(error == ENOENT ? cli::ExitCode::input_missing : cli::ExitCode::input_output,
                       cli::format("cannot read {}: {}.", path, std::strerror(error)));
}

void name_server(SSL* client, const std::string& host) {
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(client), host.c_str()) == 1) return;
    openssl_error();
    if (SSL_set_tlsext_host_name(client, host.c_str()) != 1 ||
        SSL_set1_host(client, host.c_str()) != 1)
        fail("name the server");
}

}  // namespace warpseal::tls
