// AES in counter modes, CTR and GCM, with GHASH of the ciphertext interleaved with the rounds (SP
// 800-38A 6.5, SP 800-38D 6.4 and 6.5).
#pragma once

#include "backends/cpu/x86/aes_rounds.h"
#include "backends/cpu/x86/counter.h"
#include "backends/cpu/x86/ghash.h"
#include "core/block.h"

namespace warpseal::cpu {
namespace {

template <class Aes>
struct AesKeystream {
    using W = typename Aes::W;
    using V = typename Aes::V;
    using Schedule = typename Aes::Schedule;
    using Hash = CarrylessHash<W>;
    static constexpr int rounds = Aes::rounds;
    static constexpr int at_once = Aes::at_once;
    static constexpr size_t group_blocks = Aes::group_blocks;
    static constexpr size_t group_bytes = Aes::group_bytes;

    enum class Sum : uint8_t { none, of_input, of_output };

    using Counter = cpu::Counter<W>;
    using EarlyRounds = cpu::EarlyRounds<W>;
    using Running = typename Hash::Running;
    static constexpr size_t early_rounds_pay_bytes = 12288;

    // Completes a group whose states have `done` rounds, and XORs it with the text. `summed` is a
    // group of ciphertext for GHASH, if there is one.
    template <Sum summing, int done>
    WARPSEAL_INLINE static void group(const Schedule& schedule, Running& running, V (&s)[at_once],
                                      const uint8_t* summed, const uint8_t* in, uint8_t* out) {
        // Prevents the compiler from hoisting the loads of both kinds of group
        // above the branch between them, where it would spill them.
        __asm__ __volatile__("" : : : "memory");
        Aes::template middle_rounds<Direction::encrypt, done + 1>(
            schedule, s, [&](int round) __attribute__((always_inline)) {
                if (summing != Sum::none && round % 2 == 0 && round < at_once)
                    running.add(summed, round / 2);
            });
        if (summing != Sum::none) running.end_of_group();
        const V k = W::broadcast(key_at(schedule.forward, rounds));
        WARPSEAL_UNROLL
        for (int u = 0; u < at_once; ++u)
            W::store(out + u * W::bytes, W::encrypt_last(s[u], k ^ W::load(in + u * W::bytes)));
    }
    static_assert(at_once % 2 == 0 && at_once <= rounds - 2, "a step for each pair of vectors");

    // Position of a sweep in its text.
    struct Position {
        Counter counter;
        const uint8_t* in;
        uint8_t* out;
        size_t bytes;

        WARPSEAL_INLINE void advance(size_t n) { in += n, out += n, bytes -= n; }
    };

    // Processes n vectors from a counter. `text` is the input and the output.
    template <int n>
    WARPSEAL_INLINE static void crypt(const Schedule& schedule, const Counter& counter,
                                      V (&text)[n]) {
        V s[n];
        counter.blocks(s, key_at(schedule.forward, 0));
        Aes::template middle_rounds<Direction::encrypt>(schedule, s);
        const V k = W::broadcast(key_at(schedule.forward, rounds));
        WARPSEAL_UNROLL
        for (int u = 0; u < n; ++u) text[u] = W::encrypt_last(s[u], k ^ text[u]);
    }

    // Processes at most small_message_limit_bytes of whole blocks, in registers only. Advances the
    // counter block at `counter`. Returns false and does nothing if the counter might carry out of
    // its last 32 bits.
    template <size_t small_message_limit_bytes>
    WARPSEAL_INLINE static bool small(const Schedule& schedule, uint8_t* counter, const uint8_t* in,
                                      uint8_t* out, size_t bytes) {
        constexpr int n = small_message_limit_bytes / W::bytes;
        Counter at(load_one(counter));
        if (at.low > ~uint32_t{0} - small_message_limit_bytes / 16) return false;
        if (bytes == small_message_limit_bytes) {
            V text[n];
            WARPSEAL_UNROLL
            for (int u = 0; u < n; ++u) text[u] = W::load(in + u * W::bytes);
            crypt(schedule, at, text);
            WARPSEAL_UNROLL
            for (int u = 0; u < n; ++u) W::store(out + u * W::bytes, text[u]);
            at.add(small_message_limit_bytes / 16);
        } else {  // block by block, as in aes_sweep.h
            for (; bytes != 0; in += 16, out += 16, bytes -= 16) {
                store_one(out, load_one(in) ^
                                   Aes::template one<Direction::encrypt>(schedule, at.block()));
                at.add(1);
            }
        }
        store_one(counter, at.block());
        return true;
    }

