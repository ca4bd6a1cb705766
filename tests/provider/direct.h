// A cipher's functions as libcrypto calls them, bypassing EVP, which never passes a buffer smaller
// than a call may need.
#pragma once

#include <openssl/core_dispatch.h>

#include <cstring>
#include <string_view>

#include "cipher.h"

namespace tests {

class Direct {
public:
    explicit Direct(const Cipher& cipher) {
        const OSSL_PROVIDER* const provider = EVP_CIPHER_get0_provider(cipher.get());
        for (const OSSL_DISPATCH* one = functions(provider, EVP_CIPHER_get0_name(cipher.get()));
             one->function_id != 0; ++one)
            take(*one);
        context_ = create_(OSSL_PROVIDER_get0_provider_ctx(provider));
        if (context_ == nullptr) throw std::runtime_error("no context");
    }
    Direct(const Direct&) = delete;
    Direct& operator=(const Direct&) = delete;
    ~Direct() { free_(context_); }

    bool init(bool encrypts, const Bytes& key, const Bytes& iv,
              const OSSL_PARAM params[] = nullptr) {
        const auto start = encrypts ? encrypt_ : decrypt_;
        return start(context_, key.data(), key.size(), iv.empty() ? nullptr : iv.data(), iv.size(),
                     params) == 1;
    }
    // Writes to `out`, which is declared to have `room` bytes.
    bool update(const Bytes& in, uint8_t* out, size_t capacity, size_t* made) {
        *made = 0;
        return update_(context_, out, made, capacity, in.data(), in.size()) == 1;
    }
    bool final(uint8_t* out, size_t capacity, size_t* made) {
        *made = 0;
        return final_(context_, out, made, capacity) == 1;
    }
    bool set(const OSSL_PARAM params[]) { return set_(context_, params) == 1; }

private:
    static const OSSL_DISPATCH* functions(const OSSL_PROVIDER* provider, std::string_view name) {
        int no_cache = 0;
        const OSSL_ALGORITHM* one =
            OSSL_PROVIDER_query_operation(provider, OSSL_OP_CIPHER, &no_cache);
        for (; one != nullptr && one->algorithm_names != nullptr; ++one)
            if (std::string_view(one->algorithm_names)
                    .substr(0, std::strcspn(one->algorithm_names, ":")) == name)
                return one->implementation;
        throw std::runtime_error("no algorithm of that name");
    }
    void take(const OSSL_DISPATCH& one) {
        switch (one.function_id) {
            case OSSL_FUNC_CIPHER_NEWCTX: create_ = OSSL_FUNC_cipher_newctx(&one); break;
            case OSSL_FUNC_CIPHER_FREECTX: free_ = OSSL_FUNC_cipher_freectx(&one); break;
            case OSSL_FUNC_CIPHER_ENCRYPT_INIT:
                encrypt_ = OSSL_FUNC_cipher_encrypt_init(&one);
                break;
            case OSSL_FUNC_CIPHER_DECRYPT_INIT:
                decrypt_ = OSSL_FUNC_cipher_decrypt_init(&one);
                break;
            case OSSL_FUNC_CIPHER_UPDATE: update_ = OSSL_FUNC_cipher_update(&one); break;
            case OSSL_FUNC_CIPHER_FINAL: final_ = OSSL_FUNC_cipher_final(&one); break;
            case OSSL_FUNC_CIPHER_SET_CTX_PARAMS:
                set_ = OSSL_FUNC_cipher_set_ctx_params(&one);
                break;
            default: break;
        }
    }

    void* context_ = nullptr;
    OSSL_FUNC_cipher_newctx_fn* create_ = nullptr;
    OSSL_FUNC_cipher_freectx_fn* free_ = nullptr;
    OSSL_FUNC_cipher_encrypt_init_fn* encrypt_ = nullptr;
    OSSL_FUNC_cipher_decrypt_init_fn* decrypt_ = nullptr;
    OSSL_FUNC_cipher_update_fn* update_ = nullptr;
    OSSL_FUNC_cipher_final_fn* final_ = nullptr;
    OSSL_FUNC_cipher_set_ctx_params_fn* set_ = nullptr;
};

}  // namespace tests
