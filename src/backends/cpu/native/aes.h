// AES by the x86 AES instructions, for any vector width: FIPS 197, with the sweeps of ECB, CTR and GCM (SP 800-38A, SP 800-38D).
#pragma once

#include <immintrin.h>

#include "backends/cpu/native/counter.h"
#include "backends/cpu/native/ghash.h"
#include "backends/ops.h"
#include "ciphers/aes.h"
#include "core/block.h"
#include "core/secret.h"
#include "modes/gcm.h"

namespace warpseal::cpu {
namespace {

template <int key_bits, class W>
struct AesForm {
    using Cipher = ciphers::aes::Aes<key_bits>;
    using Hash = CarrylessHash<W>;
    using V = typename W::V;
    static constexpr int rounds = Cipher::rounds;
    static constexpr int at_once = W::vectors_at_once;
    static constexpr size_t group_blocks = at_once * W::lanes;
    static constexpr size_t group_bytes = 16 * group_blocks;

    struct Schedule {
        alignas(64) uint8_t forward[16 * (rounds + 1)];
        uint8_t inverse[16 * (rounds + 1)];  // of the equivalent inverse cipher (FIPS 197 5.3.5), in the order of use
    };

    static void expand(Schedule& schedule, const uint8_t* key) {
        SecretOf<uint32_t[4 * (rounds + 1)]> words;
        Cipher::expand(words.value, key, [](uint32_t word) {
            // With four equal columns the last round's ShiftRows moves nothing, and what is left of it is SubBytes.
            return static_cast<uint32_t>(
                _mm_cvtsi128_si32(_mm_aesenclast_si128(_mm_set1_epi32(static_cast<int>(word)), _mm_setzero_si128())));
        });
        memcpy(schedule.forward, words.value, sizeof schedule.forward);
        __m128i* const inverse = reinterpret_cast<__m128i*>(schedule.inverse);
        for (int r = 0; r <= rounds; ++r) {
            const __m128i k = key_at(schedule.forward, rounds - r);
            inverse[r] = r == 0 || r == rounds ? k : _mm_aesimc_si128(k);
        }
    }

    // Rounds `first` to the last but one of n vectors, with work between them.
    template <int n, int first, class Work>
    WARPSEAL_INLINE static void middle_rounds(const Schedule& schedule, V (&s)[n], const Work& work) {
        WARPSEAL_UNROLL
        for (int r = first; r < rounds; ++r) {
            const V k = W::broadcast(key_at(schedule.forward, r));
            WARPSEAL_UNROLL
            for (int u = 0; u < n; ++u) s[u] = W::encrypt(s[u], k);
            work(r - first);
        }
    }

    // ---- sweep

    template <class Mode, Direction direction>
    static void sweep(const Schedule& schedule, const Block<4>& iv, uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes) {
        if constexpr (Mode::keystream) {
            __m128i none{};
            keystream<Mode, Sum::none>(schedule, nullptr, none, Mode::mask(iv, first_block), in, out, bytes);
        } else {
            for (; bytes >= group_bytes; in += group_bytes, out += group_bytes, bytes -= group_bytes)
                blocks<Mode, direction, at_once>(schedule, in, out);
            for (; bytes >= W::bytes; in += W::bytes, out += W::bytes, bytes -= W::bytes) blocks<Mode, direction, 1>(schedule, in, out);
            if (bytes != 0) {
                SecretOf<uint8_t[W::bytes]> part;
                W::store(part.value, W::load_part(in, bytes));
                blocks<Mode, direction, 1>(schedule, part.value, part.value);
                memcpy(out, part.value, bytes);
            }
        }
    }

    // n vectors of blocks through a mode without a mask.
    template <class Mode, Direction direction, int n>
    WARPSEAL_INLINE static void blocks(const Schedule& schedule, const uint8_t* in, uint8_t* out) {
        constexpr bool encrypt = direction == Direction::encrypt;
        const uint8_t* const keys = encrypt ? schedule.forward : schedule.inverse;
        V s[n];
        V k = W::broadcast(key_at(keys, 0));
        WARPSEAL_UNROLL
        for (int u = 0; u < n; ++u) s[u] = Mode::before(W::load(in + u * W::bytes), W::zero()) ^ k;
        WARPSEAL_UNROLL
        for (int r = 1; r < rounds; ++r) {
            k = W::broadcast(key_at(keys, r));
            WARPSEAL_UNROLL
            for (int u = 0; u < n; ++u) s[u] = encrypt ? W::encrypt(s[u], k) : W::decrypt(s[u], k);
        }
        k = W::broadcast(key_at(keys, rounds));
        WARPSEAL_UNROLL
        for (int u = 0; u < n; ++u) {
            s[u] = encrypt ? W::encrypt_last(s[u], k) : W::decrypt_last(s[u], k);
            W::store(out + u * W::bytes, Mode::after(W::zero(), W::zero(), s[u]));
        }
    }

