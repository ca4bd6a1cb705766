// The forms in which keys are written, and a key in one of them.
#pragma once

#include <openssl/encoder.h>
#include <openssl/evp.h>

#include <vector>

namespace tests {

struct Format {
    const char *type, *structure;
    int selection;
};
inline constexpr Format formats[] = {{"DER", "SubjectPublicKeyInfo", EVP_PKEY_PUBLIC_KEY},
                                     {"PEM", "SubjectPublicKeyInfo", EVP_PKEY_PUBLIC_KEY},
                                     {"DER", "PrivateKeyInfo", EVP_PKEY_KEYPAIR},
                                     {"PEM", "PrivateKeyInfo", EVP_PKEY_KEYPAIR}};

// Returns an empty text if the key cannot be written.
inline std::vector<unsigned char> encoded(EVP_PKEY* key, const Format& format) {
    OSSL_ENCODER_CTX* const context = OSSL_ENCODER_CTX_new_for_pkey(
        key, format.selection, format.type, format.structure, nullptr);
    unsigned char* text = nullptr;
    size_t bytes = 0;
    const bool done = context != nullptr && OSSL_ENCODER_to_data(context, &text, &bytes) == 1;
    OSSL_ENCODER_CTX_free(context);
    std::vector<unsigned char> out;
    if (done) out.assign(text, text + bytes);
    OPENSSL_free(text);
    return out;
}

}  // namespace tests
