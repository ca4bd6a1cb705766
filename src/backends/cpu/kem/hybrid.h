// X25519 as a key encapsulation mechanism and its hybrids with ML-KEM-768, on batches on one core:
// each half on a group of items, then the combiner.
#pragma once

#include "backends/cpu/kem/group_table.h"
#include "backends/cpu/kem/mlkem_hash.h"
#include "backends/cpu/kem/x25519_batch.h"
#include "backends/kem_backend.h"
#include "kem/hybrid_params.h"

// ML-KEM on the same target: its array of CpuKem, in the order of kem::mlkem_sets.
extern "C" const warpseal::CpuKem WARPSEAL_MLKEM[warpseal::kem::mlkem_set_count];

namespace warpseal::cpu {
namespace {

template <class Target, const kem::HybridParams& set>
struct HybridOperations {
    using Params = kem::HybridParams;
    using Word = typename Target::KeccakWord;
    static constexpr int group = x25519_group, lanes = hash_lanes<Word>;
    static constexpr bool with_mlkem = set.mlkem != nullptr;
    static constexpr bool is_xwing = set.combiner == kem::Combiner::xwing;
    static_assert(!with_mlkem || set.mlkem == &kem::mlkem768);
    static constexpr int mlkem_number = 1;  // of kem::mlkem_sets
    // Offset of X25519's half, which follows ML-KEM's.
    static constexpr size_t half(size_t (kem::MlKemParams::*bytes)() const) {
        return with_mlkem ? (kem::mlkem768.*bytes)() : 0;
    }
    static constexpr size_t in_public_key = half(&kem::MlKemParams::public_key_bytes),
                            in_secret_key = half(&kem::MlKemParams::secret_key_bytes),
                            in_ciphertext = half(&kem::MlKemParams::ciphertext_bytes),
                            in_keypair_coins = with_mlkem ? kem::MlKemParams::keypair_coins : 0,
                            in_coins = with_mlkem ? kem::MlKemParams::encapsulation_coins : 0,
                            in_secret = with_mlkem ? 32 : 0;
    static constexpr size_t xwing_items = is_xwing ? group : 1;

    // Memory of a group. X-Wing's keys in their long form, and the secrets before its combiner.
    struct Group {
        typename Target::Work x25519;
        Word state[25];
        alignas(64) uint8_t seeds[xwing_items][Params::expanded_bytes];
        alignas(64) uint8_t public_keys[xwing_items][kem::mlkem768.public_key_bytes() + 32];
        alignas(64) uint8_t secret_keys[xwing_items][kem::mlkem768.secret_key_bytes() + 32];
        alignas(64) uint8_t secrets[xwing_items][64];
        int32_t statuses[group];
    };
    static_assert(sizeof(Group) % 64 == 0);

    // A prepared key of X25519; that of ML-KEM follows it. A public key has no scalar. The point of
    // a secret key is for X-Wing's combiner.
    struct Prepared {
        alignas(64) uint8_t scalar[32], point[32];

        uint8_t* mlkem() { return reinterpret_cast<uint8_t*>(this + 1); }
    };
    static_assert(sizeof(Prepared) % 64 == 0);
    static Prepared& prepared_key(uint8_t* key) { return *reinterpret_cast<Prepared*>(key); }

    static X25519Input input(const uint8_t* at, uint64_t stride) { return {at, stride}; }

    // Run an operation of ML-KEM on the first half of what the batch names. Set the statuses.
    static void run_mlkem(KemOperation operation, const warpseal_kem_batch& batch, Group& memory) {
        run_mlkem([&] { return WARPSEAL_MLKEM[mlkem_number].run[static_cast<int>(operation)]; },
                  batch, memory);
    }
    static void run_prepared_mlkem(KemKeyKind kind, const warpseal_kem_batch& batch,
                                   Group& memory) {
        warpseal_kem_batch first = batch;
        uint8_t*& key = kind == KemKeyKind::public_key ? first.public_keys : first.secret_keys;
        key = prepared_key(key).mlkem();
        run_mlkem([&] { return WARPSEAL_MLKEM[mlkem_number].run_prepared[static_cast<int>(kind)]; },
                  first, memory);
    }
    template <class Which>
    static void run_mlkem(const Which& which, const warpseal_kem_batch& batch, Group& memory) {
        if constexpr (with_mlkem) {
            warpseal_kem_batch first = batch;
            first.statuses = memory.statuses;
            which()(first, 0, first.count, &memory + 1);
        } else {
            memset(memory.statuses, 0, sizeof memory.statuses);
        }
    }

