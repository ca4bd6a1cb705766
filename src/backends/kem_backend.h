// Backend interface for key encapsulation. Not in cipher_backend.h, which every object of every
// cipher includes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cipher_backend.h"
#include "kem/params.h"
#include "warpseal/kem.h"  // warpseal_kem_batch

namespace warpseal {

struct KemSet;  // an entry of kem_catalogue.h

enum class KemOperation : uint8_t { keypair = 0, encapsulate = 1, decapsulate = 2 };
inline constexpr int kem_operation_count = 3;

// Returns items [first, first + count) as a batch.
inline warpseal_kem_batch sub_batch(const warpseal_kem_batch& batch, uint64_t first,
                                    uint64_t count) {
    warpseal_kem_batch batch_slice = batch;
    const auto move = [&](auto*& at, uint64_t stride) {
        if (at != nullptr) at += first * stride;
    };
    batch_slice.count = count;
    move(batch_slice.public_keys, batch_slice.public_key_stride);
    move(batch_slice.secret_keys, batch_slice.secret_key_stride);
    move(batch_slice.ciphertexts, batch_slice.ciphertext_stride);
    move(batch_slice.shared_secrets, batch_slice.shared_secret_stride);
    move(batch_slice.coins, batch_slice.coins_stride);
    move(batch_slice.statuses, 1);
    return batch_slice;
}

// One parameter set on one CPU target. The functions are pure: they do not allocate or lock, and
// use less than 8 KiB of stack.
struct CpuKem {
    const kem::Params* params;  // null for another scheme than NTRU
    // Preferred number of items in a call (lanes of a vector, keys inverted together). Any number
    // works, and gives the same bytes.
    uint32_t group[kem_operation_count];
    // Returns the bytes of 64-byte-aligned memory that a call on up to `count` items needs. It
    // holds secrets, and its owner must zeroize it.
    size_t (*work_bytes)(KemOperation operation, uint64_t count);

    // Processes items [first, first + count) of the batch with the given coins. The engine has
    // checked the arguments. Writes a status for each item if batch.statuses is set. Returns the
    // number of items without a result.
    using Run = uint64_t (*)(const warpseal_kem_batch& batch, uint64_t first, uint64_t count,
                             void* work);
    Run run[kem_operation_count];
};

// Returns a parameter set by name. Null if there is no such set, or if the target has no
// implementation of its own (aesni, vaes256).
const CpuKem* cpu_kem(Target target, const char* name);
// True if this machine's CPU supports the target's key encapsulation. It needs more than the
// ciphers do (vaes512: AVX-512 VNNI).
bool cpu_has_kem(Target target);

// One parameter set on a GPU. Every pointer in the batch is a device pointer. Calls are
// asynchronous on `stream` of the current device.
struct CudaKem {
    const KemSet* set;
    // Returns the bytes of device memory that a batch of up to `count` items needs. It holds
    // secrets, and its owner must zeroize it.
    size_t (*work_bytes)(KemOperation operation, uint64_t count);
    // in_flight: number of items that this GPU processes at about this time, including those of the
    // batch. Small numbers are processed with the least latency, large numbers with the least work.
    // The results are the same. The engine has checked the arguments. Writes a status for each item
    // if batch.statuses is set; the outputs of an item without a result are zeros in any case.
    using Run = warpseal_status (*)(const warpseal_kem_batch& batch, uint64_t in_flight, void* work,
                                    void* stream);
    Run run[kem_operation_count];
};

const CudaKem* cuda_kem(const char* name);

}  // namespace warpseal
