// Leaf states on the host, and the self-test of those on a GPU.
#include "engine/drbg/leaves.h"

#include <cstring>
#include <vector>

#include "core/word.h"

namespace warpseal {
namespace {

constexpr int encrypt = static_cast<int>(Direction::encrypt);
constexpr size_t key_bytes = 32, block_bytes = 16;

// Input of every leaf: its output is the keystream. Not const, so that it takes no space in the
// program's file; never written.
alignas(64) uint8_t zeros[drbg::max_request_bytes];

void increment(uint8_t block[block_bytes]) {
    const uint64_t low = load_be64(block + 8) + 1;
    store_be64(block + 8, low);
    if (low == 0) store_be64(block, load_be64(block) + 1);
}

}  // namespace

InstantiationMask instantiation_mask(const CpuCipher& aes, void* state) {
    const uint8_t zero_key[key_bytes] = {};
    uint8_t counter[block_bytes] = {};
    increment(counter);
    InstantiationMask mask{};
    aes.expand(state, zero_key);
    aes.sweep[WARPSEAL_CTR][encrypt](state, counter, 0, mask.bytes, mask.bytes, sizeof mask.bytes);
    return mask;
}

size_t Leaves::bytes_for(uint64_t count) {
    return (drbg::seed_bytes + key_bytes + block_bytes) * count;
}

Leaves::Leaves(uint8_t* memory, uint64_t count)
    : count_(count),
      seeds_(memory),
      keys_(seeds_ + drbg::seed_bytes * count),
      counters_(keys_ + key_bytes * count) {}

void Leaves::instantiate(const InstantiationMask& mask) {
    for (uint64_t i = 0; i < count_; ++i) {
        uint8_t* const seed = seeds_ + drbg::seed_bytes * i;
        for (size_t k = 0; k < drbg::seed_bytes; ++k) seed[k] ^= mask.bytes[k];
        std::memcpy(keys_ + key_bytes * i, seed, key_bytes);
        std::memcpy(counters_ + block_bytes * i, seed + key_bytes, block_bytes);
        increment(counters_ + block_bytes * i);
    }
}

warpseal_batch Leaves::batch(uint64_t first, uint64_t count, size_t bytes, uint8_t* out) const {
    warpseal_batch made{};
    made.struct_bytes = sizeof made;
    made.iv_bytes = block_bytes;
    made.message_count = count;
    made.message_bytes = bytes;
    made.keys = keys_ + key_bytes * first;
    made.ivs = counters_ + block_bytes * first;
    made.iv_stride = block_bytes;
    made.in = zeros;
    made.out = out;
    made.out_stride = drbg::max_request_bytes;
    return made;
}

warpseal_batch Leaves::whole(uint8_t* out, size_t bytes) const {
    return batch(0, bytes / drbg::max_request_bytes, drbg::max_request_bytes, out);
}

warpseal_batch Leaves::rest(uint8_t* out, size_t bytes) const {
    const uint64_t before = bytes / drbg::max_request_bytes;
    return batch(before, count_ - before, bytes % drbg::max_request_bytes,
                 out + drbg::max_request_bytes * before);
}

namespace {

// The request of the self-test: three leaves, the last one with a short request.
constexpr size_t test_bytes = 2 * drbg::max_request_bytes + 23;
constexpr uint64_t test_leaves = drbg::leaves_for(test_bytes);

void fill_test_request(uint8_t key[key_bytes], uint8_t counter[block_bytes]) {
    for (size_t i = 0; i < key_bytes; ++i) key[i] = static_cast<uint8_t>(7 * i + 1);
    for (size_t i = 0; i < block_bytes; ++i) counter[i] = static_cast<uint8_t>(255 - i);
}

std::vector<uint8_t> expected_output(const CpuCipher& aes, const InstantiationMask& mask,
                                     void* state) {
    uint8_t key[key_bytes], counter[block_bytes];
    fill_test_request(key, counter);
    std::vector<uint8_t> memory(Leaves::bytes_for(test_leaves)), out(test_bytes);
    Leaves leaves(memory.data(), test_leaves);
    aes.expand(state, key);
    aes.sweep[WARPSEAL_CTR][encrypt](state, counter, 0, leaves.seeds(), leaves.seeds(),
                                     test_leaves * drbg::seed_bytes);
    leaves.instantiate(mask);
    for (const warpseal_batch& batch :
         {leaves.whole(out.data(), test_bytes), leaves.rest(out.data(), test_bytes)})
        aes.batch[WARPSEAL_CTR][encrypt](nullptr, batch, 0, batch.message_count);
    return out;
}

// Memory for a key schedule, 64-byte-aligned.
class ScheduleMemory {
public:
    explicit ScheduleMemory(size_t bytes) : memory_(bytes + 64) {}
    void* data() {
        const auto address = reinterpret_cast<uintptr_t>(memory_.data());
        return memory_.data() + (64 - address % 64) % 64;
    }

private:
    std::vector<uint8_t> memory_;
};

}  // namespace

warpseal_status test_drbg_device(const GpuBackend& backend, int device, const CudaCipher& cuda,
                                 const CpuCipher& cores) {
    ScheduleMemory core_schedule(cores.state_bytes), cuda_schedule(cuda.state_bytes);
    const InstantiationMask mask = instantiation_mask(cores, core_schedule.data());
    const std::vector<uint8_t> expected = expected_output(cores, mask, core_schedule.data());
    std::vector<uint8_t> out(test_bytes);

    DrbgRequest request{&cuda, cuda_schedule.data(), {}, {}};
    uint8_t key[key_bytes];
    fill_test_request(key, request.counter);
    cuda.expand(cuda_schedule.data(), key);
    std::memcpy(request.instantiation, mask.bytes, sizeof mask.bytes);

    void* memory = nullptr;
    warpseal_status status = backend.device_alloc(device, test_bytes, &memory);
    if (status != WARPSEAL_OK) return status;
    status =
        backend.drbg_device(device, request, static_cast<uint8_t*>(memory), test_bytes, nullptr);
    if (status == WARPSEAL_OK) status = backend.synchronize(device, nullptr);
    if (status == WARPSEAL_OK) status = backend.download(device, out.data(), memory, test_bytes);
    if (!backend.lost()) backend.device_free(device, memory, test_bytes);
    return status == WARPSEAL_OK && out != expected ? WARPSEAL_SELF_TEST_FAILED : status;
}

}  // namespace warpseal
