// The provider through libcrypto while memory, pages, threads and random bytes are refused: each
// call of EVP succeeds or fails, and the next one works.
#include <gtest/gtest.h>
#include <openssl/decoder.h>
#include <openssl/encoder.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/provider.h>

#include <cstdio>
#include <cstring>
#include <map>

#include "failures/handles.h"
#include "failures/runner.h"

namespace {

using works::checked;
using works::complain;
using works::Output;
using works::Steps;

constexpr const char* ours = "provider=warpseal";
constexpr int text_bytes = 1 << 19;  // enough for several threads
uint8_t text[text_bytes], out[text_bytes + 64], tag[16];
const uint8_t key_bytes[64] = {1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1, 4, 4, 4, 4},
              iv[16] = {5, 5};

// Library context of a work; of the parent in works that do not load the provider.
OSSL_LIB_CTX* library = nullptr;

warpseal_status of(bool succeeded) {
    ERR_clear_error();
    if (!succeeded) OPENSSL_thread_stop();  // frees the error queue, which keeps its texts
    return succeeded ? WARPSEAL_OK : WARPSEAL_OUT_OF_MEMORY;
}

struct Providers {
    OSSL_LIB_CTX* context = nullptr;
    OSSL_PROVIDER *ours = nullptr, *default_ = nullptr;

    warpseal_status load() {
        return Steps()
            .then("OSSL_LIB_CTX_new",
                  [&] {
                      context = OSSL_LIB_CTX_new();
                      return of(context != nullptr && OSSL_PROVIDER_set_default_search_path(
                                                          context, WARPSEAL_MODULES) == 1);
                  })
            .then("OSSL_PROVIDER_load",
                  [&] {
                      ours = OSSL_PROVIDER_load(context, "warpseal");
                      return of(ours != nullptr);
                  })
            .then("OSSL_PROVIDER_load default", [&] {
                default_ = OSSL_PROVIDER_load(context, "default");
                return of(default_ != nullptr);
            });
    }
    void unload() const {
        works::called("OSSL_PROVIDER_unload", [&] {
            if (default_ != nullptr) OSSL_PROVIDER_unload(default_);
            if (ours != nullptr) OSSL_PROVIDER_unload(ours);
            OSSL_LIB_CTX_free(context);
        });
        ERR_clear_error();
    }
};

warpseal_status load() {
    Providers providers;
    const warpseal_status status = providers.load();
    providers.unload();
    return status;
}

struct Cipher {
    const char* name;
    bool authenticated;
    int bytes;
};

// Encrypts the text and decrypts it in place.
warpseal_status round_trip(const Cipher& cipher) {
    EVP_CIPHER* fetched = nullptr;
    EVP_CIPHER_CTX* context = nullptr;
    int written = 0;
    const auto init = [&](int encrypt) {
        return of(EVP_CipherInit_ex2(context, fetched, key_bytes, iv, encrypt, nullptr) == 1 &&
                  (encrypt != 0 || !cipher.authenticated ||
                   EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, tag) == 1) &&
                  (cipher.authenticated || EVP_CIPHER_CTX_set_padding(context, 0) == 1));
    };
    const auto update = [&](const uint8_t* in) {
        return of(EVP_CipherUpdate(context, out, &written, in, cipher.bytes) == 1 &&
                  written == cipher.bytes);
    };
    const auto finish = [&](bool encrypt) {
        return of(EVP_CipherFinal_ex(context, out + cipher.bytes, &written) == 1 &&
                  (!encrypt || !cipher.authenticated ||
                   EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag) == 1));
    };
    const warpseal_status status =
        Steps()
            .then("EVP_CIPHER_fetch",
                  [&] {
                      fetched = EVP_CIPHER_fetch(library, cipher.name, ours);
                      return of(fetched != nullptr);
                  })
            .then("EVP_CIPHER_CTX_new",
                  [&] {
                      context = EVP_CIPHER_CTX_new();
                      return of(context != nullptr);
                  })
            .then("EVP_CipherInit_ex2", [&] { return init(1); })
            .then("EVP_CipherUpdate", {{out, static_cast<size_t>(cipher.bytes)}},
                  [&] { return update(text); })
            .then("EVP_CipherFinal_ex", [&] { return finish(true); })
            .then("EVP_CipherInit_ex2", [&] { return init(0); })
            .then("EVP_CipherUpdate", [&] { return update(out); })
            .then("EVP_CipherFinal_ex", [&] { return finish(false); })
            .and_if_all_did([&] {
                if (std::memcmp(out, text, static_cast<size_t>(cipher.bytes)) != 0)
                    complain(cipher.name, "a wrong text");
            });
    works::called("EVP_CIPHER_CTX_free", [&] { EVP_CIPHER_CTX_free(context); });
    works::called("EVP_CIPHER_free", [&] { EVP_CIPHER_free(fetched); });
    return status;
}

