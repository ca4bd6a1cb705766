// ML-KEM operations on batches, on one core (FIPS 203, sections 6 and 7): a group of items at a
// time.
#pragma once

#include "backends/cpu/kem/group_table.h"
#include "backends/cpu/kem/mlkem_group.h"
#include "backends/kem_backend.h"

namespace warpseal::cpu {
namespace {

template <class Target, const kem::MlKemParams& set>
struct MlKemOperations {
    using Group = MlKemGroup<Target, set>;
    using Word = typename Target::KeccakWord;
    using PreparedKey = typename Group::PreparedKey;
    using PreparedSecret = typename Group::PreparedSecret;
    static_assert(sizeof(PreparedKey) % 64 == 0 && sizeof(PreparedSecret) % 64 == 0);
    static constexpr int lanes = Group::lanes;
    static constexpr int public_key_words = static_cast<int>(set.public_key_bytes() / 8),
                         ciphertext_words = static_cast<int>(set.ciphertext_bytes() / 8);
    static_assert(set.public_key_bytes() % 8 == 0 && set.ciphertext_bytes() % 8 == 0);

    // Items [first, first + count) of a batch; idle lanes repeat the first.
    struct Items {
        const warpseal_kem_batch& batch;
        uint64_t first;
        int count;
        uint64_t at(int i) const { return first + static_cast<uint64_t>(i < count ? i : 0); }
        uint8_t* public_key(int i) const {
            return batch.public_keys + at(i) * batch.public_key_stride;
        }
        uint8_t* secret_key(int i) const {
            return batch.secret_keys + at(i) * batch.secret_key_stride;
        }
        uint8_t* key_in_secret(int i) const { return secret_key(i) + set.vector_bytes(); }
        uint8_t* hash_in_secret(int i) const { return key_in_secret(i) + set.public_key_bytes(); }
        uint8_t* ciphertext(int i) const {
            return batch.ciphertexts + at(i) * batch.ciphertext_stride;
        }
        uint8_t* shared_secret(int i) const {
            return batch.shared_secrets + at(i) * batch.shared_secret_stride;
        }
        const uint8_t* coins(int i) const { return batch.coins + at(i) * batch.coins_stride; }
        // Zeroizes outputs of an item if `refused` is 1, and sets its status. Constant time.
        void finish(int i, uint32_t refused, uint8_t* output, size_t bytes, uint8_t* other,
                    size_t other_bytes) const {
            clear(refused, output, bytes);
            clear(refused, other, other_bytes);
            if (batch.statuses != nullptr)
                batch.statuses[at(i)] =
                    static_cast<int32_t>(refused * uint32_t{WARPSEAL_INVALID_ARGUMENT});
        }
        // bytes: a multiple of 8.
        static void clear(uint32_t refused, uint8_t* memory, size_t bytes) {
            static_assert(set.ciphertext_bytes() % 8 == 0);
            const uint64_t kept = uint64_t{kem::mlkem::opaque(refused)} - 1;
            for (size_t i = 0; i + 8 <= bytes; i += 8) {
                uint64_t word;
                memcpy(&word, memory + i, 8);
                word &= kept;
                memcpy(memory + i, &word, 8);
            }
        }
    };

    // H of what at(lane) returns, to hash.
    template <class At>
    static void hash_public_keys(Group& group, const At& at, int count) {
        WordSponge<Word, words_of_sha3_256> sponge(group.state);
        sponge.absorb_messages(at, public_key_words);
        sponge.finish(kem::keccak::sha3_suffix);
        sponge.write([&](int i) { return group.hash[i]; }, 0, 4, count);
    }
    // G of message and hash: the shared secret, and the seed of the noise.
    template <class Hash>
    static void derive(Group& group, const Hash& hash, int count) {
        WordSponge<Word, words_of_sha3_512> sponge(group.state);
        sponge.absorb_messages([&](int i) { return group.message[i]; }, 4);
        sponge.absorb_messages(hash, 4);
        sponge.finish(kem::keccak::sha3_suffix);
        sponge.write([&](int i) { return group.key[i]; }, 0, 4, count);
        sponge.write([&](int i) { return group.seed[i]; }, 4, 4, count);
    }

