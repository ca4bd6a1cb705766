// Self-tested paths of key encapsulation: the CPU targets and the GPUs that may run an operation.
#pragma once

#include "engine/engine_impl.h"

namespace warpseal {

// Finds the index in kem_sets. WARPSEAL_UNSUPPORTED: there is no set of that name, or the engine
// has GPUs alone and the set has no device code.
warpseal_status find_set(const Engine::Impl& impl, const char* name, int& number);

// Select the best CPU target that passes the self-test of an operation of the set with that index
// in kem_sets, or of AES-256 for coins. Missing self-tests run first.
warpseal_status tested_kem(Engine::Impl& impl, int set, KemOperation operation, const CpuKem*& out);
warpseal_status tested_coins(Engine::Impl& impl, const CpuCipher*& out);
// The CPU target of the key's operation, once its prepared keys have passed their self-test too.
// WARPSEAL_SELF_TEST_FAILED: they have not.
warpseal_status tested_prepared_kem(Engine::Impl& impl, int set, KemKeyKind kind,
                                    const CpuKem*& out);

// Open the engine's GPU of that index and test the path. WARPSEAL_NO_DEVICE and
// WARPSEAL_OUT_OF_MEMORY mean that this call cannot use it.
warpseal_status test_kem_gpu(Engine::Impl& impl, int set, KemOperation operation, Path path,
                             unsigned gpu, const CudaKem*& out);
warpseal_status test_coins_gpu(Engine::Impl& impl, unsigned gpu, Path path, const CudaCipher*& out);

}  // namespace warpseal
