// NTRU operations on batches, on one core. Items are hashed in groups; key generation also inverts
// in groups.
#pragma once

#include "backends/cpu/kem/hash.h"
#include "backends/kem_backend.h"
#include "core/secret.h"
#include "kem/ntru.h"

namespace warpseal::cpu {
namespace {

static_assert(WARPSEAL_OK == 0);
WARPSEAL_INLINE void set_status(const warpseal_kem_batch& batch, uint64_t i, int32_t status) {
    if (batch.statuses != nullptr) batch.statuses[i] = status;
}

// Zeroizes `memory` if `clear` is 1. Constant time.
WARPSEAL_INLINE void clear_if(uint32_t clear, uint8_t* memory, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) memory[i] = static_cast<uint8_t>(memory[i] & (clear - 1));
}

template <class Target, const kem::Params& set>
struct Operations {
    using Arithmetic = typename Target::template Arithmetic<set>;
    using KeccakWord = typename Target::KeccakWord;
    static constexpr int keypair_group = Target::keypair_group;
    static constexpr int lanes = hash_lanes<KeccakWord>;
    static constexpr size_t message = kem::message_bytes<set>, rejected = kem::rejected_bytes<set>;
    static constexpr size_t padded_message_bytes = (kem::padded_bytes(message) + 63) / 64 * 64,
                            padded_rejected_bytes = (kem::padded_bytes(rejected) + 63) / 64 * 64;

    struct EncapsulateMemory {
        kem::EncapsulateWork<Arithmetic, set> item;
        alignas(64) uint8_t messages[lanes][padded_message_bytes];
        uint8_t hashes[lanes][32];
    };
    struct DecapsulateMemory {
        kem::DecapsulateWork<Arithmetic, set> item;
        alignas(64) uint8_t messages[lanes][padded_message_bytes],
            rejected[lanes][padded_rejected_bytes];
        uint8_t hashes[2][lanes][32];
        uint32_t valid[lanes];
    };
    struct KeypairMemory {
        kem::KeypairWork<Arithmetic, set> work;
        // Only as many as a call has items, if those are fewer.
        kem::KeypairItem<set> items[keypair_group];
    };

    static size_t work_bytes(KemOperation operation, uint64_t count) {
        if (operation == KemOperation::encapsulate) return sizeof(EncapsulateMemory);
        if (operation == KemOperation::decapsulate) return sizeof(DecapsulateMemory);
        const uint64_t items = count < keypair_group ? count : keypair_group;
        return sizeof(KeypairMemory) - sizeof KeypairMemory::items +
               static_cast<size_t>(items) * sizeof(kem::KeypairItem<set>);
    }

    static uint64_t keypair(const warpseal_kem_batch& batch, uint64_t first, uint64_t count,
                            void* memory) {
        uint64_t failed = 0;
        for (uint64_t done = 0; done < count; done += keypair_group)
            failed += keypair_some(
                batch, first + done,
                static_cast<int>(count - done < keypair_group ? count - done : keypair_group),
                *static_cast<KeypairMemory*>(memory));
        return failed;
    }

    static uint64_t keypair_some(const warpseal_kem_batch& batch, uint64_t first, int count,
                                 KeypairMemory& memory) {
        const auto public_key = [&](int i) {
            return batch.public_keys + (first + i) * batch.public_key_stride;
        };
        const auto secret_key = [&](int i) {
            return batch.secret_keys + (first + i) * batch.secret_key_stride;
        };
        const auto coins = [&](int i) { return batch.coins + (first + i) * batch.coins_stride; };
        for (int i = 0; i < count; ++i)
            kem::begin_keypair<Arithmetic, set>(memory.items[i], coins(i), memory.work);
        kem::invert_group_s3<Arithmetic, set>(memory.items, count, memory.work, secret_key);
        kem::invert_group_sq<Arithmetic, set>(memory.items, count, memory.work, public_key,
                                              secret_key);
        uint64_t failed = 0;
        for (int i = 0; i < count; ++i) {
            memcpy(secret_key(i) + set.secret_key_bytes() - kem::Params::prf_key_bytes,
                   coins(i) + set.sample_coins(), kem::Params::prf_key_bytes);
            // These coins give no key pair; the status tells the caller.
            const uint32_t unusable = memory.items[i].unusable;
            clear_if(unusable, public_key(i), set.public_key_bytes());
            clear_if(unusable, secret_key(i), set.secret_key_bytes());
            failed += unusable;
            set_status(batch, first + i,
                       static_cast<int32_t>(unusable * WARPSEAL_INVALID_ARGUMENT));
        }
        return failed;
    }

    static uint64_t encapsulate(const warpseal_kem_batch& batch, uint64_t first, uint64_t count,
                                void* memory) {
        uint64_t failed = 0;
        for (uint64_t done = 0; done < count; done += lanes)
            failed += encapsulate_some(
                batch, first + done, static_cast<int>(count - done < lanes ? count - done : lanes),
                *static_cast<EncapsulateMemory*>(memory));
        return failed;
    }

