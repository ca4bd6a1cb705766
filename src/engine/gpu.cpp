// States of the GPU: untried, open or absent, lost. Losing it is for good: a CUDA context does not recover within a process.
#include "engine/gpu.h"

#include <utility>

namespace warpseal {

Gpu::Gpu(const CudaDoor* door, int device, std::function<void(const char*)> notice)
    : door_(door), device_(device), notice_(std::move(notice)) {
    if (door_ == nullptr) state_ = State::absent;
}

// The door knows of what this engine cannot see: an error in another engine's call, and that this process is a fork.
bool Gpu::lost() const {
    if (state_.load(std::memory_order_acquire) == State::lost) return true;
    if (!door_->lost()) return false;
    lose();
    return true;
}

void Gpu::lose() const {
    if (state_.exchange(State::lost, std::memory_order_acq_rel) == State::open && notice_)
        notice_("the GPU can no longer be used by this process: the work goes on on the cores");
}

bool Gpu::possible() const { return state_.load(std::memory_order_acquire) != State::absent && !lost(); }

warpseal_status Gpu::open() {
    if (is_open()) return WARPSEAL_OK;
    const std::lock_guard lock(opening_);
    if (!possible()) return WARPSEAL_NO_DEVICE;
    if (state_.load(std::memory_order_acquire) == State::open) return WARPSEAL_OK;
    int count = 0;
    warpseal_device_info info = {};
    const bool there = door_->device_count(&count) == WARPSEAL_OK && device_ < count && door_->describe(device_, &info) == WARPSEAL_OK;
    state_.store(there ? State::open : State::absent, std::memory_order_release);
    return there ? WARPSEAL_OK : WARPSEAL_NO_DEVICE;
}

void Gpu::failed(warpseal_status status) {
    if (lost()) return;  // for good, and said
    if (said_failed_.exchange(true) || !notice_) return;
    notice_(status == WARPSEAL_OUT_OF_MEMORY ? "the GPU is out of memory: the work goes on on the cores"
                                             : "the GPU refused a piece of work: it goes on on the cores");
}

}  // namespace warpseal
