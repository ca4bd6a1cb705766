// Leaf instances of a random generator: CTR_DRBG instances that serve one request each and are
// then discarded. drbg::max_leaves and GpuBackend::drbg_device describe how they divide an output.
#pragma once

#include "backends/gpu_backend.h"

namespace warpseal {

// AES-256 under the zero key of the blocks 1, 2 and 3, which is not secret.
struct InstantiationMask {
    uint8_t bytes[drbg::seed_bytes];
};
InstantiationMask instantiation_mask(const CpuCipher& aes, void* state);

// States of leaves in memory that the caller provides and zeroizes.
class Leaves {
public:
    static size_t bytes_for(uint64_t count);

    // memory: bytes_for(count) bytes.
    Leaves(uint8_t* memory, uint64_t count);
    uint8_t* seeds() { return seeds_; }  // count * drbg::seed_bytes bytes
    // Computes the states from the seeds (SP 800-90A 10.2.1.3.1).
    void instantiate(const InstantiationMask& mask);

    // Batches in CTR mode that write `bytes` bytes to `out`: the leaves with whole requests, and
    // the last leaf if its request is shorter. Either may have no messages.
    warpseal_batch whole(uint8_t* out, size_t bytes) const;
    warpseal_batch rest(uint8_t* out, size_t bytes) const;

private:
    warpseal_batch batch(uint64_t first, uint64_t count, size_t bytes, uint8_t* out) const;

    const uint64_t count_;
    uint8_t *const seeds_, *const keys_, *const counters_;
};

// Tests GpuBackend::drbg_device against a CPU target. Returns WARPSEAL_OK,
// WARPSEAL_SELF_TEST_FAILED, WARPSEAL_NO_DEVICE or WARPSEAL_OUT_OF_MEMORY.
warpseal_status test_drbg_device(const GpuBackend& backend, int device, const CudaCipher& cuda,
                                 const CpuCipher& cores);

}  // namespace warpseal
