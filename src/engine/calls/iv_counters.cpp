// Counters of drawn IVs, and their self-test.
#include "engine/calls/iv_counters.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "backends/batch_message.h"

namespace warpseal {
namespace {

constexpr uint32_t iv_bytes = IvCounter::iv_bytes;
// More messages than a block of threads takes from the counter at once.
constexpr uint64_t test_count = 1500;

using Ivs = std::vector<std::array<uint8_t, iv_bytes>>;

// Device memory of the call. Another engine may have lost the GPU meanwhile.
class Memory {
public:
    explicit Memory(const Gpu& gpu) : gpu_(gpu) {}
    ~Memory() {
        if (memory_ != nullptr && gpu_.is_open())
            gpu_.backend().device_free(gpu_.device(), memory_, bytes_);
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    warpseal_status allocate(size_t bytes) {
        bytes_ = bytes;
        return gpu_.backend().device_alloc(gpu_.device(), bytes, &memory_);
    }
    void* get() const { return memory_; }
    void keep() { memory_ = nullptr; }

private:
    const Gpu& gpu_;
    void* memory_ = nullptr;
    size_t bytes_ = 0;
};

// Draws IVs on the GPU, and compares them with the host's. Threads may take numbers in any order.
warpseal_status test_counter(const Gpu& gpu, void* memory) {
    IvCounter counter = {};
    std::memset(counter.start, 0xff, iv_bytes);  // carries into every byte
    counter.next = 0x1234567;
    Ivs expected(test_count), drawn(test_count);
    Memory on_device(gpu);
    warpseal_status status = on_device.allocate(test_count * iv_bytes);
    if (status != WARPSEAL_OK) return status;
    for (uint64_t i = 0; i < test_count; ++i)
        write_drawn_iv(counter.start, counter.next + i, expected[i].data());
    warpseal_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.message_count = test_count;
    batch.iv_bytes = iv_bytes;
    batch.ivs = static_cast<uint8_t*>(on_device.get());
    batch.iv_stride = iv_bytes;
    const GpuBackend& backend = gpu.backend();
    status = backend.upload(gpu.device(), memory, &counter, sizeof counter);
    if (status == WARPSEAL_OK)
        status = backend.draw_ivs(gpu.device(), memory, as_scattered(batch), nullptr);
    if (status == WARPSEAL_OK) status = backend.synchronize(gpu.device(), nullptr);
    if (status == WARPSEAL_OK)
        status = backend.download(gpu.device(), &counter, memory, sizeof counter);
    if (status == WARPSEAL_OK)
        status =
            backend.download(gpu.device(), drawn.data(), on_device.get(), test_count * iv_bytes);
    if (status != WARPSEAL_OK) return status;
    std::sort(drawn.begin(), drawn.end());
    std::sort(expected.begin(), expected.end());
    const bool right = drawn == expected && counter.next == 0x1234567 + test_count;
    return right ? WARPSEAL_OK : WARPSEAL_SELF_TEST_FAILED;
}

struct Entry {
    const GpuBackend* backend;
    int device;
    void* counter;
    const Entry* next;
};

// A list without a lock, so that a forked child finds none held.
std::atomic<const Entry*> entries{nullptr};

void* counter_in(const Entry* entry, const Gpu& gpu) {
    while (entry != nullptr && (entry->backend != &gpu.backend() || entry->device != gpu.device()))
        entry = entry->next;
    return entry != nullptr ? entry->counter : nullptr;
}

// Adds the entry, unless another thread added one of its GPU. Returns the counter that is listed.
void* list(std::unique_ptr<Entry> entry, const Gpu& gpu) {
    entry->next = entries.load(std::memory_order_acquire);
    for (;;) {
        if (void* const listed = counter_in(entry->next, gpu)) return listed;
        const Entry* before = entry->next;
        if (entries.compare_exchange_weak(before, entry.get(), std::memory_order_acq_rel))
            return entry.release()->counter;
        entry->next = before;
    }
}

}  // namespace

warpseal_status find_iv_counter(const Gpu& gpu, bool (*random)(void* out, size_t bytes),
                                void*& counter) {
    counter = counter_in(entries.load(std::memory_order_acquire), gpu);
    if (counter != nullptr) return WARPSEAL_OK;
    IvCounter begin = {};
    if (!random(begin.start, sizeof begin.start)) return WARPSEAL_NO_RANDOM;
    Memory memory(gpu);
    warpseal_status status = memory.allocate(sizeof begin);
    if (status != WARPSEAL_OK) return status;
    try {
        auto entry =
            std::make_unique<Entry>(Entry{&gpu.backend(), gpu.device(), memory.get(), nullptr});
        status = test_counter(gpu, memory.get());
        if (status == WARPSEAL_OK)
            status = gpu.backend().upload(gpu.device(), memory.get(), &begin, sizeof begin);
        if (status != WARPSEAL_OK) return status;
        counter = list(std::move(entry), gpu);
    } catch (const std::bad_alloc&) {
        return WARPSEAL_OUT_OF_MEMORY;
    }
    if (counter == memory.get()) memory.keep();
    return WARPSEAL_OK;
}

}  // namespace warpseal
