// Which provider an OpenSSL with X25519 and ML-KEM of its own chooses, with the module beside it:
// its own, and ours by property only.
//
//   chosen FOLDER CERTIFICATE KEY   FOLDER has warpseal.so. The last line counts the checks
#include <openssl/encoder.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/provider.h>
#include <openssl/ssl.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

template <auto release>
struct Release {
    template <class Object>
    void operator()(Object* object) const {
        release(object);
    }
};
using Library = std::unique_ptr<OSSL_LIB_CTX, Release<OSSL_LIB_CTX_free>>;
using Pkey = std::unique_ptr<EVP_PKEY, Release<EVP_PKEY_free>>;
using PkeyContext = std::unique_ptr<EVP_PKEY_CTX, Release<EVP_PKEY_CTX_free>>;
using Bio = std::unique_ptr<BIO, Release<BIO_free_all>>;
using SslContext = std::unique_ptr<SSL_CTX, Release<SSL_CTX_free>>;
using Ssl = std::unique_ptr<SSL, Release<SSL_free>>;
using Bytes = std::vector<unsigned char>;

int passed = 0, failed = 0;
const char *folder, *certificate, *key_file;

void check(bool condition, const std::string& what) {
    ++(condition ? passed : failed);
    if (!condition) {
        std::printf("FAILED %s\n", what.c_str());
        ERR_print_errors_fp(stdout);
    }
    ERR_clear_error();
}

// The providers in the order in which they are activated.
Library library(std::initializer_list<const char*> providers) {
    Library made(OSSL_LIB_CTX_new());
    OSSL_PROVIDER_set_default_search_path(made.get(), folder);
    for (const char* provider : providers)
        check(OSSL_PROVIDER_load(made.get(), provider) != nullptr, std::string("load ") + provider);
    return made;
}

std::string name_of(const OSSL_PROVIDER* provider) {
    return provider == nullptr ? "none" : OSSL_PROVIDER_get0_name(provider);
}

template <class Method, class Provider>
std::string chosen(Method* method, Provider* (*provider)(const Method*), void (*release)(Method*)) {
    const std::string name = method == nullptr ? "none" : name_of(provider(method));
    release(method);
    return name;
}

enum class Operation { keymgmt, kem, encoder, agreement };
constexpr Operation operations[] = {Operation::keymgmt, Operation::kem, Operation::encoder,
                                    Operation::agreement};

std::string fetch(OSSL_LIB_CTX* in, Operation operation, const char* name, const char* query) {
    switch (operation) {
        case Operation::keymgmt:
            return chosen(EVP_KEYMGMT_fetch(in, name, query), EVP_KEYMGMT_get0_provider,
                          EVP_KEYMGMT_free);
        case Operation::kem:
            return chosen(EVP_KEM_fetch(in, name, query), EVP_KEM_get0_provider, EVP_KEM_free);
        case Operation::encoder:
            return chosen(OSSL_ENCODER_fetch(in, name, query), OSSL_ENCODER_get0_provider,
                          OSSL_ENCODER_free);
        case Operation::agreement:
            return chosen(EVP_KEYEXCH_fetch(in, name, query), EVP_KEYEXCH_get0_provider,
                          EVP_KEYEXCH_free);
    }
    return {};
}

// Unqualified fetches get `unqualified`; queries get ours.
void check_fetches(OSSL_LIB_CTX* in, const std::string& what, const char* unqualified) {
    for (const Operation operation : operations)
        for (const char* name : {"ML-KEM-512", "MLKEM768", "id-alg-ml-kem-1024",
                                 "2.16.840.1.101.3.4.4.2", "X25519MLKEM768", "SecP256r1MLKEM768",
                                 "SecP384r1MLKEM1024", "X25519", "1.3.101.110"}) {
            // OpenSSL has no files of hybrid keys, and its KEM of the name X25519 is HPKE's.
            const bool is_hybrid = std::strncmp(name, "X25519M", 7) == 0 || name[0] == 'S',
                       is_x25519 = std::strcmp(name, "X25519") == 0 || name[0] == '1';
            if (is_hybrid && operation == Operation::encoder) continue;
            if (operation == (is_x25519 ? Operation::kem : Operation::agreement)) continue;
            const std::string of =
                what + ": operation " + std::to_string(int(operation)) + " of " + name;
            const auto is = [&](const char* query, const std::string& wanted) {
                const std::string got = fetch(in, operation, name, query);
                check(got == wanted, of + " with " + (query == nullptr ? "no query" : query) +
                                         ": " + got + ", not " + wanted);
            };
            is("provider=warpseal", "warpseal");
            is(nullptr, unqualified);
            is("?provider=warpseal", "warpseal");
            is(nullptr, unqualified);
        }
}

