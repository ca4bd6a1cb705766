// Large buffers for measurements.
#include "bench/report/memory.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "bench/report/failure.h"
#include "bench/report/slices.h"

namespace warpseal::bench {
namespace {

bool equal(const uint8_t* a, const uint8_t* b, size_t bytes) {
    std::atomic<bool> same{true};
    in_chunks(bytes, [&](uint64_t begin, uint64_t end) {
        if (std::memcmp(a + begin, b + begin, end - begin) != 0) same = false;
    });
    return same;
}

}  // namespace

void BulkMemory::release() {
    if (memory_) (on_device_ ? warpseal_device_free : warpseal_host_free)(engine_, memory_);
    memory_ = nullptr;
    bytes_ = 0;
}

uint8_t* BulkMemory::at_least(size_t bytes) {
    bytes = std::max<size_t>(bytes, 16);
    if (bytes > bytes_) {
        release();
        require_ok(
            (on_device_ ? warpseal_device_alloc : warpseal_host_alloc)(engine_, bytes, &memory_),
            "allocating memory");
        bytes_ = bytes;
    }
    return data();
}

void BulkMemory::put(const void* from, size_t bytes) {
    at_least(bytes);
    if (bytes == 0) return;
    if (on_device_)
        return require_ok(warpseal_device_upload(engine_, memory_, from, bytes),
                          "copying to the GPU");
    in_chunks(bytes, [&](uint64_t begin, uint64_t end) {
        std::memcpy(data() + begin, static_cast<const uint8_t*>(from) + begin, end - begin);
    });
}

void BulkMemory::compare(const void* expected, size_t bytes, const std::string& what) const {
    const auto* wanted = static_cast<const uint8_t*>(expected);
    if (!on_device_) {
        if (!equal(data(), wanted, bytes)) throw BenchWrong(what);
        return;
    }
    constexpr size_t chunk_bytes = size_t{64} << 20;
    BulkMemory copy(engine_, false);
    for (size_t done = 0; done < bytes; done += chunk_bytes) {
        const size_t length = std::min(chunk_bytes, bytes - done);
        uint8_t* const got = copy.at_least(std::min(chunk_bytes, bytes));
        require_ok(warpseal_device_download(engine_, got, data() + done, length),
                   "copying from the GPU");
        if (!equal(got, wanted + done, length)) throw BenchWrong(what);
    }
}

}  // namespace warpseal::bench
