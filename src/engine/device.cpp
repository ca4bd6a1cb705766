// Data in device memory: straight to the GPU, asynchronous on the caller's stream.
#include "engine/batch_check.h"
#include "engine/inside.h"

namespace warpseal {
namespace {

// Whether a key's device path is there and holds; expands the key for it.
warpseal_status ready(Engine::Inside& inside, const Key& key, Shape shape, warpseal_mode mode, Direction direction, const void** state) {
    const CudaCipher* cipher = key.descriptors().cuda;
    if (cipher != nullptr && inside.gpu.possible() && !runs(cipher, shape, mode, direction)) return WARPSEAL_UNSUPPORTED;
    std::atomic<uint8_t>& proved = key.cuda_proved(mode, direction, true);
    const warpseal_status status = proved.load(std::memory_order_acquire) != 0
                                       ? inside.gpu.open()
                                       : inside.prove_cuda(key.descriptors(), mode, direction, Path::gpu_device_memory);
    if (status != WARPSEAL_OK) return status;
    proved.store(1, std::memory_order_release);
    *state = key.cuda_state();
    return *state == nullptr ? WARPSEAL_OUT_OF_MEMORY : WARPSEAL_OK;
}

warpseal_status told(Engine::Inside& inside, warpseal_status status) {
    // A refusal here may be the caller's doing, a pointer of the host or a dead stream: only a loss is worth a notice.
    if (status != WARPSEAL_OK) (void)inside.gpu.is_open();
    return status;
}

}  // namespace

warpseal_status Engine::sweep_device(const Key& key, warpseal_mode mode, Direction direction, Bytes iv, const uint8_t* in, uint8_t* out,
                                     size_t bytes, void* stream) {
    warpseal_status status = check_plain(key, mode, direction, iv, bytes);
    if (status != WARPSEAL_OK) return status;
    if (bytes != 0 && (in == nullptr || out == nullptr)) return WARPSEAL_INVALID_ARGUMENT;
    if (overlap(in, out, bytes)) return WARPSEAL_INVALID_ARGUMENT;
    if (!sweeps(mode, direction)) return WARPSEAL_UNSUPPORTED;  // serial within a message: a batch
    const void* state = nullptr;
    status = ready(*inside_, key, Shape::sweep, mode, direction, &state);
    if (status != WARPSEAL_OK || bytes == 0) return status;
    Gpu& gpu = inside_->gpu;
    return told(*inside_,
                gpu.door().sweep_device(gpu.device(), *key.descriptors().cuda, state, mode, direction, iv.data, in, out, bytes, stream));
}

warpseal_status Engine::xts_device(const Key& key, Direction direction, const XtsUnits& units, const uint8_t* in, uint8_t* out,
                                   size_t bytes, void* stream) {
    warpseal_status status = check_xts(key, direction, units, bytes);
    if (status != WARPSEAL_OK) return status;
    if (bytes != 0 && (in == nullptr || out == nullptr)) return WARPSEAL_INVALID_ARGUMENT;
    if (overlap(in, out, bytes)) return WARPSEAL_INVALID_ARGUMENT;
    const void* state = nullptr;
    status = ready(*inside_, key, Shape::xts, WARPSEAL_XTS, direction, &state);
    const void* tweak_state = status == WARPSEAL_OK ? key.cuda_tweak_state() : nullptr;
    if (status == WARPSEAL_OK && tweak_state == nullptr) status = WARPSEAL_OUT_OF_MEMORY;
    if (status != WARPSEAL_OK || bytes == 0) return status;
    Gpu& gpu = inside_->gpu;
    return told(*inside_,
                gpu.door().xts_device(gpu.device(), *key.descriptors().cuda, state, tweak_state, direction, units, in, out, bytes, stream));
}

warpseal_status Engine::batch_device(const Key& key, warpseal_mode mode, Direction direction, const warpseal_batch& batch, void* stream) {
    warpseal_status status = check_batch(key, mode, direction, batch);
    const void* state = nullptr;
    if (status == WARPSEAL_OK && batch.keys == nullptr && key.refuses(direction)) status = WARPSEAL_WEAK_KEY;
    if (status == WARPSEAL_OK) status = ready(*inside_, key, Shape::batch, mode, direction, &state);
    if (status != WARPSEAL_OK || batch.message_count == 0) return status;
    Gpu& gpu = inside_->gpu;
    const void* shared = batch.keys == nullptr ? state : nullptr;
    return told(*inside_, gpu.door().batch_device(gpu.device(), *key.descriptors().cuda, shared, mode, direction, batch, stream));
}

}  // namespace warpseal
