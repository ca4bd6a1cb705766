// Keys and batches of FLOE segments.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "cli/foreign/floe.h"
#include "cli/foreign/foreign.h"

namespace warpseal::cli {

// Host memory of the engine: zeroized on release.
class FloeBuffer {
public:
    FloeBuffer(warpseal_engine* engine, size_t bytes) : engine_(engine) {
        if (warpseal_host_alloc(engine, bytes, &memory_) != WARPSEAL_OK) throw std::bad_alloc();
    }
    ~FloeBuffer() { warpseal_host_free(engine_, memory_); }
    FloeBuffer(const FloeBuffer&) = delete;
    FloeBuffer& operator=(const FloeBuffer&) = delete;
    uint8_t* data() const { return static_cast<uint8_t*>(memory_); }
    void swap(FloeBuffer& other) {
        std::swap(memory_, other.memory_);
        std::swap(size, other.size);
    }
    size_t size = 0;

    // Reads until `most` bytes are held or the input ends.
    void fill(ForeignJob& job, size_t most) {
        for (size = 0; size < most;) {
            const size_t got = job.read(data() + size, most - size);
            if (got == 0) return;
            size += got;
        }
    }

private:
    warpseal_engine* engine_;
    void* memory_ = nullptr;
};

// AAD, header and keys of a file that is opened.
class FloeStart {
    const std::vector<uint8_t> aad_;

public:
    // Zeroizes the secrets. Throws Failure.
    FloeStart(ForeignJob& job, Secrets& secrets);
    FloeStart(const FloeStart&) = delete;
    FloeStart& operator=(const FloeStart&) = delete;
    const FloeKeys& keys() const { return *keys_; }
    const FloeHeader header;

private:
    std::optional<FloeKeys> keys_;
};

// Segments that one batch takes: a power of two, so that a batch never needs two keys.
inline size_t floe_batch_segments(uint32_t segment_bytes) {
    constexpr uint64_t batch_bytes = uint64_t{16} << 20;
    const uint64_t segments = std::max<uint64_t>(1, batch_bytes / segment_bytes);
    return std::bit_floor(std::min(segments, FloeHeader::segments_per_key));
}

// Seals and opens runs of segments in memory.
class FloeSegments {
public:
    static constexpr size_t aad_bytes = 9;  // position and final flag

    FloeSegments(ForeignJob& job, const FloeKeys& keys, uint32_t segment_bytes)
        : job_(job), keys_(keys), segment_bytes_(segment_bytes) {}

    // Prepares a batch of `count` internal segments at `sealed`, whose texts are at `text`. It is
    // valid until the next call.
    warpseal_batch batch(uint64_t position, uint64_t count, uint8_t* sealed);
    // Returns the key of the segment.
    const warpseal_key* key(uint64_t position);
    // Writes the AAD of a segment.
    static void store_aad(uint8_t* aad, uint64_t position, bool final) {
        store_big_endian(aad, position, 8);
        aad[8] = final ? 1 : 0;
    }
    // Throws Failure if a file cannot have `count` segments from `position` on.
    static void require_within_limit(ForeignJob& job, uint64_t position, uint64_t count);
    uint64_t text_bytes() const { return segment_bytes_ - FloeHeader::segment_overhead; }

private:
    ForeignJob& job_;
    const FloeKeys& keys_;
    const uint32_t segment_bytes_;
    std::vector<uint8_t> aad_;
    KeyHandle key_;
    uint64_t key_number_ = 0;
};

}  // namespace warpseal::cli
