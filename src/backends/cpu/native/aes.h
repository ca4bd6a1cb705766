// AES by the x86 AES instructions, for any vector width: FIPS 197, with the sweeps of ECB, CTR and GCM (SP 800-38A, SP 800-38D).
#pragma once

#include <immintrin.h>

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

    WARPSEAL_INLINE static __m128i key_at(const uint8_t* keys, int round) {
        return _mm_load_si128(reinterpret_cast<const __m128i*>(keys + 16 * round));
    }

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

    // The counter of the next block: the block with its last word as a number, so that 32-bit additions count.
    struct Counter {
        __m128i next;

        WARPSEAL_INLINE explicit Counter(const Block<4>& block)
            : next(swap(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block.word)))) {}
        WARPSEAL_INLINE static __m128i swap(__m128i x) { return _mm_shuffle_epi8(x, order()); }
        WARPSEAL_INLINE static __m128i order() { return _mm_set_epi8(12, 13, 14, 15, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0); }
        WARPSEAL_INLINE uint32_t low() const { return static_cast<uint32_t>(_mm_extract_epi32(next, 3)); }
        WARPSEAL_INLINE void add(uint32_t blocks) { next = _mm_add_epi32(next, _mm_set_epi32(static_cast<int>(blocks), 0, 0, 0)); }

        // n vectors of counter blocks, plus key.
        template <int n>
        WARPSEAL_INLINE void blocks(V (&s)[n], __m128i key) const {
            alignas(64) static constexpr uint32_t lane_number[16] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3};
            const V first = W::add32(W::broadcast(next), W::load(reinterpret_cast<const uint8_t*>(lane_number)));
            WARPSEAL_UNROLL
            for (int u = 0; u < n; ++u)
                s[u] = W::shuffle(W::add32(first, W::broadcast(_mm_set_epi32(u * W::lanes, 0, 0, 0))), order()) ^ W::broadcast(key);
        }
    };

    // Two rounds of counter mode for nothing: among blocks that differ only in the last four bytes, byte 15 reaches one column in round 1
    // and the others do not, and round 2 adds up what each byte gives. So the state after round 2 is a function of byte 15 plus a function
    // of the rest: the states of 256 counters, kept, serve every later 256 with one addition.
    struct EarlyRounds {
        static constexpr size_t blocks = 256;
        SecretOf<uint8_t[16 * blocks]> state;
        __m128i first;

        WARPSEAL_INLINE static __m128i first_of(const Schedule& schedule, __m128i next) {
            const __m128i aligned = _mm_andnot_si128(_mm_set_epi32(255, 0, 0, 0), next);
            const __m128i whitened = Counter::swap(aligned) ^ key_at(schedule.forward, 0);
            return _mm_aesenc_si128(_mm_aesenc_si128(whitened, key_at(schedule.forward, 1)), key_at(schedule.forward, 2));
        }

        WARPSEAL_INLINE EarlyRounds(const Schedule& schedule, Counter counter) : first(first_of(schedule, counter.next)) {
            counter.next = _mm_andnot_si128(_mm_set_epi32(255, 0, 0, 0), counter.next);
            for (size_t i = 0; i < blocks; i += group_blocks, counter.add(group_blocks)) {
                V s[at_once];
                counter.blocks(s, key_at(schedule.forward, 0));
                WARPSEAL_UNROLL
                for (int u = 0; u < at_once; ++u) {
                    s[u] =
                        W::encrypt(W::encrypt(s[u], W::broadcast(key_at(schedule.forward, 1))), W::broadcast(key_at(schedule.forward, 2)));
                    W::store(state.value + 16 * i + u * W::bytes, s[u]);
                }
            }
        }

        // The states of the counters that begin at `counter`, a multiple of group_blocks.
        WARPSEAL_INLINE void states(const Schedule& schedule, const Counter& counter, V (&s)[at_once]) const {
            const V difference = W::broadcast(first ^ first_of(schedule, counter.next));
            const uint8_t* const from = state.value + 16 * (counter.low() % blocks);
            WARPSEAL_UNROLL
            for (int u = 0; u < at_once; ++u) s[u] = W::load(from + u * W::bytes) ^ difference;
        }
    };
    static constexpr size_t early_rounds_pay_bytes = 12288;

    // A group of states after `done` rounds to text; `summed` (if any) is a group of ciphertext for the sum.
    template <Sum summing, int done>
    WARPSEAL_INLINE static void group(const Schedule& schedule, const typename Hash::Key* hash, __m128i& sum, V (&s)[at_once],
                                      const uint8_t* summed, const uint8_t* in, uint8_t* out) {
        typename Hash::Products products;
        const uint8_t* const power = summing == Sum::none ? nullptr : hash->from(group_blocks);
        // The sum so far enters with the first vector, which comes last, when that sum is ready.
        const auto add = [&](int u) __attribute__((always_inline)) {
            if (summing == Sum::none || u > at_once) return;
            const size_t at = static_cast<size_t>(u % at_once) * W::bytes;
            const V element = Hash::reflect(W::load(summed + at));
            products.add(u == at_once ? element ^ W::lowest_lane(sum) : element, W::load(power + at));
        };
        middle_rounds<at_once, done + 1>(
            schedule, s, [&](int step) __attribute__((always_inline)) { add(step + 1); });
        WARPSEAL_UNROLL
        for (int u = rounds - done; u <= at_once; ++u) add(u);
        if (summing != Sum::none) sum = products.sum();
        const V k = W::broadcast(key_at(schedule.forward, rounds));
        WARPSEAL_UNROLL
        for (int u = 0; u < at_once; ++u) W::store(out + u * W::bytes, W::encrypt_last(s[u], k ^ W::load(in + u * W::bytes)));
    }

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

    // `bytes` bytes, at most a group and not necessarily whole blocks.
    template <Sum summing>
    WARPSEAL_INLINE static void rest(const Schedule& schedule, const typename Hash::Key* hash, __m128i& sum, Place& at, size_t bytes) {
        if (bytes == 0) return;
        at.bytes -= bytes;
        const uint8_t* power = summing == Sum::none ? nullptr : hash->from((bytes + 15) / 16);
        typename Hash::Products products;
        V carried = W::lowest_lane(sum);
        const auto add = [&](Sum when, V text) __attribute__((always_inline)) {
            if (when != summing) return;
            products.add(Hash::reflect(text) ^ carried, W::load(power));
            carried = W::zero();
            power += W::bytes;
        };
        const auto vectors = [&]<int n>() __attribute__((always_inline)) {
            for (; bytes >= n * W::bytes; bytes -= n * W::bytes, at.in += n * W::bytes, at.out += n * W::bytes) {
                V text[n];
                WARPSEAL_UNROLL
                for (int u = 0; u < n; ++u) add(Sum::of_input, text[u] = W::load(at.in + u * W::bytes));
                crypt(schedule, at.counter, text);
                at.counter.add(n * W::lanes);
                WARPSEAL_UNROLL
                for (int u = 0; u < n; ++u) {
                    W::store(at.out + u * W::bytes, text[u]);
                    add(Sum::of_output, text[u]);
                }
            }
        };
        vectors.template operator()<4>();
        vectors.template operator()<1>();
        if (bytes != 0) {
            V text[1] = {W::load_part(at.in, bytes)};
            add(Sum::of_input, text[0]);
            crypt(schedule, at.counter, text);
            W::store_part(at.out, text[0], bytes);
            add(Sum::of_output, summing == Sum::of_output ? W::load_part(at.out, bytes) : text[0]);
            at.counter.add(static_cast<uint32_t>((bytes + 15) / 16));
            at.in += bytes, at.out += bytes;
        }
        if (summing != Sum::none) sum = products.sum();
    }

    // All whole groups; states(counter, s) gives those after `done` rounds. The sum of output lags a group behind, so that it has work
    // while the group's own rounds run.
    template <Sum summing, int done, class States>
    WARPSEAL_INLINE static void groups(const Schedule& schedule, const typename Hash::Key* hash, __m128i& sum, Place& at,
                                       const States& states) {
        const auto next = [&]<Sum now>() __attribute__((always_inline)) {
            V s[at_once];
            states(at.counter, s);
            group<now, done>(schedule, hash, sum, s, now == Sum::of_output ? at.out - group_bytes : at.in, at.in, at.out);
            at.counter.add(group_blocks);
            at.advance(group_bytes);
        };
        if (at.bytes < group_bytes) return;
        if (summing == Sum::of_output) next.template operator()<Sum::none>();
        while (at.bytes >= group_bytes) next.template operator()<summing>();
        if (summing == Sum::of_output) sum = Hash::absorb(*hash, sum, at.out - group_bytes, group_bytes);
    }

    // `bytes` bytes from counter block `first`, of which 32 bits count.
    template <Sum summing>
    static void count32(const Schedule& schedule, const typename Hash::Key* hash, __m128i& sum, const Block<4>& first, const uint8_t* in,
                        uint8_t* out, size_t bytes) {
        Place at{Counter(first), in, out, bytes};
        if (bytes >= early_rounds_pay_bytes) {
            rest<summing>(schedule, hash, sum, at, 16 * ((0 - at.counter.low()) % group_blocks));
            const EarlyRounds early(schedule, at.counter);
            groups<summing, 2>(
                schedule, hash, sum,
                at, [&](const Counter& counter, V(&s)[at_once]) __attribute__((always_inline)) { early.states(schedule, counter, s); });
        } else {
            groups<summing, 0>(
                schedule, hash, sum, at, [&](const Counter& counter, V(&s)[at_once]) __attribute__((always_inline)) {
                    counter.blocks(s, key_at(schedule.forward, 0));
                });
        }
        rest<summing>(schedule, hash, sum, at, at.bytes);
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
