// Library contexts of OpenSSL, configured in memory.
#include "bench/tls/library.h"

#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/x509v3.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "cli/support/command.h"
#include "cli/support/descriptor.h"
#include "cli/support/format.h"

namespace warpseal::tls {
namespace {

namespace fs = std::filesystem;
constexpr const char* provider_name = "warpseal";

std::string configuration(bool with_warpseal, const ProviderSettings& settings) {
    std::string text =
        "openssl_conf = main\n[main]\nproviders = providers\n[providers]\ndefault = "
        "default_provider\n";
    if (with_warpseal) text += "warpseal = warpseal_provider\n";
    text += "[default_provider]\nactivate = 1\n";
    if (!with_warpseal) return text;
    text += "[warpseal_provider]\nactivate = 1\n";
    for (const auto& [name, value] : settings) text += cli::format("{} = {}\n", name, value);
    return text;
}

void load_configuration(OSSL_LIB_CTX* library, const std::string& text) {
    const cli::Descriptor file(memfd_create("openssl.cnf", MFD_CLOEXEC));
    if (write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        fail("write OpenSSL's configuration");
    const std::string path = cli::format("/proc/self/fd/{}", file.get());
    if (OSSL_LIB_CTX_load_config(library, path.c_str()) != 1) fail("load OpenSSL's providers");
}

// Searches the build tree, then the installed tree.
void look_beside_this_program(OSSL_LIB_CTX* library) {
    if (std::getenv("OPENSSL_MODULES")) return;
    std::error_code error;
    const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
    for (const fs::path& place : {here, here / WARPSEAL_INSTALLED_MODULES})
        if (fs::is_regular_file(place / "warpseal.so", error)) {
            OSSL_PROVIDER_set_default_search_path(library, place.lexically_normal().c_str());
            return;
        }
}

}  // namespace

Library::Library(bool with_warpseal, const ProviderSettings& settings)
    : context_(OSSL_LIB_CTX_new()) {
    if (!context_) fail("make a library context of OpenSSL");
    look_beside_this_program(get());
    load_configuration(get(), configuration(with_warpseal, settings));
    if (!with_warpseal) return;
    // Loads it once more, for the handle.
    warpseal_.reset(OSSL_PROVIDER_load(get(), provider_name));
    if (!warpseal_)
        throw cli::Failure(cli::ExitCode::unsupported,
                           cli::format("OpenSSL does not load the provider warpseal ({}): set "
                                       "OPENSSL_MODULES to the folder of warpseal.so.",
                                       openssl_error()));
}

SslContext Library::context(const SSL_METHOD* method, const std::string& groups,
                            const std::string& provider) const {
    SslContext context(SSL_CTX_new_ex(get(), ("?provider=" + provider).c_str(), method));
    if (!context) fail("make a TLS context");
    if (SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) != 1) fail("set TLS 1.3");
    if (SSL_CTX_set1_groups_list(context.get(), groups.c_str()) != 1) {
        openssl_error();
        throw cli::Failure(cli::ExitCode::unsupported,
                           cli::format("OpenSSL has no group '{}' here.", groups));
    }
    SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
    return context;
}

std::string Library::metrics() const {
    if (!warpseal_) return "";
    std::string text(size_t{1} << 16, '\0');
    OSSL_PARAM wanted[] = {
        OSSL_PARAM_construct_utf8_string("warpseal-metrics", text.data(), text.size()),
        OSSL_PARAM_construct_end()};
    if (OSSL_PROVIDER_get_params(warpseal_.get(), wanted) != 1) fail("read the provider's metrics");
    text.resize(wanted[0].return_size);
    return text;
}

Identity make_identity(OSSL_LIB_CTX* library) {
    constexpr long day = 24 * 3600;
    Identity made{PrivateKey(EVP_PKEY_Q_keygen(library, nullptr, "EC", "P-256")),
                  Certificate(X509_new_ex(library, nullptr))};
    X509* const certificate = made.certificate.get();
    if (!made.key || !certificate) fail("make a key for the certificate");
    X509_set_version(certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -day / 24);
    X509_gmtime_adj(X509_getm_notAfter(certificate), day);
    X509_set_pubkey(certificate, made.key.get());
    X509_NAME* const name = X509_get_subject_name(certificate);
    const auto* localhost = reinterpret_cast<const unsigned char*>("localhost");
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, localhost, -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    const std::unique_ptr<X509_EXTENSION, Release<X509_EXTENSION_free>> hosts(
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1"));
    if (!hosts || X509_add_ext(certificate, hosts.get(), -1) != 1 ||
        X509_sign(certificate, made.key.get(), EVP_sha256()) == 0)
        fail("make a certificate");
    return made;
}

}  // namespace warpseal::tls
