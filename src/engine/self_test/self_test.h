// Self-tests of each path before its first use. They compare a target's output with a reference
// built from single blocks.
#pragma once

#include "backends/block_loops.h"
#include "backends/gpu_backend.h"

namespace warpseal {

// True if ECB of one block gives the known-answer vector of the cipher header in both directions. A
// reference cipher must.
bool gives_known_answer(const CpuCipher& cipher);

// Returns WARPSEAL_OK or WARPSEAL_SELF_TEST_FAILED.
// `reference` is used for single blocks only, and may be the test case itself.
warpseal_status test_cores(const CpuCipher& test_case, const CpuCipher& reference,
                           warpseal_mode mode, Direction direction);

// Tests only the block loops of block_loops.h, if the cipher has one for the mode: chunks of a
// message, each continuing the feedback of the one before.
warpseal_status test_loops(const CpuCipher& test_case, const CpuBlockLoops& loops,
                           const CpuCipher& reference, warpseal_mode mode, Direction direction);

// Test the GPU path from host memory and the path on device memory.
// They also return WARPSEAL_NO_DEVICE and WARPSEAL_OUT_OF_MEMORY, which say nothing about
// correctness.
warpseal_status test_through_gpu(const GpuBackend& backend, int device, const CudaCipher& test_case,
                                 const CpuCipher& reference, warpseal_mode mode,
                                 Direction direction);
warpseal_status test_device_memory(const GpuBackend& backend, int device,
                                   const CudaCipher& test_case, const CpuCipher& reference,
                                   warpseal_mode mode, Direction direction);

}  // namespace warpseal
