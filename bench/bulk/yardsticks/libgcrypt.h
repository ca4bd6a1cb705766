// Functions of libgcrypt that the measurements call, as in gcrypt.h of 1.8 and later.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/bulk/yardsticks/shared_library.h"

namespace warpseal::bench {

struct Libgcrypt {
    using Error = unsigned;  // 0: success
    using Handle = void*;    // of a cipher or a MAC

    static constexpr int disable_secure_memory = 37, initialization_finished = 38;
    static constexpr int set_ccm_lengths = 69;

    const char* (*check_version)(const char* wanted) = nullptr;
    Error (*control)(int command, ...) = nullptr;
    int (*cipher_map_name)(const char* name) = nullptr;
    size_t (*cipher_get_algo_keylen)(int algorithm) = nullptr;
    Error (*cipher_open)(Handle* handle, int algorithm, int mode, unsigned flags) = nullptr;
    void (*cipher_close)(Handle handle) = nullptr;
    Error (*cipher_setkey)(Handle handle, const void* key, size_t bytes) = nullptr;
    Error (*cipher_setiv)(Handle handle, const void* iv, size_t bytes) = nullptr;
    Error (*cipher_setctr)(Handle handle, const void* counter, size_t bytes) = nullptr;
    Error (*cipher_ctl)(Handle handle, int command, void* buffer, size_t bytes) = nullptr;
    Error (*cipher_encrypt)(Handle handle, void* out, size_t out_bytes, const void* in,
                            size_t in_bytes) = nullptr;
    Error (*cipher_decrypt)(Handle handle, void* out, size_t out_bytes, const void* in,
                            size_t in_bytes) = nullptr;
    Error (*cipher_gettag)(Handle handle, void* tag, size_t bytes) = nullptr;
    Error (*cipher_checktag)(Handle handle, const void* tag, size_t bytes) = nullptr;
    int (*mac_map_name)(const char* name) = nullptr;
    Error (*mac_open)(Handle* handle, int algorithm, unsigned flags, void* context) = nullptr;
    void (*mac_close)(Handle handle) = nullptr;
    Error (*mac_setkey)(Handle handle, const void* key, size_t bytes) = nullptr;
    Error (*mac_ctl)(Handle handle, int command, void* buffer, size_t bytes) = nullptr;
    Error (*mac_write)(Handle handle, const void* in, size_t bytes) = nullptr;
    Error (*mac_read)(Handle handle, void* tag, size_t* bytes) = nullptr;
    static constexpr int reset = 4;  // command of mac_ctl

    // Throws Failure if `library` lacks a function.
    explicit Libgcrypt(const SharedLibrary& library);
};

}  // namespace warpseal::bench