Pkey generate(OSSL_LIB_CTX* in, const char* name, const char* query) {
    const PkeyContext context(EVP_PKEY_CTX_new_from_name(in, name, query));
    EVP_PKEY* key = nullptr;
    if (context == nullptr || EVP_PKEY_keygen_init(context.get()) <= 0 ||
        EVP_PKEY_generate(context.get(), &key) <= 0)
        return nullptr;
    return Pkey(key);
}

// A secret from `key`'s public half in one provider, and back in another.
void check_round_trip(OSSL_LIB_CTX* in, EVP_PKEY* key, const char* there, const char* back,
                      const std::string& what) {
    const PkeyContext seal(EVP_PKEY_CTX_new_from_pkey(in, key, there)),
        open(EVP_PKEY_CTX_new_from_pkey(in, key, back));
    size_t bytes = 0, secret_bytes = 0, opened_bytes = 0;
    if (EVP_PKEY_encapsulate_init(seal.get(), nullptr) <= 0 ||
        EVP_PKEY_encapsulate(seal.get(), nullptr, &bytes, nullptr, &secret_bytes) <= 0)
        return check(false, what + ": no encapsulation");
    Bytes text(bytes), secret(secret_bytes), opened(secret_bytes);
    check(EVP_PKEY_encapsulate(seal.get(), text.data(), &bytes, secret.data(), &secret_bytes) > 0 &&
              EVP_PKEY_decapsulate_init(open.get(), nullptr) > 0 &&
              EVP_PKEY_decapsulate(open.get(), nullptr, &opened_bytes, text.data(), bytes) > 0 &&
              EVP_PKEY_decapsulate(open.get(), opened.data(), &opened_bytes, text.data(), bytes) >
                  0 &&
              opened == secret,
          what + ": the secrets differ");
}

Pkey through_file(OSSL_LIB_CTX* in, EVP_PKEY* key, const char* query) {
    const Bio file(BIO_new(BIO_s_mem()));
    if (PEM_write_bio_PrivateKey_ex(file.get(), key, nullptr, nullptr, 0, nullptr, nullptr, in,
                                    nullptr) <= 0)
        return nullptr;
    return Pkey(PEM_read_bio_PrivateKey_ex(file.get(), nullptr, nullptr, nullptr, in, query));
}

// Both providers' keys, written by either, are read as the query says.
void check_files(OSSL_LIB_CTX* in, EVP_PKEY* key, const std::string& what) {
    for (int round = 0; round < 2; ++round)
        for (const auto& [query, wanted] : {std::pair{static_cast<const char*>(nullptr), "default"},
                                            {"provider=warpseal", "warpseal"},
                                            {"?provider=warpseal", "warpseal"},
                                            {"provider=default", "default"}}) {
            const Pkey read = through_file(in, key, query);
            const std::string of =
                what + ": a file, " + (query == nullptr ? "no query" : query) + ": ";
            check(read != nullptr && EVP_PKEY_eq(read.get(), key) == 1, of + "another key");
            const std::string got =
                read == nullptr ? "none" : name_of(EVP_PKEY_get0_provider(read.get()));
            check(got == wanted, of + got);
        }
}

Bytes agreed(OSSL_LIB_CTX* in, EVP_PKEY* own, EVP_PKEY* peer, const char* query) {
    const PkeyContext context(EVP_PKEY_CTX_new_from_pkey(in, own, query));
    Bytes secret(32);
    size_t bytes = secret.size();
    if (context == nullptr || EVP_PKEY_derive_init(context.get()) <= 0 ||
        EVP_PKEY_derive_set_peer(context.get(), peer) <= 0 ||
        EVP_PKEY_derive(context.get(), secret.data(), &bytes) <= 0 || bytes != secret.size())
        return {};
    return secret;
}

void check_agreement(OSSL_LIB_CTX* in, const std::string& order) {
    const Pkey own = generate(in, "X25519", nullptr),
               ours = generate(in, "X25519", "provider=warpseal");
    const std::string what = order + ": X25519";
    if (own == nullptr || ours == nullptr) return check(false, what + ": no key");
    check(name_of(EVP_PKEY_get0_provider(own.get())) == "default", what + ": key, no query");
    check(name_of(EVP_PKEY_get0_provider(ours.get())) == "warpseal", what + ": key of ours");
    const Bytes secret = agreed(in, own.get(), ours.get(), nullptr);
    check(!secret.empty(), what + ": no secret");
    for (const char* query : {"provider=default", "provider=warpseal", "?provider=warpseal"})
        check(agreed(in, ours.get(), own.get(), query) == secret, what + ": secret, " + query);
    for (EVP_PKEY* key : {own.get(), ours.get()}) check_files(in, key, what);
}

