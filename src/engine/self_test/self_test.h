// Self-tests of each path before its first use. They compare digests of its outputs with those of
// the reference implementations in tests/reference.
#pragma once

#include "backends/block_loops.h"
#include "backends/gpu_backend.h"

namespace warpseal {

// Return WARPSEAL_OK or WARPSEAL_SELF_TEST_FAILED. A cipher without stored digests fails.
warpseal_status test_cores(const CpuCipher& cipher, warpseal_mode mode, Direction direction);

// Tests only the block loops of block_loops.h, if the cipher has one for the mode: chunks of a
// message, each continuing the feedback of the one before. test_cores must have passed, as its
// paths give the expected output.
warpseal_status test_loops(const CpuCipher& cipher, const CpuBlockLoops& loops, warpseal_mode mode,
                           Direction direction);

// Test the GPU path from host memory and the path on device memory. `known` is the published
// example of the cipher header.
// They also return WARPSEAL_NO_DEVICE and WARPSEAL_OUT_OF_MEMORY, which say nothing about
// correctness.
warpseal_status test_through_gpu(const GpuBackend& backend, int device, const CudaCipher& cipher,
                                 const KnownAnswer& known, warpseal_mode mode, Direction direction);
warpseal_status test_device_memory(const GpuBackend& backend, int device, const CudaCipher& cipher,
                                   const KnownAnswer& known, warpseal_mode mode,
                                   Direction direction);

// True if the self-test has digests of the cipher. scripts/self-test-digests adds them.
bool has_digests(const char* cipher);

}  // namespace warpseal
