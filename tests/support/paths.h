// Every path through the backend interface (backends/cipher_backend.h): CPU targets and the GPU
// behind one interface, for comparisons.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/gpu_backend.h"
#include "guard.h"
#include "reference/cipher.h"
#include "targets.h"

namespace tests {

using reference::Text;
using warpseal::Direction;
using warpseal::GcmState;

// An expanded key that touches a guard page and is then read-only: calls must not access bytes
// around the state, nor change it.
class State {
public:
    template <class Cipher>
    State(const Cipher& cipher, const uint8_t* key)
        : memory_(cipher.state_bytes), at_(memory_.end() - (cipher.state_bytes + 63) / 64 * 64) {
        cipher.expand(at_, key);
        memory_.read_only();
    }
    const void* get() const { return at_; }

private:
    Guarded memory_;
    uint8_t* at_;
};

// One cipher, key and target. Failing calls are test failures. XTS uses the key as its data key,
// and the tweak key from `tweak`.
class Path {
public:
    Path(std::string target, const warpseal::CpuCipher& cpu, const Text& key)
        : target_(std::move(target)), cpu_(cpu), state_(cpu, key.data()) {}
    virtual ~Path() = default;
    const std::string& target() const { return target_; }
    const warpseal::CpuCipher& cpu() const { return cpu_; }

    virtual void sweep(warpseal_mode mode, Direction direction, const uint8_t* iv,
                       uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes) const {
        cpu_.sweep[mode][static_cast<int>(direction)](state_.get(), iv, first_block, in, out,
                                                      bytes);
    }
    virtual void tweak(const Text& key) { tweak_ = std::make_unique<State>(cpu_, key.data()); }
    virtual void xts(Direction direction, const warpseal::XtsUnits& units, const uint8_t* in,
                     uint8_t* out, size_t bytes) const {
        cpu_.xts[static_cast<int>(direction)](state_.get(), tweak_->get(), units, in, out, bytes);
    }
    virtual void gcm_segment(Direction direction, GcmState* run, uint64_t first_block,
                             const uint8_t* in, uint8_t* out, size_t bytes) const {
        cpu_.gcm_segment[static_cast<int>(direction)](state_.get(), run, first_block, in, out,
                                                      bytes);
    }
    // Processes messages [first, first + count) under the path's key, or under batch.keys. Returns
    // the number that did not verify.
    virtual uint64_t batch(warpseal_mode mode, Direction direction, const warpseal_batch& batch,
                           uint64_t first, uint64_t count) const {
        return cpu_.batch[mode][static_cast<int>(direction)](
            batch.keys == nullptr ? state_.get() : nullptr, batch, first, count);
    }
    virtual bool takes_ranges() const { return true; }  // true if `batch` honours first and count
    virtual bool sweeps(warpseal_mode mode, Direction direction) const {
        return cpu_.sweep[mode][static_cast<int>(direction)] != nullptr;
    }
    virtual bool batches(warpseal_mode mode, Direction direction) const {
        return cpu_.batch[mode][static_cast<int>(direction)] != nullptr;
    }