void check_keys(OSSL_LIB_CTX* in, const std::string& order) {
    check_agreement(in, order);
    for (const char* name : {"ML-KEM-512", "ML-KEM-768", "ML-KEM-1024"}) {
        const Pkey own = generate(in, name, nullptr),
                   ours = generate(in, name, "provider=warpseal");
        const std::string what = order + ": " + name;
        if (own == nullptr || ours == nullptr) return check(false, what + ": no key");
        check(name_of(EVP_PKEY_get0_provider(own.get())) == "default", what + ": key, no query");
        check(name_of(EVP_PKEY_get0_provider(ours.get())) == "warpseal", what + ": key of ours");
        for (EVP_PKEY* key : {own.get(), ours.get()})
            for (const char* there : {"provider=default", "provider=warpseal"})
                for (const char* back : {"provider=default", "provider=warpseal"})
                    check_round_trip(in, key, there, back, what + " " + there + " " + back);
        for (EVP_PKEY* key : {own.get(), ours.get()}) check_files(in, key, what);
    }
}

SslContext ssl_context(OSSL_LIB_CTX* in, const char* query, const char* group) {
    SslContext context(SSL_CTX_new_ex(in, query, TLS_method()));
    SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
    if (SSL_CTX_use_certificate_file(context.get(), certificate, SSL_FILETYPE_PEM) <= 0 ||
        SSL_CTX_use_PrivateKey_file(context.get(), key_file, SSL_FILETYPE_PEM) <= 0 ||
        SSL_CTX_set1_groups_list(context.get(), group) <= 0)
        return nullptr;
    return context;
}

// A handshake in memory. The client's key pair and the server's copy of its public half show who
// served each side.
void check_handshake(OSSL_LIB_CTX* in, const char* group, const char* client_query,
                     const char* server_query, const std::string& order) {
    const std::string what = order + ": TLS with " + group +
                             (client_query == nullptr ? ", own client" : ", our client") +
                             (server_query == nullptr ? ", own server" : ", our server");
    const SslContext ours = ssl_context(in, client_query, group),
                     theirs = ssl_context(in, server_query, group);
    if (ours == nullptr || theirs == nullptr) return check(false, what + ": no context");
    const Ssl client(SSL_new(ours.get())), server(SSL_new(theirs.get()));
    BIO *near = nullptr, *far = nullptr;
    BIO_new_bio_pair(&near, 1 << 16, &far, 1 << 16);
    SSL_set_bio(client.get(), near, near);
    SSL_set_bio(server.get(), far, far);
    SSL_set_connect_state(client.get());
    SSL_set_accept_state(server.get());
    std::string client_key = "none", server_key = "none";
    const auto keep = [](std::string& name, EVP_PKEY* key) {
        if (key != nullptr) name = name_of(EVP_PKEY_get0_provider(key));
        EVP_PKEY_free(key);
    };
    for (int turn = 0; turn < 10; ++turn) {
        SSL_do_handshake(turn % 2 == 0 ? client.get() : server.get());
        EVP_PKEY* key = nullptr;
        if (SSL_get_tmp_key(client.get(), &key) > 0) keep(client_key, key);
        key = nullptr;
        if (SSL_get_peer_tmp_key(server.get(), &key) > 0) keep(server_key, key);
    }
    char answer[5] = {};
    check(SSL_is_init_finished(client.get()) && SSL_is_init_finished(server.get()) &&
              SSL_write(client.get(), "ping", 4) == 4 && SSL_read(server.get(), answer, 4) == 4 &&
              std::strcmp(answer, "ping") == 0 && SSL_write(server.get(), "pong", 4) == 4 &&
              SSL_read(client.get(), answer, 4) == 4 && std::strcmp(answer, "pong") == 0,
          what + ": no handshake");
    check(client_key == (client_query == nullptr ? "default" : "warpseal"),
          what + ": the client's key is of " + client_key);
    check(server_key == (server_query == nullptr ? "default" : "warpseal"),
          what + ": the server's key is of " + server_key);
}

