// One instance of CTR_DRBG: SP 800-90A Rev. 1, 10.2.1, with AES-256 and without derivation
// function. Entropy input of 48 bytes must have full entropy.
#pragma once

#include "backends/gpu_backend.h"
#include "platform/secret_memory.h"

namespace warpseal {

// Not thread-safe.
class CtrDrbg {
public:
    static constexpr size_t key_bytes = 32, block_bytes = 16;
    // Most requests between two reseeds: table 3 of the standard.
    static constexpr uint64_t reseed_interval = uint64_t{1} << 48;

    explicit CtrDrbg(const CpuCipher& aes, uint64_t interval = reseed_interval)
        : aes_(aes), interval_(interval) {}

    // Returns false if out of memory. A forked child's copy is zeroized, if the kernel can.
    bool allocate();
    // False before instantiate() and, if the kernel can, in a forked child.
    bool instantiated() const;
    bool needs_reseed() const;

    // seed_material: entropy input XOR personalization string. entropy: also with the additional
    // input XORed in. 48 bytes each.
    void instantiate(const uint8_t* seed_material);
    void reseed(const uint8_t* entropy);

    // Writes the output of one request of at most drbg::max_request_bytes bytes.
    void generate(uint8_t* out, size_t bytes);

    // Key and V + 1 of the next request, for a caller that computes its output elsewhere and then
    // calls skip().
    void next(uint8_t key[key_bytes], uint8_t counter[block_bytes]) const;
    // Ends a request of that many bytes without output.
    void skip(size_t bytes);

private:
    struct State;
    State& state() { return *static_cast<State*>(memory_.data()); }
    const State& state() const { return *static_cast<const State*>(memory_.data()); }
    uint8_t* schedule();
    void keystream(uint8_t* out, size_t bytes);
    void advance(size_t bytes);
    void update(const uint8_t* provided);

    const CpuCipher& aes_;
    const uint64_t interval_;
    SecretMemory memory_;  // a State, then the expanded Key
};

// Known-answer test of an instance before its first use (section 11.3). Returns WARPSEAL_OK,
// WARPSEAL_SELF_TEST_FAILED or WARPSEAL_OUT_OF_MEMORY.
warpseal_status test_ctr_drbg(const CpuCipher& aes);

}  // namespace warpseal
