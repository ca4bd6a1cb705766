// Random bytes, wiping, and memory of the host and of the engine's GPU.
#include "abi/handles.h"
#include "container/random.h"
#include "core/secret.h"
#include "warpseal/inner.h"

namespace warpseal::abi {
namespace {

// Calls work(door, device) on the engine's GPU.
template <class Work>
warpseal_status on_device(warpseal_engine* engine, Work work) {
    if (engine == nullptr) return WARPSEAL_INVALID_ARGUMENT;
    return guarded([&] {
        const CudaDoor* door = engine->engine->cuda();
        return door == nullptr ? WARPSEAL_NO_DEVICE : work(*door, engine->engine->cuda_device());
    });
}

}  // namespace
}  // namespace warpseal::abi

using namespace warpseal;

extern "C" {

warpseal_status warpseal_random(void* out, size_t bytes) {
    if (out == nullptr && bytes != 0) return WARPSEAL_INVALID_ARGUMENT;
    return container::random_bytes(out, bytes) ? WARPSEAL_OK : WARPSEAL_NO_RANDOM;
}

void warpseal_wipe(void* memory, size_t bytes) {
    if (memory != nullptr) wipe(memory, bytes);
}

warpseal_status warpseal_device_alloc(warpseal_engine* engine, size_t bytes, void** out) {
    if (out == nullptr) return WARPSEAL_INVALID_ARGUMENT;
    *out = nullptr;
    return abi::on_device(engine, [&](const CudaDoor& door, int device) { return door.device_alloc(device, bytes, out); });
}

void warpseal_device_free(warpseal_engine* engine, void* memory, size_t bytes) {
    if (memory == nullptr) return;
    (void)abi::on_device(engine, [&](const CudaDoor& door, int device) {
        door.device_free(device, memory, bytes);
        return WARPSEAL_OK;
    });
}

warpseal_status warpseal_device_upload(warpseal_engine* engine, void* to_device, const void* from_host, size_t bytes) {
    if (bytes != 0 && (to_device == nullptr || from_host == nullptr)) return WARPSEAL_INVALID_ARGUMENT;
    return abi::on_device(engine, [&](const CudaDoor& door, int device) { return door.upload(device, to_device, from_host, bytes); });
}

warpseal_status warpseal_device_download(warpseal_engine* engine, void* to_host, const void* from_device, size_t bytes) {
    if (bytes != 0 && (to_host == nullptr || from_device == nullptr)) return WARPSEAL_INVALID_ARGUMENT;
    return abi::on_device(engine, [&](const CudaDoor& door, int device) { return door.download(device, to_host, from_device, bytes); });
}

warpseal_status warpseal_device_synchronize(warpseal_engine* engine, void* stream) {
    return abi::on_device(engine, [&](const CudaDoor& door, int device) { return door.synchronize(device, stream); });
}

warpseal_status warpseal_inner_time_device(warpseal_engine* engine, warpseal_status (*work)(void* user, void* stream), void* user,
                                           float* milliseconds) {
    if (work == nullptr || milliseconds == nullptr) return WARPSEAL_INVALID_ARGUMENT;
    return abi::on_device(engine, [&](const CudaDoor& door, int device) { return door.time(device, work, user, milliseconds); });
}

warpseal_status warpseal_host_alloc(warpseal_engine* engine, size_t bytes, void** out) {
    if (engine == nullptr || out == nullptr) return WARPSEAL_INVALID_ARGUMENT;
    *out = nullptr;
    return abi::guarded([&] {
        (void)engine->engine->cuda_device();  // opens the GPU, if there is one: only then can memory be pinned
        return engine->engine->host_alloc(bytes, out);
    });
}

void warpseal_host_free(warpseal_engine* engine, void* memory, size_t bytes) {
    if (engine == nullptr || memory == nullptr) return;
    (void)abi::guarded([&] {
        engine->engine->host_free(memory, bytes);
        return WARPSEAL_OK;
    });
}

}  // extern "C"
