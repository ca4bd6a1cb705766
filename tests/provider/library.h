// A library context of libcrypto with the built module, and self-freeing EVP handles.
#pragma once

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace tests {

using Bytes = std::vector<uint8_t>;

struct Free {
    void operator()(OSSL_PROVIDER* provider) const { OSSL_PROVIDER_unload(provider); }
    void operator()(OSSL_LIB_CTX* context) const { OSSL_LIB_CTX_free(context); }
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
};
using Key = std::unique_ptr<EVP_PKEY, Free>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Free>;

inline constexpr char our_own[] = "provider=warpseal";

// The folder of the module: that of the build or, for programs on another machine, the one that
// the environment names.
inline const char* modules() {
    const char* const given = std::getenv("WARPSEAL_MODULES");
    return given != nullptr ? given : WARPSEAL_MODULES;
}

class Library {
public:
    Library() : context_(OSSL_LIB_CTX_new()) {
        if (!context_ || OSSL_PROVIDER_set_default_search_path(context_.get(), modules()) != 1)
            throw std::runtime_error("no context");
        provider_.reset(OSSL_PROVIDER_load(context_.get(), "warpseal"));
        default_.reset(OSSL_PROVIDER_load(context_.get(), "default"));
        if (!provider_ || !default_)
            throw std::runtime_error(std::string("the module ") + modules() +
                                     "/warpseal.so cannot be loaded");
    }

    OSSL_LIB_CTX* context() const { return context_.get(); }
    OSSL_PROVIDER* provider() const { return provider_.get(); }

    // Objects fetched from it keep it loaded until they are freed.
    void unload() { provider_.reset(); }

    // Returns the algorithms of the provider's TLS groups that are KEMs.
    std::vector<std::string> groups() const {
        std::vector<std::string> names;
        OSSL_PROVIDER_get_capabilities(
            provider(), "TLS-GROUP",
            [](const OSSL_PARAM* params, void* out) {
                const OSSL_PARAM *name =
                                     OSSL_PARAM_locate_const(params, OSSL_CAPABILITY_TLS_GROUP_ALG),
                                 *kem = OSSL_PARAM_locate_const(params,
                                                                OSSL_CAPABILITY_TLS_GROUP_IS_KEM);
                unsigned is_kem = 0;
                if (name != nullptr && kem != nullptr && OSSL_PARAM_get_uint(kem, &is_kem) == 1 &&
                    is_kem == 1)
                    static_cast<std::vector<std::string>*>(out)->emplace_back(
                        static_cast<const char*>(name->data));
                return 1;
            },
            &names);
        return names;
    }

    Key generate(const std::string& group) const {
        const KeyContext made(EVP_PKEY_CTX_new_from_name(context(), group.c_str(), our_own));
        EVP_PKEY* key = nullptr;
        if (!made || EVP_PKEY_keygen_init(made.get()) != 1 ||
            EVP_PKEY_generate(made.get(), &key) != 1)
            return nullptr;
        return Key(key);
    }

    KeyContext on(EVP_PKEY* key) const {
        return KeyContext(EVP_PKEY_CTX_new_from_pkey(context(), key, our_own));
    }

private:
    std::unique_ptr<OSSL_LIB_CTX, Free> context_;
    std::unique_ptr<OSSL_PROVIDER, Free> provider_, default_;
};

struct Encapsulated {
    Bytes ciphertext, secret;
};

// Returns an empty result on failure.
inline Encapsulated encapsulate(const Library& library, EVP_PKEY* key) {
    const KeyContext context = library.on(key);
    size_t ciphertext_bytes = 0, secret_bytes = 0;
    if (!context || EVP_PKEY_encapsulate_init(context.get(), nullptr) != 1 ||
        EVP_PKEY_encapsulate(context.get(), nullptr, &ciphertext_bytes, nullptr, &secret_bytes) !=
            1)
        return {};
    Encapsulated out{Bytes(ciphertext_bytes), Bytes(secret_bytes)};
    if (EVP_PKEY_encapsulate(context.get(), out.ciphertext.data(), &ciphertext_bytes,
                             out.secret.data(), &secret_bytes) != 1)
        return {};
    return out;
}

inline Bytes decapsulate(const Library& library, EVP_PKEY* key, const Bytes& ciphertext) {
    const KeyContext context = library.on(key);
    size_t bytes = 0;
    if (!context || EVP_PKEY_decapsulate_init(context.get(), nullptr) != 1 ||
        EVP_PKEY_decapsulate(context.get(), nullptr, &bytes, ciphertext.data(),
                             ciphertext.size()) != 1)
        return {};
    Bytes secret(bytes);
    if (EVP_PKEY_decapsulate(context.get(), secret.data(), &bytes, ciphertext.data(),
                             ciphertext.size()) != 1)
        return {};
    return secret;
}

// Returns true if encapsulation and decapsulation give one secret.
inline bool works(const Library& library, EVP_PKEY* key) {
    const Encapsulated made = encapsulate(library, key);
    return !made.secret.empty() && decapsulate(library, key, made.ciphertext) == made.secret;
}

// Returns the secret that a key agrees with a peer, by the provider that the query selects; nothing
// if that is refused.
inline Bytes agreed(const Library& library, EVP_PKEY* own, EVP_PKEY* peer,
                    const char* query = our_own) {
    const KeyContext context(EVP_PKEY_CTX_new_from_pkey(library.context(), own, query));
    size_t bytes = 0;
    if (!context || EVP_PKEY_derive_init(context.get()) != 1 ||
        EVP_PKEY_derive_set_peer(context.get(), peer) != 1 ||
        EVP_PKEY_derive(context.get(), nullptr, &bytes) != 1)
        return {};
    Bytes secret(bytes);
    if (EVP_PKEY_derive(context.get(), secret.data(), &bytes) != 1) return {};
    secret.resize(bytes);
    return secret;
}

inline Bytes encoded_public_key(EVP_PKEY* key) {
    unsigned char* text = nullptr;
    const size_t bytes = EVP_PKEY_get1_encoded_public_key(key, &text);
    const Bytes out(text, text + bytes);
    OPENSSL_free(text);
    return out;
}

}  // namespace tests
