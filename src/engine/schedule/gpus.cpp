// States of a GPU: untried, open, absent, lost. A lost GPU stays lost: a CUDA context does not
// recover within a process.
#include "engine/schedule/gpus.h"

#include <algorithm>
#include <utility>

#include "engine/schedule/device_count.h"
#include "platform/cancellation.h"
#include "platform/forks.h"

namespace warpseal {

Gpu::Gpu(const GpuBackend* backend, int device, GpuNotice& notice)
    : backend_(backend), device_(device), notice_(notice), forks_at_creation_(forks_so_far()) {
    if (backend_ == nullptr) state_ = State::absent;
}

// The backend knows what this engine cannot: an error in a call of another engine, and that a
// parent process used CUDA.
bool Gpu::lost() const {
    if (state_.load(std::memory_order_acquire) == State::lost) return true;
    if (forks_so_far() == forks_at_creation_ && !backend_->lost()) return false;
    lose();
    return true;
}

void Gpu::lose() const {
    if (state_.exchange(State::lost, std::memory_order_acq_rel) != State::open) return;
    if (notice_.callback && !notice_.lost_reported.exchange(true))
        notice_.callback(
            "the GPU can no longer be used by this process: the CPU continues the work");
}

bool Gpu::possible() const {
    return state_.load(std::memory_order_acquire) != State::absent && !lost();
}

warpseal_status Gpu::open() {
    if (is_open()) return WARPSEAL_OK;
    // A forked child must not take a lock that its parent may have held.
    if (!possible()) return WARPSEAL_NO_DEVICE;
    const CancellationDisabled disabled;
    const std::lock_guard lock(opening_);
    if (!possible()) return WARPSEAL_NO_DEVICE;
    if (state_.load(std::memory_order_acquire) == State::open) return WARPSEAL_OK;
    int count = 0;
    warpseal_device_info info = {};
    const bool there = count_devices(*backend_, &count) == WARPSEAL_OK && device_ < count &&
                       backend_->describe(device_, &info) == WARPSEAL_OK;
    state_.store(there ? State::open : State::absent, std::memory_order_release);
    return there ? WARPSEAL_OK : WARPSEAL_NO_DEVICE;
}

void Gpu::zeroize_launches() const {
    if (!is_open() || backend_->zeroize_launches == nullptr) return;
    const CancellationDisabled disabled;
    backend_->zeroize_launches(device_);
}

void Gpu::failed(warpseal_status status) {
    if (lost()) return;  // permanent, and already reported
    if (failure_reported_.exchange(true) || !notice_.callback) return;
    notice_.callback(status == WARPSEAL_OUT_OF_MEMORY
                         ? "the GPU is out of memory: another GPU or the CPU continues the work"
                         : "the GPU refused a call: another GPU or the CPU continues the work");
}

Gpus::Gpus(const GpuBackend* backend, const std::vector<int>& devices,
           std::function<void(const char*)> notice)
    : backend_(backend),
      all_devices_(devices.empty()),
      count_(all_devices_ ? 1 : static_cast<unsigned>(devices.size())) {
    notice_.callback = std::move(notice);
    for (unsigned i = 0; i < (all_devices_ ? most_gpus : count()); ++i)
        all_[i] = std::make_unique<Gpu>(backend, all_devices_ ? static_cast<int>(i) : devices[i],
                                        notice_);
}

bool Gpus::any_possible() const {
    return std::any_of(all_.begin(), all_.begin() + count(),
                       [](const auto& gpu) { return gpu->possible(); });
}

bool Gpus::any_open() const {
    return std::any_of(all_.begin(), all_.begin() + count(),
                       [](const auto& gpu) { return gpu->is_open(); });
}

warpseal_status Gpus::open() {
    const warpseal_status status = all_[0]->open();
    int there = 0;
    if (status != WARPSEAL_OK || !all_devices_ || counted_.load(std::memory_order_acquire))
        return status;
    if (count_devices(*backend_, &there) != WARPSEAL_OK) return WARPSEAL_NO_DEVICE;
    count_.store(std::clamp(static_cast<unsigned>(there), 1u, most_gpus),
                 std::memory_order_release);
    counted_.store(true, std::memory_order_release);
    return status;
}

warpseal_status Gpus::open_all() {
    for (unsigned i = 0; i < count(); ++i)
        if (const warpseal_status status = all_[i]->open(); status != WARPSEAL_OK) return status;
    return WARPSEAL_OK;
}

void Gpus::zeroize_launches() const {
    for (unsigned i = 0; i < count(); ++i) all_[i]->zeroize_launches();
}

int Gpus::holding(const void* memory) const {
    if (count() == 1 || memory == nullptr) return 0;  // the call itself checks the memory
    int device = -1;
    if (!any_open() || backend_->device_of(memory, &device) != WARPSEAL_OK) return -1;
    for (unsigned i = 0; i < count(); ++i)
        if (all_[i]->device() == device) return static_cast<int>(i);
    return -1;
}

}  // namespace warpseal