    // ---- keystream modes, with GHASH of the ciphertext in the gaps that AES leaves

    enum class Sum : uint8_t { none, of_input, of_output };

    using Counter = cpu::Counter<W>;
    using EarlyRounds = cpu::EarlyRounds<W>;
    using Running = typename Hash::Running;
    static constexpr size_t early_rounds_pay_bytes = 12288;

    // A group of states after `done` rounds to text; `summed` is a group of ciphertext for the sum, if there is one.
    template <Sum summing, int done>
    WARPSEAL_INLINE static void group(const Schedule& schedule, Running& running, V (&s)[at_once], const uint8_t* summed, const uint8_t* in,
                                      uint8_t* out) {
        __asm__ __volatile__(""
                             :
                             :
                             : "memory");  // keeps the loads of both kinds of group from being hoisted to where they part, and spilled
        middle_rounds<at_once, done + 1>(
            schedule, s, [&](int round) __attribute__((always_inline)) {
                if (summing != Sum::none && round % 2 == 0 && round < at_once) running.add(summed, round / 2);
            });
        if (summing != Sum::none) running.end_of_group();
        const V k = W::broadcast(key_at(schedule.forward, rounds));
        WARPSEAL_UNROLL
        for (int u = 0; u < at_once; ++u) W::store(out + u * W::bytes, W::encrypt_last(s[u], k ^ W::load(in + u * W::bytes)));
    }
    static_assert(at_once % 2 == 0 && at_once <= rounds - 2, "a step for each pair of vectors");

    // Where a sweep stands.
    struct Place {
        Counter counter;
        const uint8_t* in;
        uint8_t* out;
        size_t bytes;

        WARPSEAL_INLINE void advance(size_t n) { in += n, out += n, bytes -= n; }
    };

    // n vectors from a counter; `text` holds what comes in, and then what goes out.
    template <int n>
    WARPSEAL_INLINE static void crypt(const Schedule& schedule, const Counter& counter, V (&text)[n]) {
        V s[n];
        counter.blocks(s, key_at(schedule.forward, 0));
        middle_rounds<n, 1>(schedule, s, [](int) {});
        const V k = W::broadcast(key_at(schedule.forward, rounds));
        WARPSEAL_UNROLL
        for (int u = 0; u < n; ++u) text[u] = W::encrypt_last(s[u], k ^ text[u]);
    }

    // What is left: less than a group, and not necessarily whole blocks.
    template <Sum summing>
    WARPSEAL_INLINE static void rest(const Schedule& schedule, const typename Hash::Key* hash, __m128i& sum, Place& at) {
        if (at.bytes == 0) return;
        const uint8_t* power = summing == Sum::none ? nullptr : hash->from((at.bytes + 15) / 16);
        typename Hash::Products products;
        V carried = W::lowest_lane(sum);
        const auto add = [&](Sum when, V text) __attribute__((always_inline)) {
            if (when != summing) return;
            products.add(Hash::reflect(text) ^ carried, W::load(power));
            carried = W::zero();
            power += W::bytes;
        };
        // The next n vectors, of which the last few may be parts or empty.
        const auto vectors = [&]<int n>() __attribute__((always_inline)) {
            V text[n];
            WARPSEAL_UNROLL
            for (int u = 0; u < n; ++u) {
                text[u] = load_up_to(at.in, u * W::bytes, at.bytes);
                if (u * W::bytes < at.bytes) add(Sum::of_input, text[u]);
            }
            crypt(schedule, at.counter, text);
            at.counter.add(n * W::lanes);
            WARPSEAL_UNROLL
            for (int u = 0; u < n; ++u) {
                if (u * W::bytes >= at.bytes) break;
                store_up_to(at.out, u * W::bytes, at.bytes, text[u]);
                if (summing == Sum::of_output) add(Sum::of_output, load_up_to(at.out, u * W::bytes, at.bytes));
            }
            at.advance(n * W::bytes < at.bytes ? n * W::bytes : at.bytes);
        };
        while (at.bytes > 2 * W::bytes) vectors.template operator()<4>();
        if (at.bytes > W::bytes)
            vectors.template operator()<2>();
        else if (at.bytes != 0)
            vectors.template operator()<1>();
        if (summing != Sum::none) sum = products.sum();
    }