    // ---- both halves, side by side ----

    static void keypairs(const warpseal_kem_batch& batch, Group& memory) {
        const auto count = static_cast<int>(batch.count);
        run_mlkem(KemOperation::keypair, batch, memory);
        const X25519Input scalars{batch.coins + in_keypair_coins, batch.coins_stride};
        Target::multiply_base(scalars, {batch.public_keys + in_public_key, batch.public_key_stride},
                              count, memory.x25519);
        const X25519Output to{batch.secret_keys + in_secret_key, batch.secret_key_stride};
        for (int i = 0; i < count; ++i) memcpy(to[i], scalars[i], 32);
    }
    // X25519's half. points: of the public keys.
    static void encapsulate_x25519(const warpseal_kem_batch& batch, X25519Input points,
                                   Group& memory) {
        const auto count = static_cast<int>(batch.count);
        const X25519Input scalars{batch.coins + in_coins, batch.coins_stride};
        Target::multiply_base(scalars, {batch.ciphertexts + in_ciphertext, batch.ciphertext_stride},
                              count, memory.x25519);
        Target::multiply(scalars, points,
                         {batch.shared_secrets + in_secret, batch.shared_secret_stride}, count);
    }
    static void decapsulate_x25519(const warpseal_kem_batch& batch, X25519Input scalars) {
        Target::multiply(scalars, {batch.ciphertexts + in_ciphertext, batch.ciphertext_stride},
                         {batch.shared_secrets + in_secret, batch.shared_secret_stride},
                         static_cast<int>(batch.count));
    }
    static X25519Input points_of(const warpseal_kem_batch& batch) {
        return {batch.public_keys + in_public_key, batch.public_key_stride};
    }
    static X25519Input scalars_of(const warpseal_kem_batch& batch) {
        return {batch.secret_keys + in_secret_key, batch.secret_key_stride};
    }

    // ---- X-Wing ----

    // Derives d, z and the scalar of each item from its seed, and the long form of its keys.
    static warpseal_kem_batch expanded(const warpseal_kem_batch& batch, const uint8_t* seeds,
                                       uint64_t stride, Group& memory) {
        const auto count = static_cast<int>(batch.count);
        for (int first = 0; first < count; first += lanes) {
            const int some = count - first < lanes ? count - first : lanes;
            WordSponge<Word, words_of_shake256> sponge(memory.state);
            sponge.absorb_messages(
                [&](int i) { return input(seeds, stride)[first + (i < some ? i : 0)]; }, 4);
            sponge.finish(kem::keccak::shake_suffix);
            sponge.write([&](int i) { return memory.seeds[first + i]; }, 0,
                         Params::expanded_bytes / 8, some);
        }
        warpseal_kem_batch out = batch;
        out.coins = memory.seeds[0];
        out.coins_stride = sizeof memory.seeds[0];
        out.public_keys = memory.public_keys[0];
        out.public_key_stride = sizeof memory.public_keys[0];
        out.secret_keys = memory.secret_keys[0];
        out.secret_key_stride = sizeof memory.secret_keys[0];
        keypairs(out, memory);
        return out;
    }
    // Both secrets of a group, for the combiner.
    static warpseal_kem_batch with_two_secrets(warpseal_kem_batch batch, Group& memory) {
        batch.shared_secrets = memory.secrets[0];
        batch.shared_secret_stride = sizeof memory.secrets[0];
        return batch;
    }
    // SHA3-256 of ML-KEM's secret, X25519's, its ciphertext and public key, and the label \.//^\.
    // points: of the public keys.
    static void combine(const warpseal_kem_batch& batch, X25519Input points, Group& memory) {
        constexpr uint64_t label = 0x5c5e2f2f2e5c;
        const auto count = static_cast<int>(batch.count);
        for (int first = 0; first < count; first += lanes) {
            const int some = count - first < lanes ? count - first : lanes;
            const auto item = [&](int i) { return first + (i < some ? i : 0); };
            WordSponge<Word, words_of_sha3_256> sponge(memory.state);
            sponge.absorb_messages([&](int i) { return memory.secrets[item(i)]; }, 8);
            sponge.absorb_messages(
                [&](int i) {
                    return input(batch.ciphertexts + in_ciphertext,
                                 batch.ciphertext_stride)[item(i)];
                },
                4);
            sponge.absorb_messages([&](int i) { return points[item(i)]; }, 4);
            sponge.finish(Word{} + (label | uint64_t{kem::keccak::sha3_suffix} << 48));
            sponge.write(
                [&](int i) {
                    return X25519Output{batch.shared_secrets,
                                        batch.shared_secret_stride}[first + i];
                },
                0, 4, some);
        }
    }

