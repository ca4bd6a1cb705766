// The fake GPU. What it had in hand when it was lost leaves bytes that nobody authenticated.
#include <cstring>

#include "lose.h"
#include "support/fake_backend.h"

namespace lost_gpu {
namespace {

const warpseal::GpuBackend* fake() {
    static const warpseal::GpuBackend* const made = tests::fake_backend();
    return made;
}

constexpr int garbage = 0xee;

warpseal_status batch_host(int device, const warpseal::CudaCipher& cipher, const void* state,
                           warpseal_mode mode, warpseal::Direction direction,
                           const warpseal_batch& batch, uint64_t* done, uint64_t* not_authentic) {
    const warpseal_status status =
        fake()->batch_host(device, cipher, state, mode, direction, batch, done, not_authentic);
    const bool is_whole = status == WARPSEAL_OK || status == WARPSEAL_NOT_AUTHENTIC;
    for (uint64_t i = *done; !is_whole && i < batch.message_count; ++i)
        std::memset(batch.out + i * batch.out_stride, garbage,
                    batch.lengths != nullptr ? batch.lengths[i] : batch.message_bytes);
    return status;
}

}  // namespace

const warpseal::GpuBackend* backend_to_lose() {
    static const warpseal::GpuBackend backend = [] {
        warpseal::GpuBackend made = *fake();
        made.batch_host = batch_host;
        return made;
    }();
    return &backend;
}

bool is_real() { return false; }

void prepare_loss(int) {}

void lose(int, uint64_t later) { tests::lose_fake_gpu(later); }

}  // namespace lost_gpu
