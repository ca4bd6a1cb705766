// The CUDA backend: ciphers by name, and the entry points of host/ and kem/.
#include <cstring>

#include "backends/cuda/host/batch_device.h"
#include "backends/cuda/host/chunks.h"
#include "backends/cuda/host/device.h"
#include "backends/cuda/host/drbg.h"
#include "backends/cuda/host/memory_kind.h"
#include "backends/cuda/host/pipeline.h"
#include "backends/cuda/kem/pipeline.h"
#include "backends/cuda/kem/pool_transfer.h"
#include "backends/gpu_backend.h"

namespace warpseal {

#include "cuda_exports.h"

namespace cuda {
namespace {

const CudaCipher* cipher(const char* name) {
    for (const CudaCipherSet* set : cuda_exports)
        for (uint32_t i = 0; i < set->count; ++i)
            if (strcmp(set->ciphers[i].name, name) == 0) return &set->ciphers[i];
    return nullptr;
}

warpseal_status sweep_device(int device, const CudaCipher& cipher, const void* state,
                             warpseal_mode mode, Direction direction, const uint8_t* iv,
                             const uint8_t* in, uint8_t* out, size_t bytes, void* stream) {
    const CurrentDevice current(device);
    if (current.status() != WARPSEAL_OK) return current.status();
    return cipher.sweep[mode][static_cast<int>(direction)](state, iv, 0, in, out, bytes, stream);
}

warpseal_status xts_device(int device, const CudaCipher& cipher, const void* state,
                           const void* tweak_state, Direction direction, const XtsUnits& units,
                           const uint8_t* in, uint8_t* out, size_t bytes, void* stream) {
    const CurrentDevice current(device);
    if (current.status() != WARPSEAL_OK) return current.status();
    return cipher.xts[static_cast<int>(direction)](state, tweak_state, units, in, out, bytes,
                                                   stream);
}

warpseal_status batch_device(int device, const CudaCipher& cipher, const void* state,
                             warpseal_mode mode, Direction direction,
                             const warpseal_scattered_batch& batch, void* stream) {
    const CurrentDevice current(device);
    if (current.status() != WARPSEAL_OK) return current.status();
    return cipher.batch[mode][static_cast<int>(direction)](state, batch, stream);
}

constexpr GpuBackend backend = {
    cipher,          device_count,   describe,        lost,       device_alloc,
    device_free,     host_alloc,     host_free,       upload,     download,
    synchronize,     cuda::time,     sweep_device,    xts_device, batch_device,
    batch_workspace, draw_ivs,       sweep_host,      xts_host,   gcm_host,
    batch_host,      begin_resident, finish_resident, zeroize,    zeroize_launches,
    is_pinned,       device_of,      copy_both_ways,  cuda_kem,   kem_device,
    kem_host,        pool_transfer,  kem_prepare,     drbg_device};

}  // namespace
}  // namespace cuda

const GpuBackend* gpu_backend() { return &cuda::backend; }

}  // namespace warpseal
