// With WARPSEAL_TEST_PRETEND_GPU set, two GPUs made of host memory and the cores, to test the
// program's GPU paths on machines without one.
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "c_api/internal.h"
#include "warpseal/kem.h"

namespace {

constexpr size_t gpus = 2;

bool pretends() { return std::getenv("WARPSEAL_TEST_PRETEND_GPU") != nullptr; }

bool is_broken(const char* call) {
    const char* wanted = std::getenv("WARPSEAL_TEST_FAULT");
    return wanted && std::strcmp(wanted, call) == 0;
}

size_t working_gpu = 0;  // for a job on all GPUs

// On a GPU the call ends before the tags are checked: the statuses report the result.
warpseal_status queued(warpseal_status status) {
    return status == WARPSEAL_NOT_AUTHENTIC ? WARPSEAL_OK : status;
}

}  // namespace

extern "C" {

// defined in faulty_calls.cpp
void note_auto_engine(const warpseal_engine*);
void note_notice(void (*)(void*, const char*), void*);

warpseal_status __real_warpseal_engine_create(const warpseal_engine_options*, warpseal_engine**);
warpseal_status __wrap_warpseal_engine_create(const warpseal_engine_options* options,
                                              warpseal_engine** engine) {
    if (options) note_notice(options->notice, options->notice_user);
    if (!pretends() || !options || std::strncmp(options->device, "cuda", 4) != 0) {
        const warpseal_status status = __real_warpseal_engine_create(options, engine);
        if (status == WARPSEAL_OK && options && std::strcmp(options->device, "auto") == 0)
            note_auto_engine(*engine);
        return status;
    }
    warpseal_engine_options on_cores = *options;
    on_cores.device = "cpu";
    return __real_warpseal_engine_create(&on_cores, engine);
}

warpseal_status __real_warpseal_device_at(size_t, warpseal_device_info*);
warpseal_status __wrap_warpseal_device_at(size_t index, warpseal_device_info* info) {
    if (!pretends()) return __real_warpseal_device_at(index, info);
    if (index >= gpus) return WARPSEAL_INVALID_ARGUMENT;
    *info = {};
    std::strcpy(info->name, "pretended GPU");
    std::strcpy(info->driver, "0.0");
    info->memory_bytes = uint64_t{1} << 30;
    return WARPSEAL_OK;
}

warpseal_status __wrap_warpseal_device_alloc(warpseal_engine*, size_t bytes, void** out) {
    *out = pretends() ? std::malloc(bytes) : nullptr;
    return *out ? WARPSEAL_OK : WARPSEAL_NO_DEVICE;
}
void __wrap_warpseal_device_free(warpseal_engine*, void* memory) { std::free(memory); }
warpseal_status __wrap_warpseal_device_upload(warpseal_engine*, void* to, const void* from,
                                              size_t bytes) {
    std::memcpy(to, from, bytes);
    return WARPSEAL_OK;
}
warpseal_status __wrap_warpseal_device_download(warpseal_engine*, void* to, const void* from,
                                                size_t bytes) {
    std::memcpy(to, from, bytes);
    return WARPSEAL_OK;
}
warpseal_status __wrap_warpseal_device_synchronize(warpseal_engine*, void*) { return WARPSEAL_OK; }

warpseal_status __wrap_warpseal_internal_time_link(warpseal_engine*, const void* in, void* out,
                                                   size_t bytes, float* milliseconds) {
    const auto begin = std::chrono::steady_clock::now();
    std::memcpy(out, in, bytes);
    *milliseconds =
        std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - begin).count();
    return WARPSEAL_OK;
}

warpseal_status __wrap_warpseal_internal_time_all(warpseal_engine*,
                                                  warpseal_status (*work)(void*, size_t),
                                                  void* user, float* milliseconds) {
    const auto begin = std::chrono::steady_clock::now();
    warpseal_status status = WARPSEAL_OK;
    for (working_gpu = 0; working_gpu < gpus && status == WARPSEAL_OK; ++working_gpu)
        status = work(user, working_gpu);
    working_gpu = 0;
    *milliseconds =
        std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - begin).count();
    return status;
}

