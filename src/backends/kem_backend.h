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

// A public key encapsulates, a secret key decapsulates.
enum class KemKeyKind : uint8_t { public_key = 0, secret_key = 1 };
inline constexpr int kem_key_kind_count = 2;
constexpr KemOperation operation_of(KemKeyKind kind) {
    return kind == KemKeyKind::public_key ? KemOperation::encapsulate : KemOperation::decapsulate;
}
// The key that an operation other than `keypair` takes.
constexpr KemKeyKind kind_for(KemOperation operation) {
    return operation == KemOperation::encapsulate ? KemKeyKind::public_key : KemKeyKind::secret_key;
}

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

    // A prepared key is one key and all that depends on it alone (ML-KEM: the matrix, the public
    // key's hash), in 64-byte-aligned memory of so many bytes, a multiple of 64. It holds secrets.
    size_t (*prepared_bytes)(KemKeyKind kind);
    // Prepares a key. work: as for one item of the key's operation. Returns false if the key is
    // refused; it is then prepared too, and each of its items is refused.
    using Prepare = bool (*)(const uint8_t* key, void* prepared, void* work);
    Prepare prepare[kem_key_kind_count];
    // The key's operation as in `run`, with the same results. public_keys of a public key and
    // secret_keys of a secret key point to the prepared key, and their stride is 0.
    Run run_prepared[kem_key_kind_count];
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