    static uint64_t keypair_some(const Items& items, Group& group) {
        const int count = items.count;
        WordSponge<Word, words_of_sha3_512> sponge(group.state);
        sponge.absorb_messages([&](int i) { return items.coins(i); }, 4);
        sponge.finish(Word{} +
                      (static_cast<uint64_t>(set.k) | uint64_t{kem::keccak::sha3_suffix} << 8));
        sponge.write([&](int i) { return group.rho[i]; }, 0, 4, count);
        sponge.write([&](int i) { return group.seed[i]; }, 4, 4, count);
        WARPSEAL_NOW_PUBLIC(group.rho, sizeof group.rho);
        group.make_keys(
            count, [&](int i) { return items.public_key(i); },
            [&](int i) { return items.secret_key(i); });
        hash_public_keys(
            group, [&](int i) { return items.public_key(i); }, count);
        for (int i = 0; i < count; ++i) {
            memcpy(items.key_in_secret(i), items.public_key(i), set.public_key_bytes());
            memcpy(items.hash_in_secret(i), group.hash[i], 32);
            memcpy(items.hash_in_secret(i) + 32, items.coins(i) + 32, 32);
            items.finish(i, 0, nullptr, 0, nullptr, 0);
        }
        return 0;
    }

    // Encapsulation and decapsulation take keys of each item, or one prepared key. keys,
    // secret_keys: as MlKemGroup takes them. hash, rejection: return 32 bytes of item i's key.
    template <class Keys, class Hash>
    static uint64_t encapsulate_under(const Items& items, Group& group, const Keys& keys,
                                      const Hash& hash) {
        const int count = items.count;
        for (int i = 0; i < lanes; ++i) memcpy(group.message[i], items.coins(i), 32);
        derive(group, hash, count);
        uint32_t refused[lanes];
        group.encrypt(
            count, keys, [&](int i) { return items.ciphertext(i); }, refused);
        uint64_t failed = 0;
        for (int i = 0; i < count; ++i) {
            memcpy(items.shared_secret(i), group.key[i], 32);
            items.finish(i, refused[i], items.shared_secret(i), 32, items.ciphertext(i),
                         set.ciphertext_bytes());
            failed += refused[i];
        }
        return failed;
    }
    static uint64_t encapsulate_some(const Items& items, Group& group) {
        const auto public_key = [&](int i) { return items.public_key(i); };
        hash_public_keys(group, public_key, items.count);
        return encapsulate_under(items, group, public_key,
                                 [&](int i) { return group.hash[i < items.count ? i : 0]; });
    }
    static uint64_t encapsulate_prepared_some(const Items& items, Group& group) {
        const auto& key = *reinterpret_cast<const PreparedKey*>(items.batch.public_keys);
        return encapsulate_under(items, group, key, [&](int) { return key.hash; });
    }

