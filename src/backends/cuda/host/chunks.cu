// Pipeline driver: cuts a call's work into chunks and runs them on slots. See chunks.h.
#include "backends/cuda/host/chunks.h"

#include <sched.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <thread>

#include "backends/cuda/host/device.h"
#include "backends/cuda/host/tuning.h"

namespace warpseal::cuda {

namespace {

// Assigns chunks in order and records which ones are complete. Thread safe.
class Progress {
public:
    explicit Progress(Work& work) : work_(work), end_(work.end()) {}

    // Returns the minimum slot size for the next chunk in bytes, or 0 if no chunk is left.
    size_t next_needs() {
        const std::lock_guard lock(mutex_);
        return next_ < end_ && status_ == WARPSEAL_OK ? work_.min_slot_bytes(next_) : 0;
    }

    bool acquire(size_t slot_bytes, Chunk& chunk) {
        const std::lock_guard lock(mutex_);
        if (next_ == end_ || status_ != WARPSEAL_OK || work_.min_slot_bytes(next_) > slot_bytes)
            return false;
        status_ = caught([&] {
            begins_.push_back(next_);
            ready_.resize(begins_.size());
            return WARPSEAL_OK;
        });
        if (status_ != WARPSEAL_OK) return false;  // nothing was queued for this chunk
        chunk = {begins_.size() - 1, next_, work_.chunk_end(next_, slot_bytes)};
        next_ = chunk.end;
        return true;
    }

    void fail(uint64_t sequence, warpseal_status status) {
        const std::lock_guard lock(mutex_);
        if (status_ == WARPSEAL_OK || sequence < failed_) status_ = status;
        failed_ = std::min(failed_, sequence);
        changed_.notify_all();
    }

    // Marks a chunk as complete on the device and waits for all chunks before it.
    // Returns false if an earlier chunk failed. This chunk must then not be committed: its output
    // may overlap the input of work that will be repeated.
    bool ready(uint64_t sequence) {
        std::unique_lock lock(mutex_);
        ready_[sequence] = true;
        while (front_ < ready_.size() && ready_[front_]) ++front_;
        changed_.notify_all();
        changed_.wait(lock, [&] { return front_ > sequence || failed_ <= sequence; });
        return failed_ > sequence;
    }

    warpseal_status status() const { return status_; }
    uint64_t done() const { return failed_ < begins_.size() ? begins_[failed_] : next_; }

private:
    Work& work_;
    const uint64_t end_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<uint64_t> begins_;
    std::vector<bool> ready_;
    uint64_t next_ = 0;             // begin of the next chunk
    uint64_t front_ = 0;            // chunks complete from the start of the call
    uint64_t failed_ = UINT64_MAX;  // first chunk that failed
    warpseal_status status_ = WARPSEAL_OK;
};

struct InFlight {
    Slot* slot;
    Chunk chunk;
};

// One feeder thread. Keeps its slots busy and commits the oldest chunk first. No exception may end
// it, because other threads wait for its chunks.
class Feeder {
public:
    Feeder(int device, Work& work, Progress& progress, const Workers& workers)
        : device_(device),
          work_(work),
          progress_(progress),
          slots_(workers.slots),
          polls_(workers.polls) {
        in_flight_.reserve(static_cast<size_t>(slots_));
        idle_.reserve(static_cast<size_t>(slots_));
    }

    warpseal_status run() {
        const CurrentDevice current(device_);
        // Allows calls that another thread's stream capture would forbid. Only this thread uses
        // these streams.
        const RelaxedCaptureMode relaxed;
        warpseal_status status =
            current.status() != WARPSEAL_OK ? current.status() : relaxed.status();
        while (status == WARPSEAL_OK) {
            Slot* slot = nullptr;
            status = next_slot(&slot);
            if (status != WARPSEAL_OK || slot == nullptr) break;
            start(slot);
        }
        while (!in_flight_.empty()) retire();
        release_idle();
        return status;
    }

private:
    // Finds a slot for the next chunk; null if no work is left. Waits only for the first slot;
    // further slots are taken only if one is free.
    warpseal_status next_slot(Slot** out) {
        *out = nullptr;
        for (;;) {
            const size_t needs = progress_.next_needs();
            if (needs == 0) return WARPSEAL_OK;
            for (size_t i = 0; i < idle_.size(); ++i) {
                if (idle_[i]->bytes < needs) continue;
                *out = idle_[i];
                idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
                return WARPSEAL_OK;
            }
            // Idle slots are too small. Release them: a thread must hold no slot while it waits for
            // one.
            release_idle();
            if (in_flight_.size() < static_cast<size_t>(slots_)) {
                const warpseal_status status =
                    caught([&] { return acquire_slot(device_, needs, in_flight_.empty(), out); });
                if (*out != nullptr || in_flight_.empty()) return status;
            }
            retire();
        }
    }

    void release_idle() {
        for (Slot* slot : idle_) release_slot(slot);
        idle_.clear();
    }