    // The vector at `from`, of a text that ends at `end`.
    WARPSEAL_INLINE static V load_up_to(const uint8_t* in, size_t from, size_t end) {
        if (from + W::bytes <= end) return W::load(in + from);
        return from < end ? W::load_part(in + from, end - from) : W::zero();
    }
    WARPSEAL_INLINE static void store_up_to(uint8_t* out, size_t from, size_t end, V v) {
        if (from + W::bytes <= end)
            W::store(out + from, v);
        else
            W::store_part(out + from, v, end - from);
    }

    // All whole groups. The sum of output lags a group behind, so that it has work while the group's own rounds run.
    template <Sum summing>
    WARPSEAL_INLINE static void groups(const Schedule& schedule, const typename Hash::Key* hash, __m128i& sum, Place& at,
                                       EarlyRounds* early) {
        if (at.bytes < group_bytes) return;
        Running running(hash, at.bytes / group_bytes - (summing == Sum::of_output), sum);
        const auto next = [&]<Sum now>() __attribute__((always_inline)) {
            V s[at_once];
            const uint8_t* const summed = now == Sum::of_output ? at.out - group_bytes : at.in;
            if (early && EarlyRounds::cover(at.counter)) {
                early->states(at.counter, s);
                group<now, 2>(schedule, running, s, summed, at.in, at.out);
            } else {
                at.counter.blocks(s, key_at(schedule.forward, 0));
                group<now, 0>(schedule, running, s, summed, at.in, at.out);
            }
            if (early) early->advance(schedule.forward, at.counter);
            at.counter.add(group_blocks);
            at.advance(group_bytes);
        };
        if (summing == Sum::of_output) next.template operator()<Sum::none>();
        while (at.bytes >= group_bytes) next.template operator()<summing>();
        if (summing != Sum::none) sum = running.sum();
        if (summing == Sum::of_output) sum = Hash::absorb(*hash, sum, at.out - group_bytes, group_bytes);
    }

    // `bytes` bytes from counter block `first`, of which 32 bits count.
    template <Sum summing>
    static void count32(const Schedule& schedule, const typename Hash::Key* hash, __m128i& sum, const Block<4>& first, const uint8_t* in,
                        uint8_t* out, size_t bytes) {
        Place at{Counter(first), in, out, bytes};
        if (bytes >= early_rounds_pay_bytes) {
            EarlyRounds early(schedule.forward, at.counter);
            groups<summing>(schedule, hash, sum, at, &early);
        } else {
            groups<summing>(schedule, hash, sum, at, nullptr);
        }
        rest<summing>(schedule, hash, sum, at);
    }

    // The same where more than 32 bits count: in stretches without a carry out of the last word.
    template <class Mode, Sum summing>
    static void keystream(const Schedule& schedule, const typename Hash::Key* hash, __m128i& sum, Block<4> counter, const uint8_t* in,
                          uint8_t* out, size_t bytes) {
        constexpr int counting = Mode::template counting_words<4>;
        while (bytes != 0) {
            size_t n = bytes;
            if (counting > 1) {
                const uint64_t until_carry = 16 * ((uint64_t{1} << 32) - swap_bytes(counter.word[3]));
                if (until_carry < n) n = until_carry;
            }
            count32<summing>(schedule, hash, sum, counter, in, out, n);
            counter = add_big_endian<counting>(counter, n / 16);
            in += n, out += n, bytes -= n;
        }
    }

    // ---- fold

    template <Direction direction>
    static void fold(const Schedule& schedule, const typename Hash::Key& hash, const Block<4>& j0, Block<4>& sum, uint64_t first_block,
                     const uint8_t* in, uint8_t* out, size_t bytes) {
        __m128i s = Hash::load(sum);
        keystream<modes::Gcm, direction == Direction::encrypt ? Sum::of_output : Sum::of_input>(
            schedule, &hash, s, modes::Gcm::mask(j0, first_block), in, out, bytes);
        Hash::store(sum, s);
    }
};

}  // namespace
}  // namespace warpseal::cpu
