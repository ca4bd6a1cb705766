// libcrypto as an oracle for the ciphers that it has, fast enough for long messages.
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "reference/cipher.h"

namespace oracle {

using reference::Text;

struct Freed {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
    void operator()(EVP_CIPHER* cipher) const { EVP_CIPHER_free(cipher); }
};

inline void must(int ok) {
    if (ok <= 0) throw std::runtime_error("libcrypto refused");
}

inline bool has(const std::string& name) {
    const std::unique_ptr<EVP_CIPHER, Freed> cipher(
        EVP_CIPHER_fetch(nullptr, name.c_str(), nullptr));
    return cipher != nullptr;
}

// name: "aes-256-ctr". Encrypts or decrypts `in` to as many bytes, without padding; with a tag for
// GCM when encrypting.
inline Text run(const std::string& name, bool encrypt, const Text& key, const Text& iv,
                const Text& aad, const Text& in, Text* tag) {
    const std::unique_ptr<EVP_CIPHER, Freed> cipher(
        EVP_CIPHER_fetch(nullptr, name.c_str(), nullptr));
    const std::unique_ptr<EVP_CIPHER_CTX, Freed> context(EVP_CIPHER_CTX_new());
    must(EVP_CipherInit_ex2(context.get(), cipher.get(), nullptr, nullptr, encrypt ? 1 : 0,
                            nullptr));
    must(EVP_CIPHER_CTX_set_padding(context.get(), 0));
    if (tag != nullptr)
        must(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_IVLEN,
                                 static_cast<int>(iv.size()), nullptr));
    must(EVP_CipherInit_ex2(context.get(), nullptr, key.data(), iv.empty() ? nullptr : iv.data(),
                            encrypt ? 1 : 0, nullptr));
    int got = 0;
    if (!aad.empty())
        must(EVP_CipherUpdate(context.get(), nullptr, &got, aad.data(),
                              static_cast<int>(aad.size())));
    Text out(in.size() + 16);
    must(EVP_CipherUpdate(context.get(), out.data(), &got, in.data(), static_cast<int>(in.size())));
    out.resize(in.size());
    if (tag != nullptr && encrypt) {
        uint8_t rest[16];
        must(EVP_CipherFinal_ex(context.get(), rest, &got));
        tag->resize(16);
        must(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, 16, tag->data()));
    }
    return out;
}

}  // namespace oracle