    void start(Slot* slot) {
        Chunk chunk;
        if (!progress_.acquire(slot->bytes, chunk)) {
            idle_.push_back(slot);
            return;
        }
        warpseal_status status = caught([&] { return work_.queue(*slot, chunk); });
        if (status == WARPSEAL_OK) status = slot->record_done();
        if (status != WARPSEAL_OK) {
            progress_.fail(chunk.sequence, status);
            // Wait for copies and kernels that were queued before the failure.
            if (!lost()) check(cudaStreamSynchronize(slot->stream));
            idle_.push_back(slot);
            return;
        }
        in_flight_.push_back({slot, chunk});
    }

    void retire() {
        const InFlight oldest = in_flight_.front();
        in_flight_.erase(in_flight_.begin());
        const warpseal_status status = oldest.slot->wait(polls_);
        // The slot is zeroized when it is given back, so nothing may be in flight.
        if (status != WARPSEAL_OK && !lost()) check(cudaStreamSynchronize(oldest.slot->stream));
        if (status != WARPSEAL_OK)
            progress_.fail(oldest.chunk.sequence, status);
        else if (progress_.ready(oldest.chunk.sequence))
            work_.commit(*oldest.slot, oldest.chunk);
        idle_.push_back(oldest.slot);
    }

    const int device_;
    Work& work_;
    Progress& progress_;
    const int slots_;
    const bool polls_;
    std::vector<InFlight> in_flight_;
    std::vector<Slot*> idle_;  // idle and in-flight slots together: at most slots_
};

}  // namespace

warpseal_status run(int device, Work& work, const Workers& workers, uint64_t* done) {
    *done = 0;
    Progress progress(work);
    Feeder feeder(device, work, progress, workers);
    std::vector<std::thread> threads;
    // Reserve before the try block: an exception here would skip the join of running threads.
    threads.reserve(static_cast<size_t>(workers.threads));
    try {
        for (int i = 1; i < workers.threads; ++i)
            threads.emplace_back(
                [&] { caught([&] { return Feeder(device, work, progress, workers).run(); }); });
    } catch (const std::exception&) {
        // Continue with the threads that started.
    }
    const warpseal_status own = feeder.run();
    for (std::thread& thread : threads) thread.join();
    *done = progress.done();
    if (progress.status() != WARPSEAL_OK) return progress.status();
    return *done == work.end() ? WARPSEAL_OK : own != WARPSEAL_OK ? own : WARPSEAL_OUT_OF_MEMORY;
}

size_t chunk_bytes(uint64_t before, uint64_t after, bool staged) {
    using namespace tuning;
    const uint64_t least = std::clamp((before + after) / chunks_of_call, min_chunk_bytes,
                                      staged ? min_chunk_bytes : min_chunk_bytes_of_large_call);
    const uint64_t most = staged ? max_staged_chunk_bytes : slot_bytes;
    return static_cast<size_t>(std::clamp(std::min(before, after) / chunk_growth, least, most));
}

void copy_from_staging(uint8_t* to, const uint8_t* from, size_t bytes, bool non_temporal) {
#if defined(__x86_64__)
    if (non_temporal) {
        const size_t head = std::min(bytes, (64 - reinterpret_cast<uintptr_t>(to) % 64) % 64);
        memcpy(to, from, head);
        const size_t lines = (bytes - head) / 64;
        to += head, from += head, bytes -= head + 64 * lines;
        for (size_t i = 0; i < lines; ++i, to += 64, from += 64)
            asm volatile(
                "movdqu (%1), %%xmm0\n\tmovdqu 16(%1), %%xmm1\n\tmovdqu 32(%1), %%xmm2\n\tmovdqu "
                "48(%1), %%xmm3\n\t"
                "movntdq %%xmm0, (%0)\n\tmovntdq %%xmm1, 16(%0)\n\tmovntdq %%xmm2, "
                "32(%0)\n\tmovntdq %%xmm3, 48(%0)"
                :
                : "r"(to), "r"(from)
                : "memory", "xmm0", "xmm1", "xmm2", "xmm3");
        asm volatile(
            "pxor %%xmm0, %%xmm0\n\tpxor %%xmm1, %%xmm1\n\tpxor %%xmm2, %%xmm2\n\tpxor %%xmm3, "
            "%%xmm3\n\tsfence"
            :
            :
            : "memory", "xmm0", "xmm1", "xmm2", "xmm3");
    }
#endif
    memcpy(to, from, bytes);
}

Workers staging_workers(uint64_t bytes) {
    cpu_set_t allowed;
    const int cores = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
    const uint64_t chunks = bytes / chunk_bytes(0, bytes, true);
    const int threads = static_cast<int>(std::min<uint64_t>(
        std::min(cores, tuning::staging_threads), std::max<uint64_t>(chunks, 1)));
    return {threads, tuning::slots_per_staging_thread, threads == 1};
}

}  // namespace warpseal::cuda
