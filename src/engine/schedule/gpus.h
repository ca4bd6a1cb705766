// The engine's GPUs. Each is opened once, on first use. After a GPU is lost, the backend is not
// called again.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/gpu_backend.h"
#include "engine/targets.h"

namespace warpseal {

// The caller's callback for notices. The loss of GPUs is reported once, because all are lost
// together.
struct GpuNotice {
    std::function<void(const char*)> callback;
    std::atomic<bool> lost_reported{false};
};

class Gpu {
public:
    // backend may be null: a build without CUDA.
    Gpu(const GpuBackend* backend, int device, GpuNotice& notice);

    // Returns WARPSEAL_OK if the GPU is present, open and not lost.
    warpseal_status open();
    bool is_open() const {
        return state_.load(std::memory_order_acquire) == State::open && !lost();
    }
    // True if open() may succeed; false once the GPU is known to be absent or lost.
    bool possible() const;

    // Zeroizes launch parameters of destroyed keys.
    void zeroize_launches() const;

    const GpuBackend& backend() const { return *backend_; }
    int device() const { return device_; }

    // Reports a failed call once. Another GPU or the CPU finishes it, or the caller gets the error.
    // Only the backend knows if the GPU is lost; a refusal (out of memory, another thread's
    // capture) may not recur.
    void failed(warpseal_status status);

private:
    enum class State : uint8_t { untried, open, absent, lost };
    bool lost() const;
    void lose() const;

    const GpuBackend* const backend_;
    const int device_;
    GpuNotice& notice_;
    const unsigned long forks_at_creation_;  // number of forks before construction
    std::mutex opening_;  // fork: a child finds the GPU lost, and does not open it
    mutable std::atomic<State> state_{State::untried};
    std::atomic<bool> failure_reported_{false};
};

// Numbered from 0 in the order of the `device` option.
class Gpus {
public:
    // devices: CUDA device numbers. Empty: all devices of the machine; only the first is known
    // until it is open.
    Gpus(const GpuBackend* backend, const std::vector<int>& devices,
         std::function<void(const char*)> notice);

    unsigned count() const { return count_.load(std::memory_order_acquire); }  // at least 1
    Gpu& operator[](size_t i) { return *all_[i]; }
    const Gpu& operator[](size_t i) const { return *all_[i]; }

    bool possible() const { return all_[0]->possible() || (count() > 1 && any_possible()); }
    bool any_open() const;
    // open() opens the first GPU and then counts the devices. open_all() opens all named GPUs.
    warpseal_status open();
    warpseal_status open_all();
    void zeroize_launches() const;

    // Returns the index of the GPU whose memory it is, or -1. A GPU that is not open holds no
    // memory of this engine's calls.
    int holding(const void* memory) const;

    const GpuBackend& backend() const { return *backend_; }

private:
    bool any_possible() const;

    const GpuBackend* const backend_;
    const bool all_devices_;
    GpuNotice notice_;
    std::array<std::unique_ptr<Gpu>, most_gpus> all_;
    std::atomic<unsigned> count_;
    std::atomic<bool> counted_{false};
};

}  // namespace warpseal