void check_tls(OSSL_LIB_CTX* in, const std::string& order) {
    constexpr const char* ours = "?provider=warpseal";
    for (const char* group : {"X25519", "X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024",
                              "MLKEM512", "MLKEM768", "MLKEM1024"})
        for (const char* client : {static_cast<const char*>(nullptr), ours})
            for (const char* server : {static_cast<const char*>(nullptr), ours})
                check_handshake(in, group, client, server, order);
}

void check_order(const std::string& order, std::initializer_list<const char*> providers) {
    const Library in = library(providers);
    check_fetches(in.get(), order, "default");
    check_keys(in.get(), order);
    check_tls(in.get(), order);
}

// Ours alone serves; it yields to a provider that is loaded after it was used.
void check_alone_then_default() {
    const Library in = library({"warpseal"});
    check_fetches(in.get(), "ours alone", "warpseal");
    for (const char* name : {"ML-KEM-768", "MLKEM1024", "ntru_hps4096821"}) {
        const Pkey key = generate(in.get(), name, nullptr);
        if (key == nullptr) return check(false, std::string("ours alone: no key of ") + name);
        check_round_trip(in.get(), key.get(), nullptr, nullptr, std::string("ours alone: ") + name);
    }
    check(OSSL_PROVIDER_load(in.get(), "default") != nullptr, "load default later");
    check_fetches(in.get(), "default later", "default");
    check_tls(in.get(), "default later");
}

// Threads whose first fetches meet.
void check_threads() {
    const Library in = library({"warpseal", "default"});
    std::vector<std::thread> threads;
    std::atomic<int> others = 0;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            for (const Operation operation : operations)
                others += fetch(in.get(), operation,
                                operation == Operation::agreement ? "X25519" : "ML-KEM-768",
                                nullptr) != "default";
        });
    for (std::thread& thread : threads) thread.join();
    check(others == 0, "threads: " + std::to_string(others) + " fetches got another provider's");
    check_fetches(in.get(), "after threads", "default");
}

// Operations of NTRU's keys have libcrypto query our provider alone.
void check_after_ntru() {
    const Library in = library({"warpseal", "default"});
    const Pkey key = generate(in.get(), "ntru_hps4096821", nullptr);
    if (key == nullptr) return check(false, "no key of NTRU");
    check_round_trip(in.get(), key.get(), nullptr, nullptr, "NTRU");
    check(through_file(in.get(), key.get(), nullptr) != nullptr, "NTRU: no key from a file");
    check_fetches(in.get(), "after NTRU", "default");
}

// A program that makes no library context of its own. libcrypto has null for it.
void check_default_context() {
    OSSL_PROVIDER_set_default_search_path(nullptr, folder);
    for (const char* provider : {"warpseal", "default"})
        check(OSSL_PROVIDER_load(nullptr, provider) != nullptr, std::string("load ") + provider);
    check_fetches(nullptr, "default context", "default");
    check_keys(nullptr, "default context");
    check_tls(nullptr, "default context");
}

// Default properties that exclude OpenSSL's ML-KEM, and a query that admits it again.
void check_default_properties() {
    for (const char* first : {"warpseal", "default"}) {
        const Library in = library({first, std::strcmp(first, "default") ? "default" : "warpseal"});
        check(EVP_set_default_properties(in.get(), "fips=yes") == 1, "set default properties");
        for (const Operation operation : operations)
            for (const char* name : {"ML-KEM-512", "MLKEM1024", "X25519"}) {
                // OpenSSL's KEM of the name X25519 is HPKE's, and ML-KEM has no agreement.
                const bool is_x25519 = name[0] == 'X';
                if (operation == (is_x25519 ? Operation::kem : Operation::agreement)) continue;
                const std::string of = std::string(first) + " first, fips=yes: operation " +
                                       std::to_string(int(operation)) + " of " + name;
                check(fetch(in.get(), operation, name, nullptr) != "warpseal", of);
                const std::string got = fetch(in.get(), operation, name, "-fips");
                check(got == "default", of + " with -fips: " + got);
            }
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 4) {
        std::fprintf(stderr, "usage: chosen FOLDER CERTIFICATE KEY\n");
        return 2;
    }
    folder = arguments[1], certificate = arguments[2], key_file = arguments[3];
    check_order("default first", {"default", "warpseal"});
    check_order("ours first", {"warpseal", "default"});
    check_alone_then_default();
    check_after_ntru();
    check_default_context();
    check_default_properties();
    for (int i = 0; i < 20; ++i) check_threads();
    std::printf("%s\n%d passed, %d failed\n", OpenSSL_version(OPENSSL_VERSION), passed, failed);
    return failed != 0;
}
