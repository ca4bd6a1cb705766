// Data in device memory: straight to the GPU, asynchronous on the caller's stream.
#include "engine/batch_check.h"
#include "engine/inside.h"

namespace warpseal {
namespace {

// The schedule of a key whose device path is there and holds.
warpseal_status ready(Engine::Inside& inside, const Key& key, warpseal_mode mode, Direction direction, const void** state) {
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
    const CpuCipher& facts = key.facts();
    if (mode < 0 || mode >= WARPSEAL_MODE_COUNT || mode == WARPSEAL_GCM) return WARPSEAL_INVALID_ARGUMENT;
    if ((facts.modes >> mode & 1) == 0) return WARPSEAL_UNSUPPORTED;
    if (iv.size != (mode == WARPSEAL_ECB ? 0 : facts.block_bytes) || (iv.size != 0 && iv.data == nullptr)) return WARPSEAL_INVALID_ARGUMENT;
    if (mode == WARPSEAL_ECB && bytes % facts.block_bytes != 0) return WARPSEAL_INVALID_ARGUMENT;
    if (bytes != 0 && (in == nullptr || out == nullptr)) return WARPSEAL_INVALID_ARGUMENT;
    if (overlap(in, out, bytes)) return WARPSEAL_INVALID_ARGUMENT;
    const void* state = nullptr;
    const warpseal_status status = ready(*inside_, key, mode, direction, &state);
    if (status != WARPSEAL_OK || bytes == 0) return status;
    Gpu& gpu = inside_->gpu;
    return told(*inside_,
                gpu.door().sweep_device(gpu.device(), *key.descriptors().cuda, state, mode, direction, iv.data, in, out, bytes, stream));
}

warpseal_status Engine::batch_device(const Key& key, warpseal_mode mode, Direction direction, const warpseal_batch& batch, void* stream) {
    warpseal_status status = check_batch(key.facts(), mode, direction, batch);
    const void* state = nullptr;
    if (status == WARPSEAL_OK) status = ready(*inside_, key, mode, direction, &state);
    if (status != WARPSEAL_OK || batch.message_count == 0) return status;
    Gpu& gpu = inside_->gpu;
    const void* shared = batch.keys == nullptr ? state : nullptr;
    return told(*inside_, gpu.door().batch_device(gpu.device(), *key.descriptors().cuda, shared, mode, direction, batch, stream));
}

}  // namespace warpseal