    void gcm_begin(const uint8_t* iv, size_t iv_bytes, const uint8_t* aad, size_t aad_bytes,
                   GcmState* run) const {
        cpu_.gcm_begin(state_.get(), iv, iv_bytes, aad, aad_bytes, run);
    }
    void gcm_combine(uint8_t sum[16], const uint8_t segment[16], uint64_t blocks) const {
        cpu_.gcm_combine(state_.get(), sum, segment, blocks);
    }
    void gcm_finish(const GcmState* run, uint64_t aad_bytes, uint64_t text_bytes,
                    uint8_t tag[16]) const {
        cpu_.gcm_finish(state_.get(), run, aad_bytes, text_bytes, tag);
    }

protected:
    std::unique_ptr<State> tweak_;

private:
    std::string target_;
    const warpseal::CpuCipher& cpu_;
    State state_;
};

// Host memory through the GPU's pipeline. The portable path computes the parts that the GPU does
// not (the IV, the AAD, the tag), as in the engine.
class CudaPath : public Path {
public:
    CudaPath(const warpseal::CudaCipher& cuda, const warpseal::CpuCipher& cpu, const Text& key)
        : Path("cuda", cpu, key), cuda_(cuda), state_(cuda, key.data()) {}
    void sweep(warpseal_mode mode, Direction direction, const uint8_t* iv, uint64_t first_block,
               const uint8_t* in, uint8_t* out, size_t bytes) const override {
        const bool chained = (mode == WARPSEAL_CBC || mode == WARPSEAL_CFB) && bytes != 0 &&
                             bytes % cuda_.block_bytes == 0;
        Text last(chained ? cuda_.block_bytes : 0), previous(last.size(), 0xa5);
        if (chained) std::memcpy(last.data(), in + bytes - last.size(), last.size());
        size_t done = 0;
        EXPECT_EQ(warpseal::gpu_backend()->sweep_host(0, cuda_, state_.get(), mode, direction, iv,
                                                      first_block, in, out, bytes, &done,
                                                      chained ? previous.data() : nullptr),
                  WARPSEAL_OK);
        EXPECT_EQ(done, bytes);
        EXPECT_EQ(previous, last);
    }
    void tweak(const Text& key) override { tweak_ = std::make_unique<State>(cuda_, key.data()); }
    void xts(Direction direction, const warpseal::XtsUnits& units, const uint8_t* in, uint8_t* out,
             size_t bytes) const override {
        size_t done = 0;
        EXPECT_EQ(warpseal::gpu_backend()->xts_host(0, cuda_, state_.get(), tweak_->get(),
                                                    direction, units, in, out, bytes, &done),
                  WARPSEAL_OK);
        EXPECT_EQ(done, bytes);
    }
    void gcm_segment(Direction direction, GcmState* run, uint64_t first_block, const uint8_t* in,
                     uint8_t* out, size_t bytes) const override {
        size_t done = 0;
        EXPECT_EQ(warpseal::gpu_backend()->gcm_host(0, cuda_, state_.get(), direction, run,
                                                    first_block, in, out, bytes, &done),
                  WARPSEAL_OK);
        EXPECT_EQ(done, bytes);
    }
    uint64_t batch(warpseal_mode mode, Direction direction, const warpseal_batch& batch, uint64_t,
                   uint64_t) const override {
        uint64_t done = 0, not_authentic = 0;
        EXPECT_EQ(warpseal::gpu_backend()->batch_host(
                      0, cuda_, batch.keys == nullptr ? state_.get() : nullptr, mode, direction,
                      batch, &done, &not_authentic),
                  WARPSEAL_OK);
        EXPECT_EQ(done, batch.message_count);
        return not_authentic;
    }
    bool takes_ranges() const override { return false; }
    bool sweeps(warpseal_mode mode, Direction direction) const override {
        return cuda_.sweep[mode][static_cast<int>(direction)] != nullptr;
    }
    bool batches(warpseal_mode mode, Direction direction) const override {
        return cuda_.batch[mode][static_cast<int>(direction)] != nullptr;
    }

private:
    const warpseal::CudaCipher& cuda_;
    State state_;
};

// Returns the backend of that cipher on that target, or null if there is none.
inline std::unique_ptr<Path> path(const std::string& target, const std::string& cipher,
                                  const Text& key) {
    const warpseal::CpuCipher* portable =
        warpseal::cpu_cipher(warpseal::Target::portable, cipher.c_str());
    const std::vector<warpseal_target_info> all = targets::all();
    for (size_t i = 0; i < all.size() && portable != nullptr; ++i) {
        if (all[i].name != target) continue;
        if (static_cast<warpseal::Target>(i) == warpseal::Target::cuda) {
            const warpseal::CudaCipher* cuda = warpseal::gpu_backend()->cipher(cipher.c_str());
            return cuda == nullptr ? nullptr : std::make_unique<CudaPath>(*cuda, *portable, key);
        }
        const warpseal::CpuCipher* cpu =
            warpseal::cpu_cipher(static_cast<warpseal::Target>(i), cipher.c_str());
        return cpu == nullptr ? nullptr : std::make_unique<Path>(target, *cpu, key);
    }
    return nullptr;
}

// Returns a path for each usable target, under that key. A cipher must be on all of them.
inline std::vector<std::unique_ptr<Path>> paths(const std::string& cipher, const Text& key) {
    std::vector<std::unique_ptr<Path>> out;
    for (const warpseal_target_info& target : targets::all()) {
        if (!target.usable) continue;
        out.push_back(path(target.name, cipher, key));
        if (out.back() != nullptr) continue;
        ADD_FAILURE() << cipher << " has no backend on " << target.name;
        out.pop_back();
    }
    return out;
}

}  // namespace tests
