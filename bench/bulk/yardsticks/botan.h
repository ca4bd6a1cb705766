// Functions of Botan's C interface that the measurements call, as in botan/ffi.h of 2.8 and later.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/bulk/yardsticks/shared_library.h"

namespace warpseal::bench {

struct Botan {
    using Handle = void*;  // of a block cipher, a cipher mode or a MAC

    // Flags of cipher_init and cipher_update.
    static constexpr uint32_t encrypts = 0, decrypts = 1, final_update = 1;

    uint32_t (*version_major)() = nullptr;
    uint32_t (*version_minor)() = nullptr;
    uint32_t (*version_patch)() = nullptr;
    // All others return 0, or a negative number on failure.
    int (*block_cipher_init)(Handle* handle, const char* name) = nullptr;
    int (*block_cipher_destroy)(Handle handle) = nullptr;
    int (*block_cipher_get_keyspec)(Handle handle, size_t* least, size_t* most,
                                    size_t* step) = nullptr;
    int (*block_cipher_set_key)(Handle handle, const uint8_t* key, size_t bytes) = nullptr;
    int (*block_cipher_encrypt_blocks)(Handle handle, const uint8_t* in, uint8_t* out,
                                       size_t blocks) = nullptr;
    int (*block_cipher_decrypt_blocks)(Handle handle, const uint8_t* in, uint8_t* out,
                                       size_t blocks) = nullptr;
    int (*cipher_init)(Handle* handle, const char* name, uint32_t flags) = nullptr;
    int (*cipher_destroy)(Handle handle) = nullptr;
    int (*cipher_set_key)(Handle handle, const uint8_t* key, size_t bytes) = nullptr;
    int (*cipher_start)(Handle handle, const uint8_t* nonce, size_t bytes) = nullptr;
    int (*cipher_update)(Handle handle, uint32_t flags, uint8_t* out, size_t out_bytes,
                         size_t* written, const uint8_t* in, size_t in_bytes,
                         size_t* consumed) = nullptr;
    int (*mac_init)(Handle* handle, const char* name, uint32_t flags) = nullptr;
    int (*mac_destroy)(Handle handle) = nullptr;
    int (*mac_set_key)(Handle handle, const uint8_t* key, size_t bytes) = nullptr;
    int (*mac_update)(Handle handle, const uint8_t* in, size_t bytes) = nullptr;
    int (*mac_final)(Handle handle, uint8_t* tag) = nullptr;

    // Throws Failure if `library` lacks a function.
    explicit Botan(const SharedLibrary& library);
};

}  // namespace warpseal::bench
