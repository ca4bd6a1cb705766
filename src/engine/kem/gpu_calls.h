// Key encapsulation on GPUs: items of a call in host memory.
#pragma once

#include <vector>

#include "engine/engine_impl.h"

namespace warpseal {

// GPUs that a call uses, by index, and the implementation there.
struct KemGpus {
    const CudaKem* kem = nullptr;
    const CudaCipher* aes = nullptr;
    unsigned numbers[most_gpus] = {};
    unsigned count = 0;
};

// Returns true if a call should use GPUs.
bool gpu_pays(Engine::Impl& impl, int set, KemOperation operation, uint64_t count);
// Selects and tests the GPUs of a call. draws: true if the call draws coins.
warpseal_status kem_gpus(Engine::Impl& impl, int set, KemOperation operation, uint64_t count,
                         bool draws, KemGpus& out);
// Runs the call and returns the ranges left for the CPU. seed: for drawn coins; null if the batch
// brings its coins. Adds the number of items without a result to `failed`.
std::vector<KemRange> kem_on_gpus(Engine::Impl& impl, const KemGpus& gpus, KemOperation operation,
                                  const warpseal_kem_batch& batch, const uint8_t* seed,
                                  uint64_t& failed);

}  // namespace warpseal
