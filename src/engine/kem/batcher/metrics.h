// Lock-free counters of a batcher, and their Prometheus text.
#pragma once

#include <array>
#include <atomic>
#include <string>

#include "warpseal/batcher.h"

namespace warpseal {

class KemCounts {
public:
    // Waiting times of many requests, collected before they are added.
    struct Waits {
        std::array<uint32_t, WARPSEAL_KEM_WAITS> buckets{};
        double seconds = 0;
        void add(double waited);
    };

    void count_inline(bool failed);
    void count_batch(size_t requests, const Waits& waits);
    void count_failures(uint64_t failed) { failures_.fetch_add(failed, std::memory_order_relaxed); }
    void count_full_queue() { full_queue_.fetch_add(1, std::memory_order_relaxed); }
    void count_no_thread() { no_thread_.fetch_add(1, std::memory_order_relaxed); }
    void count_redone(uint64_t requests) { redone_.fetch_add(requests, std::memory_order_relaxed); }

    // Fills all fields except struct_bytes.
    void read(uint32_t waiting, warpseal_kem_batcher_counts& out) const;

private:
    using Count = std::atomic<uint64_t>;
    alignas(64) Count inline_requests_{0};  // own cache line: every inline request writes it
    alignas(64) Count batched_requests_{0};
    Count batches_{0}, largest_batch_{0}, failures_{0}, full_queue_{0}, no_thread_{0}, redone_{0};
    std::atomic<double> wait_seconds_{0};
    std::array<Count, WARPSEAL_KEM_BATCH_SIZES> sizes_{};
    std::array<Count, WARPSEAL_KEM_WAITS> waits_{};
};

// who: label value that distinguishes batchers and processes.
std::string prometheus_text(const warpseal_kem_batcher_counts& counts, const std::string& who);

// A file with the text, replaced atomically.
class MetricsFile {
public:
    // Chooses a file name of this process. An empty directory means no file.
    explicit MetricsFile(const std::string& directory);
    const std::string& who() const { return who_; }
    bool wanted() const { return !path_.empty(); }
    // Returns false if the file could not be written.
    bool write(const std::string& text) const;

private:
    static unsigned number_in(uint32_t process);
    std::string who_, path_;
};

}  // namespace warpseal
