// Counters of a keystream mode in vectors, and AES rounds that many counter blocks share (SP
// 800-38A 6.5, SP 800-38D 6.5).
#pragma once

#include <immintrin.h>

#include "backends/cpu/x86/aes_rounds.h"
#include "core/block.h"

namespace warpseal::cpu {
namespace {

// Counter of the next block: the block with its last word as a number, so that 32-bit additions
// advance it. `low` is a copy of that number, which can be read without waiting for the vector
// units.
template <class W>
struct Counter {
    using V = typename W::V;
    __m128i next;
    uint32_t low;

    WARPSEAL_INLINE explicit Counter(const Block<4>& block)
        : next(_mm_set_epi32(static_cast<int>(swap_bytes(block.word[3])),
                             static_cast<int>(block.word[2]), static_cast<int>(block.word[1]),
                             static_cast<int>(block.word[0]))),
          low(swap_bytes(block.word[3])) {}
    WARPSEAL_INLINE explicit Counter(__m128i block)
        : next(swap(block)), low(static_cast<uint32_t>(_mm_extract_epi32(next, 3))) {}
    WARPSEAL_INLINE __m128i block() const { return swap(next); }
    WARPSEAL_INLINE static __m128i swap(__m128i x) { return _mm_shuffle_epi8(x, order()); }
    WARPSEAL_INLINE static __m128i order() {
        return _mm_set_epi8(12, 13, 14, 15, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    }
    WARPSEAL_INLINE void add(uint32_t blocks) {
        next = _mm_add_epi32(next, _mm_set_epi32(static_cast<int>(blocks), 0, 0, 0));
        low += blocks;
    }

    // Writes n vectors of counter blocks, XORed with `key`.
    template <int n>
    WARPSEAL_INLINE void blocks(V (&s)[n], __m128i key) const {
        alignas(64) static constexpr uint32_t lane_number[16] = {0, 0, 0, 0, 0, 0, 0, 1,
                                                                 0, 0, 0, 2, 0, 0, 0, 3};
        const V first =
            W::add32(W::broadcast(next), W::load(reinterpret_cast<const uint8_t*>(lane_number)));
        WARPSEAL_UNROLL
        for (int u = 0; u < n; ++u)
            s[u] = W::shuffle(W::add32(first, W::broadcast(_mm_set_epi32(u * W::lanes, 0, 0, 0))),
                              order()) ^
                   W::broadcast(key);
    }
};

// Saves two AES rounds for most counter blocks. Among counters that differ only in their last 32
// bits, byte 15 affects one column in round 1. The other three bytes affect other columns, and
// round 2 XORs the contributions of all.
// The state after round 2 is therefore a function of byte 15 XOR a function of the other bytes. The
// stored states of 256 counters serve every later 256 counters with one XOR. They are read in the
// order of the counter, which is public.
template <class W>
struct EarlyRounds {
    using V = typename W::V;
    using Counter = cpu::Counter<W>;
    static constexpr int at_once = W::vectors_at_once;
    static constexpr size_t group_blocks = at_once * W::lanes;
    static constexpr size_t blocks = 256;

    alignas(64) uint8_t state[16 * blocks];
    __m128i first;
    // XOR differences from the stored states to those of the current 256 counters, and of the next
    // 256. Computed early, since all later work waits for them.
    V difference;
    V following;

    WARPSEAL_INLINE EarlyRounds(const uint8_t* keys, const Counter& from)
        : first(two_rounds(keys, aligned(from))) {
        Counter counter = aligned(from);
        for (size_t i = 0; i < blocks; i += group_blocks, counter.add(group_blocks)) {
            V s[at_once];
            counter.blocks(s, key_at(keys, 0));
            WARPSEAL_UNROLL
            for (int u = 0; u < at_once; ++u) {
                s[u] = W::encrypt(s[u], W::broadcast(key_at(keys, 1)));
                s[u] = W::encrypt(s[u], W::broadcast(key_at(keys, 2)));
                W::store(state + 16 * i + u * W::bytes, s[u]);
            }
        }
        difference = W::zero();
        following = W::broadcast(first ^ two_rounds(keys, counter));
    }

    EarlyRounds(const EarlyRounds&) = delete;
    EarlyRounds& operator=(const EarlyRounds&) = delete;
    WARPSEAL_INLINE ~EarlyRounds() {
        for (size_t i = 0; i < sizeof state; i += W::bytes) W::store(state + i, W::zero());
        __asm__ __volatile__("" : : "r"(this) : "memory");
    }

    // True if the group of counters from `counter` on lies within the current 256.
    WARPSEAL_INLINE static bool cover(const Counter& counter) {
        return counter.low % blocks <= blocks - group_blocks;
    }
    WARPSEAL_INLINE void states(const Counter& counter, V (&s)[at_once]) const {
        WARPSEAL_UNROLL
        for (int u = 0; u < at_once; ++u)
            s[u] = W::load(state + 16 * (counter.low % blocks) + u * W::bytes) ^ difference;
    }
    // Moves on to the next 256 counters if the group from `counter` on was the last of the current
    // ones.
    WARPSEAL_INLINE void advance(const uint8_t* keys, Counter counter) {
        if (counter.low % blocks < blocks - group_blocks) return;
        difference = following;
        counter.add(group_blocks + blocks);
        following = W::broadcast(first ^ two_rounds(keys, aligned(counter)));
    }

private:
    WARPSEAL_INLINE static Counter aligned(Counter counter) {
        counter.add(0 - counter.low % blocks);
        return counter;
    }
    WARPSEAL_INLINE static __m128i two_rounds(const uint8_t* keys, const Counter& counter) {
        const __m128i whitened = Counter::swap(counter.next) ^ key_at(keys, 0);
        return _mm_aesenc_si128(_mm_aesenc_si128(whitened, key_at(keys, 1)), key_at(keys, 2));
    }
};

}  // namespace
}  // namespace warpseal::cpu
