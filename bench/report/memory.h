// Large buffers for measurements in host or GPU memory; they grow and are reused between
// measurements.
#pragma once

#include <cstdint>
#include <string>

#include "warpseal/warpseal.h"

namespace warpseal::bench {

// Filled and compared on all cores. Every failure throws BenchWrong.
class BulkMemory {
public:
    // Host memory is pinned if the engine has a GPU. `engine` must outlive this object.
    BulkMemory(warpseal_engine* engine, bool on_device) : engine_(engine), on_device_(on_device) {}
    ~BulkMemory() { release(); }
    BulkMemory(const BulkMemory&) = delete;
    BulkMemory& operator=(const BulkMemory&) = delete;

    // Grows to at least `bytes` bytes; growing discards the content.
    uint8_t* at_least(size_t bytes);
    uint8_t* data() const { return static_cast<uint8_t*>(memory_); }
    void put(const void* from, size_t bytes);
    void compare(const void* expected, size_t bytes, const std::string& what) const;

private:
    void release();

    warpseal_engine* engine_;
    bool on_device_;
    size_t bytes_ = 0;
    void* memory_ = nullptr;
};

}  // namespace warpseal::bench
