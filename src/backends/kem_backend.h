// The door for key encapsulation: what the engine may ask of a backend. Apart from ops.h, which is
// compiled into each object of each cipher.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cipher_backend.h"
#include "kem/params.h"
#include "warpseal/kem.h"  // warpseal_kem_batch: the word both sides speak

namespace warpseal {

enum class KemOperation : uint8_t { keypair = 0, encapsulate = 1, decapsulate = 2 };
inline constexpr int kem_operation_count = 3;

// Items [first, first + count) as a batch of their own.
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

// What the coins of an item have of a generator of blocks of 16 bytes: whole ones.
inline size_t coins_bytes(const kem::Params& set, KemOperation operation) {
    return operation == KemOperation::keypair ? set.keypair_coins() : set.encapsulation_coins();
}
inline size_t drawn_coins_stride(const kem::Params& set, KemOperation operation) {
    return (coins_bytes(set, operation) + 15) / 16 * 16;
}

// One parameter set on one CPU target. All functions are pure: no allocation, no lock, less than 8
// KiB of stack.
struct CpuKem {
    const kem::Params* params;
    // Items of a batch that are best done in one call (lanes of a vector, keys inverted together);
    // any count works, and gives the same bytes.
    uint32_t group[kem_operation_count];
    // What a call on up to `count` items needs of 64-byte-aligned memory; it holds secrets, and its
    // owner wipes it.
    size_t (*work_bytes)(KemOperation operation, uint64_t count);

    // Items [first, first + count) of the batch, whole, with the coins given. Arguments were
    // checked by the engine: pointers, strides, that coins are there. Writes a status per item
    // where batch.statuses is set; returns how many items have none of their results.
    using Run = uint64_t (*)(const warpseal_kem_batch& batch, uint64_t first, uint64_t count,
                             void* work);
    Run run[kem_operation_count];
};

// The set by name on that target; null if there is no such set, or the target has no way of its own
// (aesni, vaes256).
const CpuKem* cpu_kem(Target target, const char* name);
// Whether this machine's CPU can run that target's key encapsulation, which asks for more than its
// ciphers do (vaes512: AVX-512 VNNI).
bool cpu_has_kem(Target target);

// One parameter set on a GPU. Every pointer in the batch is a device pointer. Asynchronous on
// `stream` of the current device.
struct CudaKem {
    const kem::Params* params;
    // What a batch of up to `count` items needs of device memory; it holds secrets, and its owner
    // wipes it.
    size_t (*work_bytes)(KemOperation operation, uint64_t count);
    // in_flight: how many items this GPU is to do at about this time, those of the batch among
    // them. Where they are few, each is done in the least time; where they are many, all in the
    // least work. The bytes are the same.
    using Run = warpseal_status (*)(const warpseal_kem_batch& batch, uint64_t in_flight, void* work,
                                    void* stream);
    Run run[kem_operation_count];
};

const CudaKem* cuda_kem(const char* name);

}  // namespace warpseal
