// Calls on device memory: run on the GPU that holds the data, asynchronously on the caller's
// stream.
#include "engine/calls/iv_counters.h"
#include "engine/calls/scattered_parts.h"
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
    (void)refuse("in and out are not in the memory of one GPU of this engine");
    return WARPSEAL_INVALID_ARGUMENT;  // clang's analyzer does not see what refuse returns
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

// Device memory that belongs to the part: the text, or the array of its pointers.
const void* place_of(const ScatteredPart& part) {
    return part.base != nullptr ? static_cast<const void*>(part.base) : part.pointers;
}

// Checks the workspace, if there is one, before any work is queued.
warpseal_status check_workspace(const Gpu& gpu, warpseal_mode mode,
                                const warpseal_scattered_batch& batch) {
    if (batch.workspace == nullptr) return WARPSEAL_OK;
    if (reinterpret_cast<uintptr_t>(batch.workspace) % 16 != 0)
        return refuse("workspace is not 16-byte aligned");
    size_t needed = 0;
    const warpseal_status status =
        gpu.backend().batch_workspace(gpu.device(), mode, batch, &needed);
    if (status != WARPSEAL_OK || needed <= batch.workspace_bytes) return status;
    return refuse("workspace_bytes is %llu: warpseal_batch_device_workspace gives %zu",
                  static_cast<unsigned long long>(batch.workspace_bytes), needed);
}

// Checks a batch and finds its GPU.
warpseal_status prepare_batch(Engine::Impl& impl, const Key& key, warpseal_mode mode,
                              Direction direction, const warpseal_scattered_batch& batch,
                              Device& device) {
    const ScatteredParts parts(batch);
    warpseal_status status = check_scattered_device(key, mode, direction, parts);
    if (status == WARPSEAL_OK && batch.batch.keys == nullptr && key.refuses(direction))
        status = WARPSEAL_WEAK_KEY;
    if (status == WARPSEAL_OK)
        status = prepare(impl, key, BackendEntry::batch, mode, direction, place_of(parts.in),
                         place_of(parts.out), device);
    if (status != WARPSEAL_OK || batch.batch.message_count == 0) return status;
    return check_workspace(*device.gpu, mode, batch);
}

warpseal_status queue_batch(const Key& key, warpseal_mode mode, Direction direction,
                            const warpseal_scattered_batch& batch, const Device& device,
                            void* stream) {
    const Gpu& gpu = *device.gpu;
    const void* shared = batch.batch.keys == nullptr ? device.state : nullptr;
    return gpu.backend().batch_device(gpu.device(), *key.descriptors().cuda, shared, mode,
                                      direction, batch, stream);
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
                                     const warpseal_scattered_batch& given, void* stream) {
    warpseal_scattered_batch batch = given;
    if (mode == WARPSEAL_CMAC) batch.out_extent = 0;  // a MAC has no output
    Device device;
    const warpseal_status status = prepare_batch(*impl_, key, mode, direction, batch, device);
    if (status != WARPSEAL_OK || batch.batch.message_count == 0) return status;
    return report_loss(*impl_, queue_batch(key, mode, direction, batch, device, stream));
}

warpseal_status Engine::seal_batch_device(const Key& key, warpseal_mode mode,
                                          const warpseal_scattered_batch& batch,
                                          bool (*random)(void* out, size_t bytes),
                                          const std::function<warpseal_status()>& count,
                                          void* stream) {
    const warpseal_batch& given = batch.batch;
    if (batch.iv_pointers == nullptr && batch.iv_offsets == nullptr && given.message_count > 1 &&
        given.iv_stride < given.iv_bytes)
        return refuse("batch.iv_stride is less than iv_bytes: IVs that are drawn would overlap");
    Device device;
    void* counter = nullptr;
    warpseal_status status = prepare_batch(*impl_, key, mode, Direction::encrypt, batch, device);
    if (status == WARPSEAL_OK) status = count();
    if (status != WARPSEAL_OK || batch.batch.message_count == 0) return status;
    const Gpu& gpu = *device.gpu;
    status = find_iv_counter(gpu, random, counter);
    if (status == WARPSEAL_OK)
        status = gpu.backend().draw_ivs(gpu.device(), counter, batch, stream);
    if (status == WARPSEAL_OK)
        status = queue_batch(key, mode, Direction::encrypt, batch, device, stream);
    return report_loss(*impl_, status);
}

warpseal_status Engine::batch_device_workspace(const Key& key, warpseal_mode mode,
                                               const warpseal_scattered_batch& batch,
                                               uint64_t* bytes) {
    *bytes = 0;
    if (!key.supports(mode))
        return refuse_as(WARPSEAL_UNSUPPORTED, "mode is %s: %s does not have it", mode_name(mode),
                         key.facts().name);
    warpseal_status status = impl_->gpus.possible() ? impl_->gpus.open() : WARPSEAL_NO_DEVICE;
    if (status != WARPSEAL_OK) return status;
    const ScatteredParts parts(batch);
    const int number = impl_->gpus.holding(place_of(parts.in));
    if (number < 0) return refuse_memory_elsewhere(*impl_);
    Gpu& gpu = impl_->gpus[static_cast<unsigned>(number)];
    size_t needed = 0;
    status = gpu.open();
    if (status == WARPSEAL_OK)
        status = gpu.backend().batch_workspace(gpu.device(), mode, batch, &needed);
    *bytes = needed;
    return report_loss(*impl_, status);
}

}  // namespace warpseal
