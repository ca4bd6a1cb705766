// The parts of NTRU's operations that P4 times (H. Seong and others, "Accelerated Implementation of
// NTRU on GPU", 2021), shared out among threads as it does: each computes every so manieth
// coefficient or byte, and one alone what cannot be divided. For the host too.
#pragma once

#include "kem/keccak.h"
#include "kem/ntru.h"

namespace warpseal::ladder::ntru {

using kem::Family;
using kem::low16;
using kem::Params;
using kem::Poly;

// What the functions below ask of the thread that calls them, which is this one of `all`. A GPU's:
// ntru.cu.
struct OneThread {
    static constexpr int mine = 0, all = 1;
    WARPSEAL_INLINE void wait() const {}  // until all have come here
    WARPSEAL_INLINE void add(uint32_t& sum, uint32_t value) const {
        sum += value;
    }  // all of them to the same sum
};

template <class Threads, class F>
WARPSEAL_INLINE void parallel_for(const Threads& threads, int count, const F& f) {
    for (int i = threads.mine; i < count; i += threads.all) f(i);
    threads.wait();
}

// What one thread does while the others wait.
template <class Threads, class F>
WARPSEAL_INLINE void alone(const Threads& threads, const F& f) {
    if (threads.mine == 0) f();
    threads.wait();
}

template <class Threads>
WARPSEAL_INLINE void copy(const Threads& threads, uint8_t* to, const uint8_t* from, size_t bytes) {
    parallel_for(threads, static_cast<int>(bytes), [&](int i) { to[i] = from[i]; });
}

// --- the operations that the paper times by themselves
// ------------------------------------------------------------------------------

// A call of a generator for each byte, as in the paper, which has cuRAND's. Here a counter is
// hashed (the end of MurmurHash3), so that cores can draw the same coins; they repeat after 2^20
// items. No generator for keys.
WARPSEAL_INLINE uint8_t coin(uint64_t item, int i) {
    uint32_t x = static_cast<uint32_t>(item << 12) + static_cast<uint32_t>(i);
    x = (x ^ x >> 16) * 0x85ebca6b;
    x = (x ^ x >> 13) * 0xc2b2ae35;
    return static_cast<uint8_t>(x >> 24);
}

template <class Threads>
WARPSEAL_INLINE void random_bytes(const Threads& threads, uint8_t* coins, size_t bytes,
                                  uint64_t item) {
    parallel_for(threads, static_cast<int>(bytes), [&](int i) { coins[i] = coin(item, i); });
}

// Coefficients from n - 1 on are zero where a polynomial is ternary: groups of five run over the
// end.
template <const Params& set, class Threads>
WARPSEAL_INLINE void clear_end(const Threads& threads, Poly<set>& a) {
    parallel_for(threads, Poly<set>::size - (set.n - 1), [&](int i) { a.at[set.n - 1 + i] = 0; });
}

template <const Params& set, class Threads>
WARPSEAL_INLINE void sample_iid(const Threads& threads, Poly<set>& a, const uint8_t* coins) {
    parallel_for(threads, set.n - 1, [&](int i) { a.at[i] = kem::sample_trit(coins[i]); });
    clear_end<set>(threads, a);
}

// Batcher's merge exchange (Knuth, The Art of Computer Programming 3, algorithm 5.2.2M): which
// numbers it compares depends on their count.
template <class Threads>
WARPSEAL_INLINE void sort(const Threads& threads, int32_t* keys, int count) {
    int top = 1;
    while (2 * top < count) top *= 2;
    for (int p = top; p > 0; p /= 2) {
        int among = 0, apart = p;
        for (int q = top;; q /= 2) {
            parallel_for(threads, count - apart, [&](int i) {
                if ((i & p) != among) return;
                const int32_t a = keys[i], b = keys[i + apart];
                keys[i] = b < a ? b : a;
                keys[i + apart] = b < a ? a : b;
            });
            if (q == p) break;
            apart = q - p;
            among = p;
        }
    }
}

// Fixed weight, by sorting: the step that has it done by one thread, or by all.
enum class Sorts { one, all };

template <const Params& set, Sorts sorts, class Threads>
WARPSEAL_INLINE void sample_fixed(const Threads& threads, Poly<set>& a, const uint8_t* coins,
                                  int32_t* keys) {
    parallel_for(threads, set.n - 1, [&](int i) { keys[i] = kem::sort_key<set>(coins, i); });
    if constexpr (sorts == Sorts::one)
        alone(threads, [&] { sort(OneThread{}, keys, set.n - 1); });
    else
        sort(threads, keys, set.n - 1);
    parallel_for(threads, set.n - 1, [&](int i) { a.at[i] = kem::sorted_trit<set>(keys[i]); });
    clear_end<set>(threads, a);
}

// A polynomial backwards, twice over: what any coefficient of a product takes of it stands in a
// row.
template <const Params& set>
struct Turned {
    uint16_t at[2 * set.n];
};

// c = a b modulo x^n - 1, term by term; c may be b.
template <const Params& set, class Threads>
WARPSEAL_INLINE void multiply(const Threads& threads, Poly<set>& c, const Poly<set>& a,
                              const Poly<set>& b, Turned<set>& turned) {
    parallel_for(threads, set.n,
                 [&](int i) { turned.at[i] = turned.at[set.n + i] = b.at[set.n - 1 - i]; });
    parallel_for(threads, set.n, [&](int k) {
        const uint16_t* const row = turned.at + set.n - 1 - k;
        uint32_t sum = 0;
        for (int i = 0; i < set.n; ++i) sum += uint32_t{a.at[i]} * row[i];
        c.at[k] = low16(sum);
    });
}

// In place, from coefficients modulo q to their class modulo (3, Phi_n).
template <const Params& set, class Threads>
WARPSEAL_INLINE void reduce_q_to_s3(const Threads& threads, Poly<set>& a) {
    const uint16_t last = kem::centred<set>(a.at[set.n - 1]);
    threads.wait();
    parallel_for(threads, set.n, [&](int i) {
        a.at[i] = kem::mod3(low16(kem::centred<set>(a.at[i]) - uint32_t{last}));
    });
}

// The residues 0, 1 and 2 as coefficients modulo q.
template <const Params& set, class Threads>
WARPSEAL_INLINE void lift_residues(const Threads& threads, Poly<set>& to,
                                   const Poly<set>& residues) {
    parallel_for(threads, set.n, [&](int i) { to.at[i] = kem::trit(residues.at[i] & 3u); });
}

template <const Params& set, class Threads>
WARPSEAL_INLINE void add(const Threads& threads, Poly<set>& a, const Poly<set>& b) {
    parallel_for(threads, set.n, [&](int i) { a.at[i] = low16(a.at[i] + uint32_t{b.at[i]}); });
}

template <const Params& set, class Threads>
WARPSEAL_INLINE void subtract(const Threads& threads, Poly<set>& a, const Poly<set>& b) {
    parallel_for(threads, set.n, [&](int i) { a.at[i] = low16(a.at[i] - uint32_t{b.at[i]}); });
}

// SHA3-256 of a padded message at a multiple of eight, by one thread.
WARPSEAL_INLINE void sha3_256(uint8_t* digest, const uint8_t* message, size_t padded_bytes,
                              const uint64_t (&constants)[kem::keccak::rounds]) {
    const auto* words = static_cast<const uint8_t*>(__builtin_assume_aligned(message, 8));
    uint64_t state[25] = {};
    for (size_t at = 0; at < padded_bytes; at += kem::keccak::rate) {
        WARPSEAL_UNROLL for (size_t i = 0; i < kem::keccak::rate / 8; ++i) {
            uint64_t word;
            memcpy(&word, words + at + 8 * i, 8);
            state[i] ^= word;
        }
        kem::keccak_f(state, constants);
    }
    memcpy(digest, state, 32);
}

}  // namespace warpseal::ladder::ntru
