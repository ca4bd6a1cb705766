// The paths of the backends as test cases: a CPU target, a GPU from host memory, and a GPU on
// device memory.
#pragma once

#include <memory>

#include "backends/batch_message.h"
#include "backends/gpu_backend.h"
#include "engine/self_test/test_case.h"

namespace warpseal {

// Key schedule of the known-answer key, aligned as backends require.
template <class Cipher>
class TestSchedule {
public:
    TestSchedule(const Cipher& cipher, const uint8_t* key)
        : memory_(cipher.state_bytes + 64), state_(memory_.data()) {
        size_t capacity = memory_.size();
        std::align(64, cipher.state_bytes, state_, capacity);
        cipher.expand(state_, key);
    }
    const void* state() const { return state_; }

private:
    std::vector<uint8_t> memory_;
    void* state_;
};

class TestOnCores : public TestCase, public GcmSteps {
public:
    explicit TestOnCores(const CpuCipher& cipher)
        : TestCase(cipher, cipher.known),
          cipher_(cipher),
          schedule_(cipher, cipher.known.key),
          tweak_schedule_(cipher, test_tweak_key(cipher.key_bytes).data()) {}
    const void* state() const { return schedule_.state(); }

    warpseal_status sweep(warpseal_mode mode, Direction direction, const uint8_t* iv,
                          uint64_t first_block, const uint8_t* in, uint8_t* out,
                          size_t bytes) override {
        cipher_.sweep[mode][static_cast<int>(direction)](state(), iv, first_block, in, out, bytes);
        return WARPSEAL_OK;
    }
    warpseal_status segment(Direction direction, GcmState* run, uint64_t first_block,
                            const uint8_t* in, uint8_t* out, size_t bytes) override {
        cipher_.gcm_segment[static_cast<int>(direction)](state(), run, first_block, in, out, bytes);
        return WARPSEAL_OK;
    }
    warpseal_status xts(Direction direction, const XtsUnits& units, const uint8_t* in, uint8_t* out,
                        size_t bytes) override {
        cipher_.xts[static_cast<int>(direction)](state(), tweak_schedule_.state(), units, in, out,
                                                 bytes);
        return WARPSEAL_OK;
    }
    warpseal_status batch(warpseal_mode mode, Direction direction, const TestBatch& batch,
                          bool in_place, TestText& memory) override {
        const auto run = cipher_.batch[mode][static_cast<int>(direction)];
        const warpseal_batch all = batch.at(memory.data(), in_place);
        const void* key = batch.own_keys() ? nullptr : state();
        const uint64_t first = all.message_count < 5 ? all.message_count : 5;
        uint64_t forgeries = run(key, all, 0, first);
        if (first != all.message_count) forgeries += run(key, all, 5, all.message_count - 5);
        return outcome(forgeries == batch.forgeries(direction));
    }
    bool has(BackendEntry entry, warpseal_mode mode, Direction direction) const override {
        return runs(&cipher_, entry, mode, direction);
    }

    GcmState begin(const TestText& iv, const TestText& aad) const override {
        GcmState run;
        cipher_.gcm_begin(state(), iv.data(), iv.size(), aad.data(), aad.size(), &run);
        return run;
    }
    void combine(uint8_t sum[16], const uint8_t part[16], uint64_t block_count) const override {
        cipher_.gcm_combine(state(), sum, part, block_count);
    }
    void finish(const GcmState& run, uint64_t aad_bytes, uint64_t text_bytes,
                uint8_t tag[16]) const override {
        cipher_.gcm_finish(state(), &run, aad_bytes, text_bytes, tag);
    }

private:
    const CpuCipher& cipher_;
    const TestSchedule<CpuCipher> schedule_, tweak_schedule_;
};

class TestThroughGpu : public TestCase {
public:
    TestThroughGpu(const GpuBackend& backend, int device, const CudaCipher& cipher,
                   const KnownAnswer& known)
        : TestCase(cipher, known),
          backend_(backend),
          device_(device),
          cipher_(cipher),
          schedule_(cipher, known.key),
          tweak_schedule_(cipher, test_tweak_key(cipher.key_bytes).data()) {}

