// Batches whose text lies in device memory on one side and in host memory on the other.
#include <utility>

#include "engine/calls/batch_check.h"
#include "engine/engine_impl.h"

namespace warpseal {

warpseal_status Engine::resident_gpu(const void* memory, uint64_t bytes, void* stream,
                                     unsigned& gpu) {
    Gpus& gpus = impl_->gpus;
    warpseal_status status = impl_->cuda_exists ? gpus.open() : WARPSEAL_NO_DEVICE;
    if (status != WARPSEAL_OK) return status;
    gpu = 0;
    if (bytes != 0) {
        const auto* const begin = static_cast<const uint8_t*>(memory);
        int first = -1, last = -1;
        status = gpus.backend().device_of(begin, &first);
        if (status == WARPSEAL_OK) status = gpus.backend().device_of(begin + (bytes - 1), &last);
        if (status == WARPSEAL_NO_DEVICE) (void)gpus.any_open();  // reports a loss
        if (status != WARPSEAL_OK) return status;
        if (first != last) return WARPSEAL_INVALID_ARGUMENT;
        while (gpu < gpus.count() && gpus[gpu].device() != first) ++gpu;
        if (gpu == gpus.count()) return WARPSEAL_INVALID_ARGUMENT;
    }
    status = gpus[gpu].open();
    if (status == WARPSEAL_OK) status = gpus.backend().synchronize(gpus[gpu].device(), stream);
    if (status != WARPSEAL_OK) (void)gpus.any_open();  // reports a loss
    return status;
}

warpseal_status Engine::begin_resident(unsigned gpu, const Key& key, warpseal_mode mode,
                                       Direction direction, const warpseal_batch& batch,
                                       const TextWindow* window, uint8_t* space,
                                       ResidentBatch& out) {
    const Gpu& its = impl_->gpus[gpu];
    warpseal_status status = check_batch(key, mode, direction, batch);
    if (status == WARPSEAL_OK)
        status =
            impl_->test_gpu_path(key.descriptors(), mode, direction, Path::gpu_host_memory, gpu);
    const void* const state = status == WARPSEAL_OK ? key.cuda_state() : nullptr;
    if (status == WARPSEAL_OK && state == nullptr) status = WARPSEAL_OUT_OF_MEMORY;
    if (status != WARPSEAL_OK) return status;
    out.gpu_ = &its;
    status = its.backend().begin_resident(its.device(), *key.descriptors().cuda, state, mode,
                                          direction, batch, window, space, &out.begun_);
    if (status != WARPSEAL_OK) (void)impl_->gpus.any_open();  // reports a loss
    return status;
}

warpseal_status ResidentBatch::finish() {
    void* const begun = std::exchange(begun_, nullptr);
    if (begun == nullptr) return WARPSEAL_OK;
    uint64_t forgeries = 0;
    const warpseal_status status = gpu_->backend().finish_resident(begun, &forgeries);
    if (status != WARPSEAL_OK) (void)gpu_->is_open();  // reports a loss
    return status == WARPSEAL_OK && forgeries != 0 ? WARPSEAL_NOT_AUTHENTIC : status;
}

void Engine::wipe_resident(unsigned gpu, void* memory, uint64_t bytes) {
    const Gpu& its = impl_->gpus[gpu];
    if (bytes != 0 && its.is_open())
        (void)its.backend().zeroize(its.device(), memory, static_cast<size_t>(bytes));
}

}  // namespace warpseal
