// Known answers of NTRU for each path before its first use.
#pragma once

#include "backends/gpu_backend.h"

namespace warpseal {

// What SHAKE256 makes of all outputs of some operations, whose inputs SHAKE256 makes too. tests/kem
// holds them to the twin.
struct KemReferenceDigest {
    const char* set;
    uint8_t digest[kem_operation_count][16];
};
const KemReferenceDigest* kem_reference_digest(const char* set);

// How many items; more than a vector has lanes, so that a whole group of a core's and a part of one
// are seen.
inline constexpr uint64_t kem_self_test_items = 9;
// Fills `bytes` bytes: SHAKE256 of the name, the operation and `what`.
enum class KemTestInput : uint8_t { coins = 0, public_keys = 1 };
void kem_self_test_input(const kem::Params& set, KemOperation operation, KemTestInput what,
                         uint8_t* out, size_t bytes);

// WARPSEAL_OK, WARPSEAL_SELF_TEST_FAILED or WARPSEAL_OUT_OF_MEMORY. Key generation and
// encapsulation are held to their answers; decapsulation to what it makes of keys and ciphertexts
// of the same path, every other one of them with a bit flipped.
warpseal_status test_kem(const CpuKem& test_case, KemOperation operation);
// The same through a GPU from host memory, and on device memory. Also WARPSEAL_NO_DEVICE and
// WARPSEAL_OUT_OF_MEMORY, which say nothing of the answers.
warpseal_status test_kem_through_gpu(const GpuBackend& backend, int device,
                                     const CudaKem& test_case, KemOperation operation);
warpseal_status test_kem_device_memory(const GpuBackend& backend, int device,
                                       const CudaKem& test_case, KemOperation operation);

}  // namespace warpseal