warpseal_status __wrap_warpseal_internal_time_device(warpseal_engine*,
                                                     warpseal_status (*work)(void*, void*),
                                                     void* user, float* milliseconds) {
    const auto begin = std::chrono::steady_clock::now();
    const warpseal_status status = work(user, nullptr);
    *milliseconds =
        std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - begin).count();
    return status;
}

#define ON_DEVICE(call)                                                                          \
    warpseal_status __wrap_warpseal_##call##_device(                                             \
        const warpseal_key* key, warpseal_mode mode, const void* iv, size_t iv_bytes,            \
        const void* in, void* out, size_t bytes, void*) {                                        \
        const warpseal_status status = warpseal_##call(key, mode, iv, iv_bytes, in, out, bytes); \
        if (is_broken(#call "_device") && bytes != 0)                                            \
            static_cast<uint8_t*>(out)[bytes / 2] ^= 0x80;                                       \
        if (is_broken(#call "_device_1") && working_gpu == 1)                                    \
            static_cast<uint8_t*>(out)[bytes - 1] ^= 1;                                          \
        return status;                                                                           \
    }
ON_DEVICE(encrypt)
ON_DEVICE(decrypt)

#define UNITS_ON_DEVICE(call)                                                                 \
    warpseal_status __wrap_warpseal_##call##_device(                                          \
        const warpseal_key* key, const void* first_unit, uint64_t unit_bytes, const void* in, \
        void* out, size_t bytes, void*) {                                                     \
        const warpseal_status status =                                                        \
            warpseal_##call(key, first_unit, unit_bytes, in, out, bytes);                     \
        if (is_broken(#call "_device") && bytes != 0)                                         \
            static_cast<uint8_t*>(out)[bytes / 2] ^= 0x80;                                    \
        return status;                                                                        \
    }
UNITS_ON_DEVICE(xts_encrypt)
UNITS_ON_DEVICE(xts_decrypt)

#define BATCH_ON_DEVICE(device_call, call)                                                     \
    warpseal_status __wrap_warpseal_##device_call(const warpseal_key* key, warpseal_mode mode, \
                                                  const warpseal_batch* batch, void*) {        \
        const warpseal_status status = queued(warpseal_##call(key, mode, batch));              \
        if (is_broken(#device_call) && batch->out) batch->out[0] ^= 1;                         \
        if (is_broken(#device_call "_tag") && batch->tags) batch->tags[0] ^= 1;                \
        if (is_broken(#device_call "_status")) batch->statuses[0] = WARPSEAL_NOT_AUTHENTIC;    \
        return status;                                                                         \
    }
BATCH_ON_DEVICE(encrypt_batch_device, encrypt_batch)
BATCH_ON_DEVICE(decrypt_batch_device, decrypt_batch)
BATCH_ON_DEVICE(seal_batch_device_unsafe_iv, seal_batch_unsafe_iv)
BATCH_ON_DEVICE(open_batch_device, open_batch)
BATCH_ON_DEVICE(mac_batch_device, mac_batch)
BATCH_ON_DEVICE(mac_verify_batch_device, mac_verify_batch)

#define KEM_ON_DEVICE(call)                                                                   \
    warpseal_status __wrap_warpseal_##call##_device(warpseal_engine* engine, const char* set, \
                                                    const warpseal_kem_batch* batch, void*) { \
        if (is_broken(#call "_device")) return WARPSEAL_OK;                                   \
        const warpseal_status status = warpseal_##call(engine, set, batch);                   \
        return status == WARPSEAL_INVALID_ARGUMENT ? WARPSEAL_OK : status;                    \
    }
KEM_ON_DEVICE(kem_keypair)
KEM_ON_DEVICE(kem_encapsulate)
KEM_ON_DEVICE(kem_decapsulate)

}  // extern "C"
