// Calls on device memory: run on the GPU that holds the data, asynchronously on the caller's
// stream.
#include "engine/calls/batch_check.h"
#include "engine/engine_impl.h"
#include "engine/refusal.h"

namespace warpseal {
namespace {

// GPU and key schedule for a call on device memory.
struct Device {
    Gpu* gpu = nullptr;
    const void* state = nullptr;
};

warpseal_status refuse_memory_elsewhere(const Engine::Impl& impl) {
    if (!impl.gpus.possible()) return WARPSEAL_NO_DEVICE;
    return refuse("in and out are not in the memory of one GPU of this engine");
}

// Finds the GPU that holds `in` and `out` (either may be null), self-tests the path and expands the
// key for it.
warpseal_status prepare(Engine::Impl& impl, const Key& key, BackendEntry entry, warpseal_mode mode,
                        Direction direction, const void* in, const void* out, Device& device) {
    const CudaCipher* cipher = key.descriptors().cuda;
    if (cipher != nullptr && impl.gpus.possible() && !runs(cipher, entry, mode, direction))
        return WARPSEAL_UNSUPPORTED;
    warpseal_status status = cipher == nullptr ? WARPSEAL_NO_DEVICE : impl.gpus.open();
    if (status != WARPSEAL_OK) return status;
    const int number = impl.gpus.holding(in != nullptr ? in : out);
    if (number < 0 || (out != nullptr && impl.gpus.holding(out) != number))
        return refuse_memory_elsewhere(impl);
    std::atomic<uint32_t>& tested = key.gpu_tested(mode, direction, true);
    const auto i = static_cast<unsigned>(number);
    status =
        (tested.load(std::memory_order_acquire) >> i & 1) != 0
            ? impl.gpus[i].open()
            : impl.test_gpu_path(key.descriptors(), mode, direction, Path::gpu_device_memory, i);
    if (status != WARPSEAL_OK) return status;
    tested.fetch_or(1u << i, std::memory_order_acq_rel);
    device = {&impl.gpus[i], key.cuda_state()};
    return device.state == nullptr ? WARPSEAL_OUT_OF_MEMORY : WARPSEAL_OK;
}

// Reports the loss of a GPU, and nothing else: the caller may have caused the failure (host
// pointer, destroyed stream). Returns `status`.
warpseal_status report_loss(Engine::Impl& impl, warpseal_status status) {
    if (status != WARPSEAL_OK) (void)impl.gpus.any_open();
    return status;
}

}  // namespace

warpseal_status Engine::sweep_device(const Key& key, warpseal_mode mode, Direction direction,
                                     Bytes iv, const uint8_t* in, uint8_t* out, size_t bytes,
                                     void* stream) {
    warpseal_status status = check_plain(key, mode, direction, iv, bytes);
    if (status != WARPSEAL_OK) return status;
    status = check_memory(in, out, bytes);
    if (status != WARPSEAL_OK) return status;
    if (!sweeps(mode, direction))
        return refuse_as(WARPSEAL_UNSUPPORTED, "mode is %s: it is serial, so give a batch",
                         mode_name(mode));
    Device device;
    status = prepare(*impl_, key, BackendEntry::sweep, mode, direction, in, out, device);
    if (status != WARPSEAL_OK || bytes == 0) return status;
    const Gpu& gpu = *device.gpu;
    return report_loss(
        *impl_, gpu.backend().sweep_device(gpu.device(), *key.descriptors().cuda, device.state,
                                           mode, direction, iv.data, in, out, bytes, stream));
}

warpseal_status Engine::xts_device(const Key& key, Direction direction, const XtsUnits& units,
                                   const uint8_t* in, uint8_t* out, size_t bytes, void* stream) {
    warpseal_status status = check_xts(key, direction, units, bytes);
    if (status != WARPSEAL_OK) return status;
    status = check_memory(in, out, bytes);
    if (status != WARPSEAL_OK) return status;
    Device device;
    status = prepare(*impl_, key, BackendEntry::xts, WARPSEAL_XTS, direction, in, out, device);
    const void* tweak_state = status == WARPSEAL_OK ? key.cuda_tweak_state() : nullptr;
    if (status == WARPSEAL_OK && tweak_state == nullptr) status = WARPSEAL_OUT_OF_MEMORY;
    if (status != WARPSEAL_OK || bytes == 0) return status;
    const Gpu& gpu = *device.gpu;
    return report_loss(
        *impl_, gpu.backend().xts_device(gpu.device(), *key.descriptors().cuda, device.state,
                                         tweak_state, direction, units, in, out, bytes, stream));
}

warpseal_status Engine::batch_device(const Key& key, warpseal_mode mode, Direction direction,
                                     const warpseal_batch& batch, void* stream) {
    warpseal_status status = check_batch(key, mode, direction, batch);
    if (status == WARPSEAL_OK) status = check_device_text(mode, batch);
    Device device;
    if (status == WARPSEAL_OK && batch.keys == nullptr && key.refuses(direction))
        status = WARPSEAL_WEAK_KEY;
    if (status == WARPSEAL_OK)
        status =
            prepare(*impl_, key, BackendEntry::batch, mode, direction, batch.in, batch.out, device);
    if (status != WARPSEAL_OK || batch.message_count == 0) return status;
    const Gpu& gpu = *device.gpu;
    const void* shared = batch.keys == nullptr ? device.state : nullptr;
    return report_loss(*impl_, gpu.backend().batch_device(gpu.device(), *key.descriptors().cuda,
                                                          shared, mode, direction, batch, stream));
}

}  // namespace warpseal