    // ---- statuses ----

    // Zeroizes outputs of refused items and sets their statuses. secrets: those of X25519. An item
    // is refused if that is zero, or by ML-KEM. Returns how many are refused. Constant time.
    static uint64_t finish(const warpseal_kem_batch& batch, X25519Input secrets,
                           bool with_ciphertexts, const Group& memory) {
        uint64_t failed = 0;
        for (int i = 0; i < static_cast<int>(batch.count); ++i) {
            const auto status = static_cast<uint32_t>(memory.statuses[i]);
            const uint32_t refused =
                hidden_bit(is_zero_secret(secrets[i]) | (status | (0u - status)) >> 31);
            const auto kept = static_cast<uint8_t>(refused - 1);
            uint8_t* const secret =
                batch.shared_secrets + static_cast<uint64_t>(i) * batch.shared_secret_stride;
            for (size_t j = 0; j < set.shared_secret_bytes(); ++j)
                secret[j] = static_cast<uint8_t>(secret[j] & kept);
            uint8_t* const text =
                batch.ciphertexts + static_cast<uint64_t>(i) * batch.ciphertext_stride;
            for (size_t j = 0; with_ciphertexts && j < set.ciphertext_bytes(); ++j)
                text[j] = static_cast<uint8_t>(text[j] & kept);
            if (batch.statuses != nullptr)
                batch.statuses[i] =
                    static_cast<int32_t>(refused * uint32_t{WARPSEAL_INVALID_ARGUMENT});
            failed += refused;
        }
        return failed;
    }
    static uint32_t hidden_bit(uint32_t bit) {
        __asm__("" : "+r"(bit));
        return bit;
    }
    static X25519Input x25519_secrets(const warpseal_kem_batch& batch) {
        return {batch.shared_secrets + in_secret, batch.shared_secret_stride};
    }

    // ---- operations on a group ----

    static uint64_t keypair_some(const warpseal_kem_batch& batch, Group& memory) {
        if constexpr (is_xwing) {
            (void)expanded(batch, batch.coins, batch.coins_stride, memory);
            for (uint64_t i = 0; i < batch.count; ++i) {
                memcpy(batch.public_keys + i * batch.public_key_stride, memory.public_keys[i],
                       set.public_key_bytes());
                memcpy(batch.secret_keys + i * batch.secret_key_stride,
                       batch.coins + i * batch.coins_stride, Params::xwing_seed_bytes);
            }
        } else {
            keypairs(batch, memory);
        }
        if (batch.statuses != nullptr) memset(batch.statuses, 0, batch.count * sizeof(int32_t));
        return 0;
    }
    // mlkem(both): runs ML-KEM's half.
    template <class MlKem>
    static uint64_t encapsulate_under(const warpseal_kem_batch& batch, Group& memory,
                                      const MlKem& mlkem, X25519Input points) {
        const warpseal_kem_batch both = is_xwing ? with_two_secrets(batch, memory) : batch;
        mlkem(both);
        encapsulate_x25519(both, points, memory);
        if constexpr (is_xwing) combine(batch, points, memory);
        return finish(batch, x25519_secrets(both), true, memory);
    }
    static uint64_t encapsulate_some(const warpseal_kem_batch& batch, Group& memory) {
        return encapsulate_under(
            batch, memory,
            [&](const warpseal_kem_batch& both) {
                run_mlkem(KemOperation::encapsulate, both, memory);
            },
            points_of(batch));
    }
    static uint64_t encapsulate_prepared_some(const warpseal_kem_batch& batch, Group& memory) {
        return encapsulate_under(batch, memory,
                                 [&](const warpseal_kem_batch& both) {
                                     run_prepared_mlkem(KemKeyKind::public_key, both, memory);
                                 },
                                 {prepared_key(batch.public_keys).point, 0});
    }
    // points: of the public keys, for X-Wing.
    template <class MlKem>
    static uint64_t decapsulate_under(const warpseal_kem_batch& batch, Group& memory,
                                      const MlKem& mlkem, X25519Input scalars, X25519Input points) {
        const warpseal_kem_batch both = is_xwing ? with_two_secrets(batch, memory) : batch;
        mlkem(both);
        decapsulate_x25519(both, scalars);
        if constexpr (is_xwing) combine(batch, points, memory);
        return finish(batch, x25519_secrets(both), false, memory);
    }
    static uint64_t decapsulate_some(const warpseal_kem_batch& batch, Group& memory) {
        warpseal_kem_batch keys = batch;
        if constexpr (is_xwing)
            keys = expanded(batch, batch.secret_keys, batch.secret_key_stride, memory);
        return decapsulate_under(
            batch, memory,
            [&](warpseal_kem_batch both) {
                both.secret_keys = keys.secret_keys;
                both.secret_key_stride = keys.secret_key_stride;
                run_mlkem(KemOperation::decapsulate, both, memory);
            },
            scalars_of(keys), is_xwing ? points_of(keys) : X25519Input{});
    }
    static uint64_t decapsulate_prepared_some(const warpseal_kem_batch& batch, Group& memory) {
        const Prepared& key = prepared_key(batch.secret_keys);
        return decapsulate_under(batch, memory,
                                 [&](const warpseal_kem_batch& both) {
                                     run_prepared_mlkem(KemKeyKind::secret_key, both, memory);
                                 },
                                 {key.scalar, 0}, {key.point, 0});
    }