    static uint64_t encapsulate_some(const warpseal_kem_batch& batch, uint64_t first, int count,
                                     EncapsulateMemory& memory) {
        for (int i = 0; i < count; ++i)
            kem::encapsulate<Arithmetic, set>(
                batch.coins + (first + i) * batch.coins_stride,
                batch.public_keys + (first + i) * batch.public_key_stride,
                batch.ciphertexts + (first + i) * batch.ciphertext_stride, memory.messages[i],
                memory.item);
        sha3_256<KeccakWord>(memory.hashes, memory.messages[0], padded_message_bytes, message,
                             count);
        uint64_t failed = 0;
        for (int i = 0; i < count; ++i) {
            uint8_t* const secret = batch.shared_secrets + (first + i) * batch.shared_secret_stride;
            memcpy(secret, memory.hashes[i], 32);
            bool well_formed = true;
            if constexpr (set.spare_bits() != 0)
                well_formed = kem::spare_bits<set>(batch.public_keys +
                                                   (first + i) * batch.public_key_stride) == 0;
            if (!well_formed) {
                memset(secret, 0, 32);
                memset(batch.ciphertexts + (first + i) * batch.ciphertext_stride, 0,
                       set.ciphertext_bytes());
                ++failed;
            }
            set_status(batch, first + i, well_formed ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT);
        }
        return failed;
    }

    static uint64_t decapsulate(const warpseal_kem_batch& batch, uint64_t first, uint64_t count,
                                void* memory) {
        for (uint64_t done = 0; done < count; done += lanes)
            decapsulate_some(batch, first + done,
                             static_cast<int>(count - done < lanes ? count - done : lanes),
                             *static_cast<DecapsulateMemory*>(memory));
        return 0;
    }

    static void decapsulate_some(const warpseal_kem_batch& batch, uint64_t first, int count,
                                 DecapsulateMemory& memory) {
        for (int i = 0; i < count; ++i) {
            const uint8_t* const ciphertext =
                batch.ciphertexts + (first + i) * batch.ciphertext_stride;
            const uint8_t* const secret_key =
                batch.secret_keys + (first + i) * batch.secret_key_stride;
            memory.valid[i] = kem::decapsulate<Arithmetic, set>(ciphertext, secret_key,
                                                                memory.messages[i], memory.item);
            kem::rejected_message<set>(memory.rejected[i], ciphertext, secret_key);
        }
        sha3_256<KeccakWord>(memory.hashes[0], memory.messages[0], padded_message_bytes, message,
                             count);
        sha3_256<KeccakWord>(memory.hashes[1], memory.rejected[0], padded_rejected_bytes, rejected,
                             count);
        for (int i = 0; i < count; ++i) {
            const uint32_t accept = 0u - memory.valid[i];
            uint8_t* const secret = batch.shared_secrets + (first + i) * batch.shared_secret_stride;
            for (int j = 0; j < 32; ++j)
                secret[j] = static_cast<uint8_t>((memory.hashes[0][i][j] & accept) |
                                                 (memory.hashes[1][i][j] & ~accept));
            set_status(batch, first + i, WARPSEAL_OK);
        }
    }

    // A prepared key is the key: little depends on it alone.
    static bool prepare_public(const uint8_t* key, void* prepared, void*) {
        memcpy(prepared, key, set.public_key_bytes());
        if constexpr (set.spare_bits() != 0) return kem::spare_bits<set>(key) == 0;
        return true;
    }
    static bool prepare_secret(const uint8_t* key, void* prepared, void*) {
        memcpy(prepared, key, set.secret_key_bytes());
        return true;
    }
    static size_t prepared_bytes(KemKeyKind kind) {
        const size_t bytes =
            kind == KemKeyKind::public_key ? set.public_key_bytes() : set.secret_key_bytes();
        return (bytes + 63) / 64 * 64;
    }

    // Stack that these functions may spill to; zeroized after each call.
    static constexpr size_t stack_bytes = 4096;
    static constexpr CpuKem backend = {
        &set,
        {keypair_group, lanes, lanes},
        work_bytes,
        {StackZeroizer<keypair, stack_bytes>::call, StackZeroizer<encapsulate, stack_bytes>::call,
         StackZeroizer<decapsulate, stack_bytes>::call},
        prepared_bytes,
        {StackZeroizer<prepare_public, stack_bytes>::call,
         StackZeroizer<prepare_secret, stack_bytes>::call},
        {StackZeroizer<encapsulate, stack_bytes>::call,
         StackZeroizer<decapsulate, stack_bytes>::call}};
};

}  // namespace
}  // namespace warpseal::cpu
