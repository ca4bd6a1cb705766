// Slots: see slots.h.
#include "backends/cuda/host/slots.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "backends/cuda/host/device.h"
#include "backends/cuda/host/launch.cuh"
#include "backends/cuda/host/tuning.h"
#include "core/secret.h"

namespace warpseal::cuda {

namespace {

// The slots of one device. Never destroyed: CUDA may be gone before static objects are destroyed.
struct Pool {
    Pool() { idle.reserve(tuning::max_slots); }

    std::mutex mutex;
    std::condition_variable released;
    std::vector<Slot*> idle;
    int in_use = 0;  // slots of the usual size
    bool large_in_use = false;
    bool memory_is_short = false;       // the last attempt to create a slot found no memory
    std::atomic<bool> polling = false;  // a call polls for the end of a chunk
};

Pool& pool_of(int device) {
    static std::mutex mutex;
    static auto* pools = new std::map<int, Pool>;
    const std::lock_guard lock(mutex);
    return (*pools)[device];
}

struct CopyJob {
    uint32_t* to;
    const uint32_t* from;
    uint64_t words;
};

constexpr unsigned copy_threads = 256, max_copy_blocks = 128;

__global__ void __launch_bounds__(copy_threads) copy_kernel(const __grid_constant__ CopyJob job) {
    for (uint64_t i = blockIdx.x * copy_threads + threadIdx.x; i < job.words;
         i += gridDim.x * copy_threads)
        job.to[i] = job.from[i];
}

constexpr size_t large_bytes_limit =
    tuning::device_bytes_limit - tuning::max_slots * tuning::slot_bytes;

// Creates a slot of the usual size, or the largest that memory allows.
warpseal_status create_usual(int device, size_t min_bytes, Slot** out) {
    warpseal_status status = WARPSEAL_OUT_OF_MEMORY;
    const size_t smallest = std::max(min_bytes, tuning::min_slot_bytes);
    for (size_t bytes = tuning::slot_bytes; status == WARPSEAL_OUT_OF_MEMORY && bytes >= smallest;
         bytes /= 2)
        status = Slot::create(device, bytes, out);
    return status;
}

// Returns true if the event is complete in time.
bool poll_until_done(cudaEvent_t event, int device) {
    using Clock = std::chrono::steady_clock;
    std::atomic<bool>& polling = pool_of(device).polling;
    if (polling.exchange(true)) return false;  // another call already keeps a core busy
    bool done = false;
    const auto until = Clock::now() + std::chrono::microseconds(tuning::poll_microseconds);
    while (!lost() && is_done(event, &done) == WARPSEAL_OK && !done && Clock::now() < until)
        sched_yield();  // yield the core to other threads
    polling = false;
    return done;
}

}  // namespace

warpseal_status wait_for(cudaEvent_t done, int device, bool poll) {
    if (poll && poll_until_done(done, device)) return WARPSEAL_OK;
    return lost() ? WARPSEAL_NO_DEVICE : check(cudaEventSynchronize(done));
}

warpseal_status Slot::create(int device_index, size_t bytes, Slot** out) {
    *out = nullptr;
    Slot* slot = new (std::nothrow) Slot;
    if (slot == nullptr) return WARPSEAL_OUT_OF_MEMORY;
    slot->device_index = device_index;
    slot->bytes = bytes;
    void* memory = nullptr;
    warpseal_status status = check(cudaMalloc(&memory, bytes));
    slot->device = static_cast<uint8_t*>(memory);
    if (status == WARPSEAL_OK)
        status = check(cudaStreamCreateWithFlags(&slot->stream, cudaStreamNonBlocking));
    if (status == WARPSEAL_OK)
        status = check(
            cudaEventCreateWithFlags(&slot->done_, cudaEventDisableTiming | cudaEventBlockingSync));
    if (status == WARPSEAL_OK)
        *out = slot;
    else
        slot->destroy();
    return status;
}

warpseal_status Slot::pin() {
    if (pinned != nullptr) return WARPSEAL_OK;
    void* memory = nullptr;
    const warpseal_status status = check(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault));
    pinned = static_cast<uint8_t*>(memory);
    return status;
}