    template <class SecretKeys, class Keys, class Hash, class Rejection>
    static uint64_t decapsulate_under(const Items& items, Group& group,
                                      const SecretKeys& secret_keys, const Keys& keys,
                                      const Hash& hash, const Rejection& rejection,
                                      const uint32_t (&refused)[lanes]) {
        const int count = items.count;
        group.decrypt(count, secret_keys, [&](int i) { return items.ciphertext(i); });
        derive(group, hash, count);
        {
            WordSponge<Word, words_of_shake256> sponge(group.state);
            sponge.absorb_messages(rejection, 4);
            sponge.absorb_messages([&](int i) { return items.ciphertext(i); }, ciphertext_words);
            sponge.finish(kem::keccak::shake_suffix);
            sponge.write([&](int i) { return group.rejected[i]; }, 0, 4, count);
        }
        uint32_t ignored[lanes];  // keys with such coefficients are not refused here
        group.encrypt(
            count, keys, [&](int i) { return group.ciphertext[i]; }, ignored);
        uint64_t failed = 0;
        for (int i = 0; i < count; ++i) {
            const uint32_t accept =
                0u - is_equal(group.ciphertext[i], items.ciphertext(i), set.ciphertext_bytes());
            uint8_t* const secret = items.shared_secret(i);
            for (int j = 0; j < 32; ++j)
                secret[j] = static_cast<uint8_t>((group.key[i][j] & accept) |
                                                 (group.rejected[i][j] & ~accept));
            items.finish(i, refused[i], secret, 32, nullptr, 0);
            failed += refused[i];
        }
        return failed;
    }
    static uint64_t decapsulate_some(const Items& items, Group& group) {
        const auto public_key = [&](int i) { return items.key_in_secret(i); };
        hash_public_keys(group, public_key, items.count);
        uint32_t refused[lanes];
        for (int i = 0; i < items.count; ++i)
            refused[i] = 1 - is_equal(group.hash[i], items.hash_in_secret(i), 32);
        return decapsulate_under(
            items, group, [&](int i) { return items.secret_key(i); }, public_key,
            [&](int i) { return items.hash_in_secret(i); },
            [&](int i) { return items.hash_in_secret(i) + 32; }, refused);
    }
    static uint64_t decapsulate_prepared_some(const Items& items, Group& group) {
        const auto& key = *reinterpret_cast<const PreparedSecret*>(items.batch.secret_keys);
        uint32_t refused[lanes];
        for (int i = 0; i < items.count; ++i) refused[i] = key.key.refused;
        return decapsulate_under(
            items, group, key, key.key, [&](int) { return key.key.hash; },
            [&](int) { return key.rejection; }, refused);
    }

    static bool prepare_public(const uint8_t* public_key, void* prepared, void* work) {
        auto& group = *static_cast<Group*>(work);
        auto& out = *static_cast<PreparedKey*>(prepared);
        hash_public_keys(
            group, [&](int) { return public_key; }, 1);
        memcpy(out.hash, group.hash[0], 32);
        group.prepare(public_key, out);
        return out.refused == 0;
    }
    static bool prepare_secret(const uint8_t* secret_key, void* prepared, void* work) {
        auto& group = *static_cast<Group*>(work);
        auto& out = *static_cast<PreparedSecret*>(prepared);
        const uint8_t* const public_key = secret_key + set.vector_bytes();
        const uint8_t* const hash = public_key + set.public_key_bytes();
        (void)prepare_public(public_key, &out.key, work);
        // The coefficients of the public key are not among the checks of a secret key.
        out.key.refused = 1 - is_equal(out.key.hash, hash, 32);
        group.read_vector(secret_key);
        memcpy(out.s, group.scratch, sizeof out.s);
        memcpy(out.rejection, hash + 32, 32);
        return out.key.refused == 0;
    }
    static size_t prepared_bytes(KemKeyKind kind) {
        return kind == KemKeyKind::public_key ? sizeof(PreparedKey) : sizeof(PreparedSecret);
    }
    // Returns 1 if the buffers are equal, else 0. Constant time.
    static uint32_t is_equal(const uint8_t* a, const uint8_t* b, size_t bytes) {
        return kem::mlkem::opaque((difference_of(a, b, bytes) - 1) >> 31);
    }

    template <uint64_t (*some)(const Items&, Group&)>
    static uint64_t run(const warpseal_kem_batch& batch, uint64_t first, uint64_t count,
                        void* memory) {
        uint64_t failed = 0;
        for (uint64_t done = 0; done < count; done += lanes)
            failed += some({batch, first + done,
                            static_cast<int>(count - done < lanes ? count - done : lanes)},
                           *static_cast<Group*>(memory));
        return failed;
    }
    static size_t work_bytes(KemOperation, uint64_t) { return sizeof(Group); }

    static constexpr CpuKem backend = table_of<MlKemOperations, 4096>(lanes);
};

}  // namespace
}  // namespace warpseal::cpu