    warpseal_status sweep(warpseal_mode mode, Direction direction, const uint8_t* iv,
                          uint64_t first_block, const uint8_t* in, uint8_t* out,
                          size_t bytes) override {
        size_t done = 0;
        return backend_.sweep_host(device_, cipher_, schedule_.state(), mode, direction, iv,
                                   first_block, in, out, bytes, &done, nullptr);
    }
    warpseal_status segment(Direction direction, GcmState* run, uint64_t first_block,
                            const uint8_t* in, uint8_t* out, size_t bytes) override {
        size_t done = 0;
        return backend_.gcm_host(device_, cipher_, schedule_.state(), direction, run, first_block,
                                 in, out, bytes, &done);
    }
    warpseal_status xts(Direction direction, const XtsUnits& units, const uint8_t* in, uint8_t* out,
                        size_t bytes) override {
        size_t done = 0;
        return backend_.xts_host(device_, cipher_, schedule_.state(), tweak_schedule_.state(),
                                 direction, units, in, out, bytes, &done);
    }
    warpseal_status batch(warpseal_mode mode, Direction direction, const TestBatch& batch,
                          bool in_place, TestText& memory) override {
        uint64_t done = 0, forgeries = 0;
        const void* key = batch.own_keys() ? nullptr : schedule_.state();
        const warpseal_status status =
            backend_.batch_host(device_, cipher_, key, mode, direction,
                                batch.at(memory.data(), in_place), &done, &forgeries);
        return status != WARPSEAL_OK && status != WARPSEAL_NOT_AUTHENTIC
                   ? status
                   : outcome(forgeries == batch.forgeries(direction));
    }
    bool has(BackendEntry entry, warpseal_mode mode, Direction direction) const override {
        return runs(&cipher_, entry, mode, direction);
    }

protected:
    const GpuBackend& backend_;
    const int device_;
    const CudaCipher& cipher_;
    const TestSchedule<CudaCipher> schedule_, tweak_schedule_;
};

class TestOnDevice : public TestThroughGpu {
public:
    using TestThroughGpu::TestThroughGpu;
    ~TestOnDevice() override {
        if (memory_ != nullptr && !backend_.lost())
            backend_.device_free(device_, memory_, capacity);
    }
    // Allocates device memory. Call once, before anything else.
    warpseal_status prepare() {
        void* memory = nullptr;
        const warpseal_status status = backend_.device_alloc(device_, capacity, &memory);
        memory_ = static_cast<uint8_t*>(memory);
        return status;
    }
    warpseal_status sweep(warpseal_mode mode, Direction direction, const uint8_t* iv, uint64_t,
                          const uint8_t* in, uint8_t* out, size_t bytes) override {
        uint8_t* to = in == out ? memory_ : memory_ + capacity / 2;
        return there_and_back(memory_, in, to, out, bytes, [&] {
            return backend_.sweep_device(device_, cipher_, schedule_.state(), mode, direction, iv,
                                         memory_, to, bytes, nullptr);
        });
    }
    warpseal_status segment(Direction, GcmState*, uint64_t, const uint8_t*, uint8_t*,
                            size_t) override {
        return WARPSEAL_UNSUPPORTED;
    }
    warpseal_status xts(Direction direction, const XtsUnits& units, const uint8_t* in, uint8_t* out,
                        size_t bytes) override {
        uint8_t* to = in == out ? memory_ : memory_ + capacity / 2;
        return there_and_back(memory_, in, to, out, bytes, [&] {
            return backend_.xts_device(device_, cipher_, schedule_.state(), tweak_schedule_.state(),
                                       direction, units, memory_, to, bytes, nullptr);
        });
    }
    warpseal_status batch(warpseal_mode mode, Direction direction, const TestBatch& batch,
                          bool in_place, TestText& memory) override {
        const void* key = batch.own_keys() ? nullptr : schedule_.state();
        return there_and_back(memory_, memory.data(), memory_, memory.data(), memory.size(), [&] {
            return backend_.batch_device(device_, cipher_, key, mode, direction,
                                         as_scattered(batch.at(memory_, in_place)), nullptr);
        });
    }
    bool any_first_block() const override { return false; }
    bool has(BackendEntry entry, warpseal_mode mode, Direction direction) const override {
        return entry != BackendEntry::gcm && runs(&cipher_, entry, mode, direction);
    }

private:
    static constexpr size_t capacity = 1 << 16;

    template <class Work>
    warpseal_status there_and_back(uint8_t* to_device, const void* in, const uint8_t* from_device,
                                   void* out, size_t bytes, Work work) {
        if (bytes > capacity / 2) return WARPSEAL_SELF_TEST_FAILED;
        warpseal_status status = backend_.upload(device_, to_device, in, bytes);
        if (status == WARPSEAL_OK) status = work();
        if (status == WARPSEAL_OK) status = backend_.synchronize(device_, nullptr);
        if (status == WARPSEAL_OK) status = backend_.download(device_, out, from_device, bytes);
        return status;
    }

    uint8_t* memory_ = nullptr;
};

}  // namespace warpseal