warpseal_status Slot::record_done() { return check(cudaEventRecord(done_, stream)); }

warpseal_status Slot::wait(bool poll) { return wait_for(done_, device_index, poll); }

warpseal_status Slot::copy_by_kernel(void* to, const void* from, size_t bytes) {
    const CopyJob job{static_cast<uint32_t*>(to), static_cast<const uint32_t*>(from), bytes / 4};
    const auto blocks =
        std::clamp<uint64_t>((job.words + copy_threads - 1) / copy_threads, 1, max_copy_blocks);
    return launch(copy_kernel, static_cast<unsigned>(blocks), 0, job, stream, copy_threads);
}

void Slot::mark_used(size_t device_bytes, size_t pinned_bytes) {
    used_device_ = std::max(used_device_, device_bytes);
    used_pinned_ = std::max(used_pinned_, pinned_bytes);
}

bool Slot::zeroize() {
    if (pinned != nullptr) wipe(pinned, used_pinned_);
    if (lost() || check(cudaMemsetAsync(device, 0, used_device_, stream)) != WARPSEAL_OK)
        return false;
    used_device_ = used_pinned_ = 0;
    return true;
}

void Slot::destroy() {
    if (!lost() && stream != nullptr) check(cudaStreamSynchronize(stream));
    if (!lost() && device != nullptr) check(cudaFree(device));
    if (!lost() && pinned != nullptr) check(cudaFreeHost(pinned));
    if (!lost() && done_ != nullptr) check(cudaEventDestroy(done_));
    if (!lost() && stream != nullptr) check(cudaStreamDestroy(stream));
    delete this;
}

warpseal_status acquire_slot(int device, size_t min_bytes, bool wait, Slot** out,
                             int wanted_slots) {
    *out = nullptr;
    Pool& pool = pool_of(device);
    std::unique_lock lock(pool.mutex);
    if (min_bytes > tuning::slot_bytes) {
        if (min_bytes > large_bytes_limit) return WARPSEAL_OUT_OF_MEMORY;
        if (pool.large_in_use && !wait) return WARPSEAL_OK;
        pool.released.wait(lock, [&] { return !pool.large_in_use; });
        pool.large_in_use = true;
        lock.unlock();
        const warpseal_status status = Slot::create(device, min_bytes, out);
        lock.lock();
        pool.large_in_use = status == WARPSEAL_OK;
        pool.released.notify_all();
        return status;
    }
    for (;;) {
        if (lost()) return WARPSEAL_NO_DEVICE;
        const auto fits = std::find_if(pool.idle.begin(), pool.idle.end(),
                                       [&](const Slot* s) { return s->bytes >= min_bytes; });
        const bool found = fits != pool.idle.end();
        const int slots = pool.in_use + static_cast<int>(pool.idle.size());
        warpseal_status created = WARPSEAL_OUT_OF_MEMORY;
        if (found ? slots < wanted_slots && !pool.memory_is_short : slots < tuning::max_slots) {
            created = create_usual(device, min_bytes, out);
            if (created == WARPSEAL_OK) ++pool.in_use;
            pool.memory_is_short = created == WARPSEAL_OUT_OF_MEMORY;
            // Out of memory, but other calls hold slots: wait for one of theirs.
            if (created != WARPSEAL_OUT_OF_MEMORY || (!found && pool.in_use == 0)) return created;
        }
        if (found) {
            *out = *fits;
            pool.idle.erase(fits);
            ++pool.in_use;
            return WARPSEAL_OK;
        }
        if (!wait) return WARPSEAL_OK;
        if (pool.in_use == 0) return WARPSEAL_OUT_OF_MEMORY;
        pool.released.wait(lock);
    }
}

void release_slot(Slot* slot) {
    Pool& pool = pool_of(slot->device_index);
    const bool large = slot->bytes > tuning::slot_bytes, useful = slot->zeroize();
    if (large || !useful) slot->destroy();
    const std::lock_guard lock(pool.mutex);
    if (large) {
        pool.large_in_use = false;
    } else {
        --pool.in_use;
        if (useful) pool.idle.push_back(slot);
    }
    pool.released.notify_all();
}

}  // namespace warpseal::cuda