    // Processes the rest of a text: less than a group, possibly with a partial block.
    template <Sum summing>
    WARPSEAL_INLINE static void rest(const Schedule& schedule, const typename Hash::Key* hash,
                                     __m128i& sum, Position& at) {
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
        // Processes the next n vectors, of which the last few may be partial or empty.
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
                if (summing == Sum::of_output)
                    add(Sum::of_output, load_up_to(at.out, u * W::bytes, at.bytes));
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

    // Loads the vector at `from` of a text that ends at `end`.
    WARPSEAL_INLINE static V load_up_to(const uint8_t* in, size_t from, size_t end) {
        if (from + W::bytes <= end) return W::load(in + from);
        return from < end ? W::load_partial(in + from, end - from) : W::zero();
    }
    WARPSEAL_INLINE static void store_up_to(uint8_t* out, size_t from, size_t end, V v) {
        if (from + W::bytes <= end)
            W::store(out + from, v);
        else
            W::store_partial(out + from, v, end - from);
    }

    // Processes all whole groups. GHASH of the output is one group behind, so that it can overlap
    // with the rounds of the next group.
    template <Sum summing>
    WARPSEAL_INLINE static void groups(const Schedule& schedule, const typename Hash::Key* hash,
                                       __m128i& sum, Position& at, EarlyRounds* early) {
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
        if (summing == Sum::of_output)
            sum = Hash::absorb(*hash, sum, at.out - group_bytes, group_bytes);
    }

    // Processes `bytes` bytes from counter block `first`, with a 32-bit counter. Not inlined, so
    // that texts shorter than a group need no stack frame for it.
    template <Sum summing>
    __attribute__((noinline)) static void count32(const Schedule& schedule,
                                                  const typename Hash::Key* hash, __m128i& sum,
                                                  const Block<4>& first, const uint8_t* in,
                                                  uint8_t* out, size_t bytes) {
        Position at{Counter(first), in, out, bytes};
        if (bytes >= early_rounds_pay_bytes)
            groups_with_early_rounds<summing>(schedule, hash, sum, at);
        else
            groups<summing>(schedule, hash, sum, at, nullptr);
        rest<summing>(schedule, hash, sum, at);
    }

    // Not inlined, so that shorter texts need no stack frame for the early rounds.
    template <Sum summing>
    __attribute__((noinline)) static void groups_with_early_rounds(const Schedule& schedule,
                                                                   const typename Hash::Key* hash,
                                                                   __m128i& sum, Position& at) {
        EarlyRounds early(schedule.forward, at.counter);
        groups<summing>(schedule, hash, sum, at, &early);
    }

    // Processes a text of any counter mode. A counter of more than 32 bits is split into segments
    // without a carry out of the last word.
    template <class Mode, Sum summing>
    static void keystream(const Schedule& schedule, const typename Hash::Key* hash, __m128i& sum,
                          Block<4> counter, const uint8_t* in, uint8_t* out, size_t bytes) {
        constexpr int counting = Mode::template counting_words<4>;
        if (summing == Sum::none && bytes < group_bytes &&
            swap_bytes(counter.word[3]) <= ~uint32_t{0} - group_blocks) {  // no carry
            Position at{Counter(counter), in, out, bytes};
            return rest<Sum::none>(schedule, hash, sum, at);
        }
        while (bytes != 0) {
            size_t n = bytes;
            if (counting > 1) {
                const uint64_t until_carry =
                    16 * ((uint64_t{1} << 32) - swap_bytes(counter.word[3]));
                if (until_carry < n) n = until_carry;
            }
            count32<summing>(schedule, hash, sum, counter, in, out, n);
            counter = add_big_endian<counting>(counter, n / 16);
            in += n, out += n, bytes -= n;
        }
    }
};

}  // namespace
}  // namespace warpseal::cpu
