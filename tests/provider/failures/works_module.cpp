// Loading the module, what it says of itself, and its encoders and decoders.
#include <openssl/core_names.h>
#include <openssl/decoder.h>
#include <openssl/encoder.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <cstring>
#include <memory>

#include "loaded.h"
#include "provider_works.h"

namespace works {
namespace {

constexpr char our_own[] = "provider=warpseal";

struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
    void operator()(OSSL_ENCODER_CTX* context) const { OSSL_ENCODER_CTX_free(context); }
    void operator()(OSSL_DECODER_CTX* context) const { OSSL_DECODER_CTX_free(context); }
    void operator()(unsigned char* bytes) const { OPENSSL_free(bytes); }
};
template <class Type>
using Owned = std::unique_ptr<Type, Free>;

struct Encoded {
    Owned<unsigned char> bytes;
    size_t count = 0;
};

warpseal_status encode(EVP_PKEY* key, int selection, const char* type, const char* structure,
                       Encoded& out) {
    unsigned char* bytes = nullptr;
    const warpseal_status status = checked("encoder_encode", {}, [&] {
        const Owned<OSSL_ENCODER_CTX> encoder(
            OSSL_ENCODER_CTX_new_for_pkey(key, selection, type, structure, our_own));
        return status_of(encoder != nullptr &&
                         OSSL_ENCODER_to_data(encoder.get(), &bytes, &out.count) == 1);
    });
    out.bytes.reset(bytes);
    return status;
}

// Encodes the key, decodes the result and compares both.
warpseal_status encode_and_decode(const Loaded& loaded, EVP_PKEY* key, const char* group,
                                  int selection, const char* type, const char* structure) {
    Encoded encoded;
    const warpseal_status status = encode(key, selection, type, structure, encoded);
    if (status != WARPSEAL_OK) return status;
    EVP_PKEY* read = nullptr;
    const warpseal_status decoded = checked("decoder_decode", {}, [&] {
        const Owned<OSSL_DECODER_CTX> decoder(OSSL_DECODER_CTX_new_for_pkey(
            &read, type, structure, group, selection, loaded.library(), nullptr));
        const unsigned char* from = encoded.bytes.get();
        size_t left = encoded.count;
        return status_of(decoder != nullptr &&
                         OSSL_DECODER_from_data(decoder.get(), &from, &left) == 1);
    });
    const Owned<EVP_PKEY> freed(read);
    if (decoded == WARPSEAL_OK && EVP_PKEY_eq(read, key) != 1)
        complain("decoder_decode", "another key");
    return decoded;
}

// Nothing reads the text, so that two are compared: one refused request cannot change both.
warpseal_status print_twice(EVP_PKEY* key) {
    Encoded one, other;
    return Steps()
        .run([&] { return encode(key, EVP_PKEY_KEYPAIR, "TEXT", nullptr, one); })
        .run([&] { return encode(key, EVP_PKEY_KEYPAIR, "TEXT", nullptr, other); })
        .and_if_all_did([&] {
            if (one.count != other.count ||
                std::memcmp(one.bytes.get(), other.bytes.get(), one.count) != 0)
                complain("encoder_encode", "another text");
        });
}

warpseal_status encodings_of(const char* group) {
    const Loaded loaded;
    Owned<EVP_PKEY> key;
    return Steps({loaded.status})
        .then("keymgmt_gen",
              [&] {
                  const Owned<EVP_PKEY_CTX> maker(
                      EVP_PKEY_CTX_new_from_name(loaded.library(), group, our_own));
                  EVP_PKEY* made = nullptr;
                  const bool done = maker != nullptr && EVP_PKEY_keygen_init(maker.get()) == 1 &&
                                    EVP_PKEY_generate(maker.get(), &made) == 1;
                  key.reset(made);
                  return status_of(done);
              })
        .run([&] {
            return encode_and_decode(loaded, key.get(), group, EVP_PKEY_PUBLIC_KEY, "DER",
                                     "SubjectPublicKeyInfo");
        })
        .run([&] {
            return encode_and_decode(loaded, key.get(), group, EVP_PKEY_KEYPAIR, "PEM",
                                     "PrivateKeyInfo");
        })
        .run([&] { return print_twice(key.get()); });
}

}  // namespace

Loaded::Loaded() : library_(OSSL_LIB_CTX_new()) {
    if (library_ == nullptr ||
        OSSL_PROVIDER_set_default_search_path(library_, WARPSEAL_MODULES) != 1 ||
        (default_ = OSSL_PROVIDER_load(library_, "default")) == nullptr)
        complain("libcrypto", "has no context, though none of its requests is refused");
    status = checked("provider_init", {}, [&] {
        return status_of(provider_ = OSSL_PROVIDER_load(library_, "warpseal"));
    });
}

Loaded::~Loaded() {
    called("provider_teardown", [&] {
        OSSL_PROVIDER_unload(provider_);
        OSSL_PROVIDER_unload(default_);
        OSSL_LIB_CTX_free(library_);
    });
    // The error stack, which a run without failures does not have.
    OPENSSL_thread_stop();
}

warpseal_status module() {
    const Loaded loaded;
    char metrics[4096];
    char* name = nullptr;
    OSSL_PARAM params[] = {OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_NAME, &name, 0),
                           OSSL_PARAM_utf8_string("warpseal-metrics", metrics, sizeof metrics),
                           OSSL_PARAM_END};
    size_t groups = 0;
    return Steps({loaded.status})
        .then("provider_get_params",
              [&] { return status_of(OSSL_PROVIDER_get_params(loaded.provider(), params)); })
        .then("provider_get_capabilities",
              [&] {
                  return status_of(OSSL_PROVIDER_get_capabilities(
                      loaded.provider(), "TLS-GROUP",
                      [](const OSSL_PARAM*, void* count) {
                          ++*static_cast<size_t*>(count);
                          return 1;
                      },
                      &groups));
              })
        .and_if_all_did([&] {
            if (groups < 3) complain("provider_get_capabilities", "groups are missing");
            if (std::strstr(metrics, "warpseal_") == nullptr)
                complain("provider_get_params", "there are no metrics");
        });
}

warpseal_status encodings() { return encodings_of(ntru_group); }
warpseal_status encodings_hybrid() { return encodings_of(hybrid_group); }

}  // namespace works
