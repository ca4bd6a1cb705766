// Every way through the door (backends/ops.h) to compute one thing: the CPU targets and the GPU behind one face, for comparing them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/ops.h"
#include "guard.h"
#include "reference/cipher.h"
#include "targets.h"

namespace tests {

using reference::Text;
using warpseal::Direction;
using warpseal::GcmRun;

// One cipher, key and target. Failing calls are test failures.
class Path {
public:
    Path(std::string target, const warpseal::CpuCipher& cpu, const Text& key)
        : target_(std::move(target)), cpu_(cpu), state_(cpu.state_bytes) {
        // Flush against the guard page and then read-only: calls must not touch anything around the state, nor change it.
        cpu_state_ = state_.end() - (cpu.state_bytes + 63) / 64 * 64;
        cpu.expand(cpu_state_, key.data());
        state_.read_only();
    }
    virtual ~Path() = default;
    const std::string& target() const { return target_; }
    const warpseal::CpuCipher& cpu() const { return cpu_; }

    virtual void sweep(warpseal_mode mode, Direction direction, const uint8_t* iv, uint64_t first_block, const uint8_t* in, uint8_t* out,
                       size_t bytes) const {
        cpu_.sweep[mode][static_cast<int>(direction)](cpu_state_, iv, first_block, in, out, bytes);
    }
    virtual void gcm_piece(Direction direction, GcmRun* run, uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes) const {
        cpu_.gcm_piece[static_cast<int>(direction)](cpu_state_, run, first_block, in, out, bytes);
    }
    // Messages [first, first + count) under the path's key, or under batch.keys; returns how many did not verify.
    virtual uint64_t batch(warpseal_mode mode, Direction direction, const warpseal_batch& batch, uint64_t first, uint64_t count) const {
        return cpu_.batch[mode][static_cast<int>(direction)](batch.keys == nullptr ? cpu_state_ : nullptr, batch, first, count);
    }
    virtual bool takes_ranges() const { return true; }  // whether `batch` heeds first and count

    void gcm_begin(const uint8_t* iv, size_t iv_bytes, const uint8_t* aad, size_t aad_bytes, GcmRun* run) const {
        cpu_.gcm_begin(cpu_state_, iv, iv_bytes, aad, aad_bytes, run);
    }
    void gcm_combine(uint8_t sum[16], const uint8_t part[16], uint64_t blocks) const { cpu_.gcm_combine(cpu_state_, sum, part, blocks); }
    void gcm_finish(const GcmRun* run, uint64_t aad_bytes, uint64_t text_bytes, uint8_t tag[16]) const {
        cpu_.gcm_finish(cpu_state_, run, aad_bytes, text_bytes, tag);
    }

private:
    std::string target_;
    const warpseal::CpuCipher& cpu_;
    Guarded state_;
    uint8_t* cpu_state_;
};

// Host memory through the GPU's pipeline. What the GPU has no part in (the IV, the AAD, the tag) the portable path does, as in the engine.
class CudaPath : public Path {
public:
    CudaPath(const warpseal::CudaCipher& cuda, const warpseal::CpuCipher& cpu, const Text& key)
        : Path("cuda", cpu, key), cuda_(cuda), state_(cuda.state_bytes) {
        cuda_state_ = state_.end() - (cuda.state_bytes + 63) / 64 * 64;
        cuda.expand(cuda_state_, key.data());
        state_.read_only();
    }
    void sweep(warpseal_mode mode, Direction direction, const uint8_t* iv, uint64_t first_block, const uint8_t* in, uint8_t* out,
               size_t bytes) const override {
        size_t done = 0;
        EXPECT_EQ(warpseal::cuda_door()->sweep_host(0, cuda_, cuda_state_, mode, direction, iv, first_block, in, out, bytes, &done),
                  WARPSEAL_OK);
        EXPECT_EQ(done, bytes);
    }
    void gcm_piece(Direction direction, GcmRun* run, uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes) const override {
        size_t done = 0;
        EXPECT_EQ(warpseal::cuda_door()->gcm_host(0, cuda_, cuda_state_, direction, run, first_block, in, out, bytes, &done), WARPSEAL_OK);
        EXPECT_EQ(done, bytes);
    }
    uint64_t batch(warpseal_mode mode, Direction direction, const warpseal_batch& batch, uint64_t, uint64_t) const override {
        uint64_t done = 0, not_authentic = 0;
        EXPECT_EQ(warpseal::cuda_door()->batch_host(0, cuda_, batch.keys == nullptr ? cuda_state_ : nullptr, mode, direction, batch, &done,
                                                    &not_authentic),
                  WARPSEAL_OK);
        EXPECT_EQ(done, batch.message_count);
        return not_authentic;
    }
    bool takes_ranges() const override { return false; }

private:
    const warpseal::CudaCipher& cuda_;
    Guarded state_;
    uint8_t* cuda_state_;
};

// A path for each usable target, under that key.
inline std::vector<std::unique_ptr<Path>> paths(const std::string& cipher, const Text& key) {
    std::vector<std::unique_ptr<Path>> out;
    const warpseal::CpuCipher* portable = warpseal::cpu_cipher(warpseal::Target::portable, cipher.c_str());
    if (portable == nullptr) {
        ADD_FAILURE() << cipher << " has no portable form";
        return out;
    }
    const std::vector<warpseal_target_info> all = targets::all();
    for (size_t i = 0; i < all.size(); ++i) {
        if (!all[i].usable) continue;
        const auto target = static_cast<warpseal::Target>(i);
        if (target == warpseal::Target::cuda) {
            const warpseal::CudaCipher* cuda = warpseal::cuda_door()->cipher(cipher.c_str());
            if (cuda != nullptr) out.push_back(std::make_unique<CudaPath>(*cuda, *portable, key));
        } else if (const warpseal::CpuCipher* cpu = warpseal::cpu_cipher(target, cipher.c_str())) {
            out.push_back(std::make_unique<Path>(all[i].name, *cpu, key));
        }
    }
    return out;
}

}  // namespace tests
