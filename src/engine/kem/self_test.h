// Known-answer tests of key encapsulation for each path before its first use.
#pragma once

#include "backends/gpu_backend.h"
#include "backends/kem_catalogue.h"

namespace warpseal {

// SHAKE256 digests of all outputs of each operation; the inputs come from SHAKE256 too. tests/kem
// checks them against the reference implementation.
struct KemReferenceDigest {
    const char* set;
    uint8_t digest[kem_operation_count][16];
};
const KemReferenceDigest* kem_reference_digest(const char* set);

// Number of items: more than a vector has lanes, so that both a full and a partial group are
// tested.
inline constexpr uint64_t kem_self_test_items = 9;
// Fills `bytes` bytes with SHAKE256 of the set's name, the operation and `what`.
enum class KemTestInput : uint8_t { coins = 0, public_keys = 1 };
void kem_self_test_input(const KemSet& set, KemOperation operation, KemTestInput what, uint8_t* out,
                         size_t bytes);

// Returns WARPSEAL_OK, WARPSEAL_SELF_TEST_FAILED or WARPSEAL_OUT_OF_MEMORY. Compares digests of the
// outputs.
// The inputs of decapsulation are keys and ciphertexts of the same path; every other ciphertext has
// a bit flipped.
warpseal_status test_kem(const KemSet& set, const CpuKem& test_case, KemOperation operation);
// The same with prepared keys: each item under its own, and all items under one.
warpseal_status test_prepared_kem(const KemSet& set, const CpuKem& test_case, KemKeyKind kind);
// Test the GPU path from host memory and the path on device memory.
// They also return WARPSEAL_NO_DEVICE and WARPSEAL_OUT_OF_MEMORY, which say nothing about
// correctness.
warpseal_status test_kem_through_gpu(const GpuBackend& backend, int device, const KemSet& set,
                                     const CudaKem& test_case, KemOperation operation);
warpseal_status test_kem_device_memory(const GpuBackend& backend, int device, const KemSet& set,
                                       const CudaKem& test_case, KemOperation operation);

}  // namespace warpseal