    // ---- prepared keys ----

    static bool prepare_mlkem(KemKeyKind kind, const uint8_t* key, Prepared& out, Group& memory) {
        if constexpr (!with_mlkem) return true;
        return WARPSEAL_MLKEM[mlkem_number].prepare[static_cast<int>(kind)](key, out.mlkem(),
                                                                            &memory + 1);
    }
    // The scalar 2^254, which clamping makes of 0, takes points of low order alone to 0.
    static bool has_low_order(const Prepared& key, Group& memory) {
        memset(memory.seeds[0], 0, 32);
        Target::multiply({memory.seeds[0], 0}, {key.point, 0}, {memory.secrets[0], 0}, 1);
        return is_zero_secret(memory.secrets[0]) != 0;
    }
    static bool prepare_public(const uint8_t* public_key, void* prepared, void* work) {
        auto& memory = *static_cast<Group*>(work);
        auto& out = *static_cast<Prepared*>(prepared);
        memset(out.scalar, 0, sizeof out.scalar);
        memcpy(out.point, public_key + in_public_key, sizeof out.point);
        const bool accepted = prepare_mlkem(KemKeyKind::public_key, public_key, out, memory);
        return !has_low_order(out, memory) && accepted;
    }
    static bool prepare_secret(const uint8_t* secret_key, void* prepared, void* work) {
        auto& memory = *static_cast<Group*>(work);
        auto& out = *static_cast<Prepared*>(prepared);
        memset(out.point, 0, sizeof out.point);
        if constexpr (is_xwing) {
            warpseal_kem_batch one{};
            one.count = 1;
            (void)expanded(one, secret_key, 0, memory);
            secret_key = memory.secret_keys[0];
            memcpy(out.point, memory.public_keys[0] + in_public_key, sizeof out.point);
        }
        memcpy(out.scalar, secret_key + in_secret_key, sizeof out.scalar);
        return prepare_mlkem(KemKeyKind::secret_key, secret_key, out, memory);
    }
    static size_t prepared_bytes(KemKeyKind kind) {
        return sizeof(Prepared) +
               (with_mlkem ? WARPSEAL_MLKEM[mlkem_number].prepared_bytes(kind) : 0);
    }

    template <uint64_t (*some)(const warpseal_kem_batch&, Group&)>
    static uint64_t run(const warpseal_kem_batch& batch, uint64_t first, uint64_t count,
                        void* memory) {
        uint64_t failed = 0;
        for (uint64_t done = 0; done < count; done += group)
            failed +=
                some(sub_batch(batch, first + done, count - done < group ? count - done : group),
                     *static_cast<Group*>(memory));
        return failed;
    }
    // ML-KEM's memory follows the group.
    static size_t work_bytes(KemOperation operation, uint64_t) {
        size_t mlkem = 0;
        for (int i = 0; with_mlkem && i < kem_operation_count; ++i) {
            const size_t bytes = WARPSEAL_MLKEM[mlkem_number].work_bytes(
                is_xwing ? static_cast<KemOperation>(i) : operation, group);
            if (bytes > mlkem) mlkem = bytes;
        }
        return sizeof(Group) + mlkem;
    }

    static constexpr CpuKem backend = table_of<HybridOperations, 6144>(group);
};

}  // namespace
}  // namespace warpseal::cpu
