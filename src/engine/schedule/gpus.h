// The engine's GPUs behind the door: each opened once, when first wanted; after one is lost no call
// goes through the door again.
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

// The caller's ear. That GPUs are lost is said once, as all of them go together.
struct GpuNotice {
    std::function<void(const char*)> say;
    std::atomic<bool> said_lost{false};
};

class Gpu {
public:
    // door may be null: a build without CUDA.
    Gpu(const GpuBackend* backend, int device, GpuNotice& notice);

    // WARPSEAL_OK: there, open and not lost.
    warpseal_status open();
    bool is_open() const {
        return state_.load(std::memory_order_acquire) == State::open && !lost();
    }
    // Whether open() may succeed: false once it is known to be absent or lost.
    bool possible() const;

    // Erases what launches left behind of keys that are gone.
    void zeroize_launches() const;

    const GpuBackend& backend() const { return *backend_; }
    int device() const { return device_; }

    // After a call that failed, which another GPU or the cores finish, or which is reported: says
    // so once. Only the door knows whether the GPU is lost; what it refused for now, out of memory
    // or under another thread's capture, may work the next time.
    void failed(warpseal_status status);

private:
    enum class State : uint8_t { untried, open, absent, lost };
    bool lost() const;
    void lose() const;

    const GpuBackend* const backend_;
    const int device_;
    GpuNotice& notice_;
    const unsigned long birth_;  // forks of this process so far
    std::mutex opening_;         // fork: a child finds the GPU lost, and does not open it
    mutable std::atomic<State> state_{State::untried};
    std::atomic<bool> said_failed_{false};
};

// Numbered from 0 in the order of the `device` option.
class Gpus {
public:
    // devices: the door's numbers. None: all that the machine has, of which the first alone is
    // known of until it is open.
    Gpus(const GpuBackend* backend, const std::vector<int>& devices,
         std::function<void(const char*)> notice);

    unsigned count() const { return count_.load(std::memory_order_acquire); }  // at least 1
    Gpu& operator[](size_t i) { return *all_[i]; }
    const Gpu& operator[](size_t i) const { return *all_[i]; }

    bool possible() const { return all_[0]->possible() || (count() > 1 && any_possible()); }
    bool any_open() const;
    // The first, and with it how many there are. The named ones all.
    warpseal_status open();
    warpseal_status open_all();
    void zeroize_launches() const;

    // Number of the one whose memory that is; -1: of none. One that is not open has no memory of
    // this engine's calls.
    int holding(const void* memory) const;

    const GpuBackend& backend() const { return *backend_; }

private:
    bool any_possible() const;

    const GpuBackend* const backend_;
    const bool all_there_are_;
    GpuNotice notice_;
    std::array<std::unique_ptr<Gpu>, most_gpus> all_;
    std::atomic<unsigned> count_;
    std::atomic<bool> counted_{false};
};

}  // namespace warpseal