warpseal_status ciphers() {
    constexpr Cipher all[] = {{"AES-128-GCM", true, text_bytes}, {"AES-256-CTR", false, text_bytes},
                              {"ARIA-256-CBC", false, 4096},     {"AES-128-XTS", false, 4096},
                              {"CAMELLIA-128-OFB", false, 4096}, {"DES-EDE3-CBC", false, 4096}};
    Steps steps;
    for (const Cipher& cipher : all) steps.run([&] { return round_trip(cipher); });
    return steps;
}

warpseal_status generate(const char* group, EVP_PKEY** key) {
    EVP_PKEY_CTX* context = nullptr;
    const warpseal_status status =
        Steps()
            .then("EVP_PKEY_CTX_new_from_name",
                  [&] {
                      context = EVP_PKEY_CTX_new_from_name(library, group, ours);
                      return of(context != nullptr);
                  })
            .then("EVP_PKEY_keygen_init", [&] { return of(EVP_PKEY_keygen_init(context) == 1); })
            .then("EVP_PKEY_generate", [&] { return of(EVP_PKEY_generate(context, key) == 1); });
    works::called("EVP_PKEY_CTX_free", [&] { EVP_PKEY_CTX_free(context); });
    if (status != WARPSEAL_OK && *key != nullptr) complain("EVP_PKEY_generate", "a key");
    return status;
}

uint8_t ciphertext[4096], sent[64], received[64];

warpseal_status exchange(EVP_PKEY* key) {
    EVP_PKEY_CTX* context = nullptr;
    size_t bytes = sizeof ciphertext, sent_bytes = sizeof sent, received_bytes = sizeof received;
    const warpseal_status status =
        Steps()
            .then("EVP_PKEY_CTX_new_from_pkey",
                  [&] {
                      context = EVP_PKEY_CTX_new_from_pkey(library, key, ours);
                      return of(context != nullptr);
                  })
            .then("EVP_PKEY_encapsulate_init",
                  [&] { return of(EVP_PKEY_encapsulate_init(context, nullptr) == 1); })
            .then("EVP_PKEY_encapsulate", {{ciphertext, sizeof ciphertext}, {sent, sizeof sent}},
                  [&] {
                      return of(EVP_PKEY_encapsulate(context, ciphertext, &bytes, sent,
                                                     &sent_bytes) == 1);
                  })
            .then("EVP_PKEY_decapsulate_init",
                  [&] { return of(EVP_PKEY_decapsulate_init(context, nullptr) == 1); })
            .then("EVP_PKEY_decapsulate", {{received, sizeof received}},
                  [&] {
                      return of(EVP_PKEY_decapsulate(context, received, &received_bytes, ciphertext,
                                                     bytes) == 1);
                  })
            .and_if_all_did([&] {
                if (sent_bytes != received_bytes || std::memcmp(sent, received, sent_bytes) != 0)
                    complain("EVP_PKEY_decapsulate", "a wrong secret");
            });
    works::called("EVP_PKEY_CTX_free", [&] { EVP_PKEY_CTX_free(context); });
    return status;
}

