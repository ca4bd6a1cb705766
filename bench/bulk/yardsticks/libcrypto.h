// Functions of OpenSSL's libcrypto that the measurements call: of the one that the program is
// linked with, or of another that is loaded beside it.
#pragma once

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/provider.h>

#include "bench/bulk/yardsticks/shared_library.h"

namespace warpseal::bench {

#define WARPSEAL_LIBCRYPTO_FUNCTIONS(each)                                                     \
    each(OPENSSL_init_crypto) each(OpenSSL_version) each(OSSL_PROVIDER_load)                   \
        each(OSSL_PROVIDER_try_load) each(EVP_CIPHER_fetch) each(EVP_CIPHER_free)              \
            each(EVP_CIPHER_get_key_length) each(EVP_CIPHER_CTX_new) each(EVP_CIPHER_CTX_free) \
                each(EVP_CIPHER_CTX_ctrl) each(EVP_CIPHER_CTX_set_padding)                     \
                    each(EVP_CipherInit_ex2) each(EVP_CipherUpdate) each(EVP_CipherFinal_ex)   \
                        each(EVP_MAC_fetch) each(EVP_MAC_free) each(EVP_MAC_CTX_new)           \
                            each(EVP_MAC_CTX_free) each(EVP_MAC_init) each(EVP_MAC_update)     \
                                each(EVP_MAC_final)

// Pointers to those functions, which are named like them. A new one has the linked functions.
struct LibCrypto {
#define WARPSEAL_LINKED(function) decltype(&::function) function = &::function;
    WARPSEAL_LIBCRYPTO_FUNCTIONS(WARPSEAL_LINKED)
#undef WARPSEAL_LINKED

    // Replaces all functions by those of `library`. Throws Failure if it lacks one.
    void load(const SharedLibrary& library) {
#define WARPSEAL_LOADED(function) library.load(#function, function);
        WARPSEAL_LIBCRYPTO_FUNCTIONS(WARPSEAL_LOADED)
#undef WARPSEAL_LOADED
    }
};

}  // namespace warpseal::bench
