// Known answers for each path before its first use: what comes out of a target is held to answers
// composed slowly from single blocks.
#pragma once

#include "backends/block_loops.h"
#include "backends/gpu_backend.h"

namespace warpseal {

// Whether ECB of one block gives the published example of the cipher header, both ways: what makes
// a cipher fit to be a reference.
bool gives_known_answer(const CpuCipher& cipher);

// WARPSEAL_OK or WARPSEAL_SELF_TEST_FAILED. `reference` gives single blocks and nothing else; it
// may be the subject itself.
warpseal_status test_cores(const CpuCipher& test_case, const CpuCipher& reference,
                           warpseal_mode mode, Direction direction);

// Of that the loops past the door alone, if there is one: pieces of a message, each from where the
// one before left the chain.
warpseal_status test_loops(const CpuCipher& test_case, const CpuBlockLoops& loops,
                           const CpuCipher& reference, warpseal_mode mode, Direction direction);

// The same through the GPU from host memory, and on device memory. Also WARPSEAL_NO_DEVICE and
// WARPSEAL_OUT_OF_MEMORY, which say nothing of the answers.
warpseal_status test_through_gpu(const GpuBackend& backend, int device, const CudaCipher& test_case,
                                 const CpuCipher& reference, warpseal_mode mode,
                                 Direction direction);
warpseal_status test_device_memory(const GpuBackend& backend, int device,
                                   const CudaCipher& test_case, const CpuCipher& reference,
                                   warpseal_mode mode, Direction direction);

}  // namespace warpseal