warpseal_status encode_and_decode(const EVP_PKEY* key) {
    OSSL_ENCODER_CTX* encoder = nullptr;
    OSSL_DECODER_CTX* decoder = nullptr;
    EVP_PKEY* decoded = nullptr;
    unsigned char* encoded = nullptr;
    size_t bytes = 0;
    const warpseal_status status =
        Steps()
            .then("OSSL_ENCODER_CTX_new_for_pkey",
                  [&] {
                      encoder = OSSL_ENCODER_CTX_new_for_pkey(key, EVP_PKEY_KEYPAIR, "PEM",
                                                              "PrivateKeyInfo", ours);
                      return of(encoder != nullptr &&
                                OSSL_ENCODER_CTX_get_num_encoders(encoder) != 0);
                  })
            .then("OSSL_ENCODER_to_data",
                  [&] { return of(OSSL_ENCODER_to_data(encoder, &encoded, &bytes) == 1); })
            .then("OSSL_DECODER_CTX_new_for_pkey",
                  [&] {
                      decoder = OSSL_DECODER_CTX_new_for_pkey(&decoded, "PEM", nullptr, nullptr,
                                                              EVP_PKEY_KEYPAIR, library, nullptr);
                      return of(decoder != nullptr);
                  })
            .then("OSSL_DECODER_from_data",
                  [&] {
                      const unsigned char* from = encoded;
                      size_t left = bytes;
                      return of(OSSL_DECODER_from_data(decoder, &from, &left) == 1);
                  })
            .then("EVP_PKEY_eq", [&] { return of(EVP_PKEY_eq(key, decoded) == 1); });
    works::called("OSSL_DECODER_CTX_free", [&] {
        OSSL_ENCODER_CTX_free(encoder);
        OSSL_DECODER_CTX_free(decoder);
        EVP_PKEY_free(decoded);
        OPENSSL_clear_free(encoded, bytes);
    });
    return status;
}

warpseal_status kem(const char* group) {
    EVP_PKEY* key = nullptr;
    const warpseal_status status = Steps()
                                       .run([&] { return generate(group, &key); })
                                       .run([&] { return exchange(key); })
                                       .run([&] { return encode_and_decode(key); });
    works::called("EVP_PKEY_free", [&] { EVP_PKEY_free(key); });
    return status;
}

warpseal_status ntru() { return kem("ntru_hps2048509"); }
warpseal_status hybrid() { return kem("x25519_ntru_hps2048509"); }

class ProviderFailures : public testing::TestWithParam<runner::Named> {};

TEST_P(ProviderFailures, EveryOneEndsInAnError) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "NOT RUN: a sanitizer has an allocator of its own";
#endif
    for (size_t i = 0; i < sizeof text; ++i) text[i] = static_cast<uint8_t>(i * 7 + i / 251);
    Providers providers;
    ASSERT_EQ(providers.load(), WARPSEAL_OK);
    library = providers.context;
    ASSERT_EQ(GetParam().work(), WARPSEAL_OK);
    const runner::Outcome outcome = runner::run(GetParam());
    for (const std::string& complaint : outcome.complaints) ADD_FAILURE() << complaint;
    long points = 0;
    std::printf("%-30s %8s %8s\n", "function", "faults", "errors");
    for (const auto& [name, counts] : outcome.functions) {
        points += counts.points;
        std::printf("%-30s %8ld %8ld\n", name.c_str(), counts.points, counts.statuses);
    }
    EXPECT_GT(points, 20);
    std::printf("%-30s %8ld\n", "sum", points);
    providers.unload();
}

const std::vector<injection::Fault> requests = {injection::Fault::request,
                                                injection::Fault::requests};
INSTANTIATE_TEST_SUITE_P(Works, ProviderFailures,
                         testing::Values(runner::Named{"load", load, requests},
                                         runner::Named{"ciphers", ciphers, requests},
                                         runner::Named{"ntru", ntru, requests},
                                         runner::Named{"hybrid", hybrid, requests}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
