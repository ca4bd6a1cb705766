// The engine's GPU behind the door: opened once, when first wanted; after it is lost no call goes through the door again.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>

#include "backends/ops.h"

namespace warpseal {

class Gpu {
public:
    // door may be null: a build without CUDA.
    Gpu(const CudaDoor* door, int device, std::function<void(const char*)> notice);

    // WARPSEAL_OK: there, open and not lost.
    warpseal_status open();
    bool is_open() const { return state_.load(std::memory_order_acquire) == State::open && !lost(); }
    // Whether open() may succeed: false once it is known to be absent or lost.
    bool possible() const;

    // Erases what launches left behind of keys that are gone.
    void forget() const {
        if (is_open() && door_->forget != nullptr) door_->forget(device_);
    }

    const CudaDoor& door() const { return *door_; }
    int device() const { return device_; }

    // After a call that failed, which the caller finishes on the cores or reports: says so once. Only the door knows whether the GPU is
    // lost; what it refused for now, out of memory or under another thread's capture, may work the next time.
    void failed(warpseal_status status);

private:
    enum class State : uint8_t { untried, open, absent, lost };
    bool lost() const;
    void lose() const;

    const CudaDoor* const door_;
    const int device_;
    const std::function<void(const char*)> notice_;
    std::mutex opening_;
    mutable std::atomic<State> state_{State::untried};
    std::atomic<bool> said_failed_{false};
};

}  // namespace warpseal
