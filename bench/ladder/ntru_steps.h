// Parts of NTRU's operations that P4 times (H. Seong and others, "Accelerated Implementation of
// NTRU on GPU", 2021). They are divided among threads as in P4: each thread computes coefficients
// or bytes at a fixed stride, and one thread computes serial parts. Also compiles for the host.
#pragma once

#include "kem/keccak.h"
#include "kem/ntru.h"

namespace warpseal::ladder::ntru {

using kem::Family;
using kem::low16;
using kem::Params;
using kem::Poly;

// Interface to the calling thread, number `mine` of `all`. ntru.cu has the GPU's.
struct OneThread {
    static constexpr int mine = 0, all = 1;
    WARPSEAL_INLINE void wait() const {}  // Barrier of all threads.
    // Adds to a sum that all threads share.
    WARPSEAL_INLINE void add(uint32_t& sum, uint32_t value) const { sum += value; }
};

template <class Threads, class F>
WARPSEAL_INLINE void parallel_for(const Threads& threads, int count, const F& f) {
    for (int i = threads.mine; i < count; i += threads.all) f(i);
    threads.wait();
}

// Runs `f` on one thread while the others wait.
template <class Threads, class F>
WARPSEAL_INLINE void alone(const Threads& threads, const F& f) {
    if (threads.mine == 0) f();
    threads.wait();
}

// Copying between global and shared memory: by all threads together, which access adjacent bytes at
// once (the paper's latency hiding, 5.2); by a run of adjacent bytes for each thread; by one
// thread.
enum class Copying { together, runs, alone };

template <Copying copying = Copying::together, class Threads>
WARPSEAL_INLINE void copy(const Threads& threads, uint8_t* to, const uint8_t* from, size_t bytes) {
    const int count = static_cast<int>(bytes);
    if constexpr (copying == Copying::together)
        parallel_for(threads, count, [&](int i) { to[i] = from[i]; });
    else if constexpr (copying == Copying::runs)
        parallel_for(threads, threads.all, [&](int thread) {
            const int end = count * (thread + 1) / threads.all;
            for (int i = count * thread / threads.all; i < end; ++i) to[i] = from[i];
        });
    else
        alone(threads, [&] {
            for (int i = 0; i < count; ++i) to[i] = from[i];
        });
}

// ---- operations that the paper times separately

// Computes each byte by a generator call, as the paper does with cuRAND. The generator hashes a
// counter (finalizer of MurmurHash3), so that cores can draw the same coins. Coins repeat after
// 2^20 items. Not for real keys.
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

// Clears coefficients from n - 1 on, because groups of five of a ternary polynomial run past the
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

// Batcher's merge exchange (Knuth, The Art of Computer Programming 3, algorithm 5.2.2M). The
// compared positions depend only on the count.
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

// Sorting for fixed weight runs on one thread or on all.
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

// Location of the second factor's coefficients: by the paper's index modulo n (algorithm 2), or in
// a copy of ours that is reversed and doubled.
enum class Factor { by_index, doubled };

// Reversed, twice in a row, so that each product coefficient reads it contiguously.
template <const Params& set, Factor factor>
struct Turned {
    uint16_t at[2 * set.n];
};
template <const Params& set>
struct Turned<set, Factor::by_index> {};

// c = a b modulo x^n - 1, schoolbook; c is neither a nor b.
template <const Params& set, Factor factor, class Threads>
WARPSEAL_INLINE void multiply(const Threads& threads, Poly<set>& c, const Poly<set>& a,
                              const Poly<set>& b, [[maybe_unused]] Turned<set, factor>& turned) {
    if constexpr (factor == Factor::doubled)
        parallel_for(threads, set.n,
                     [&](int i) { turned.at[i] = turned.at[set.n + i] = b.at[set.n - 1 - i]; });
    parallel_for(threads, set.n, [&](int k) {
        uint32_t sum = 0;
        if constexpr (factor == Factor::doubled) {
            const uint16_t* const row = turned.at + set.n - 1 - k;
            for (int i = 0; i < set.n; ++i) sum += uint32_t{a.at[i]} * row[i];
        } else {
            for (int i = 0; i < set.n; ++i)
                sum += uint32_t{a.at[i]} * b.at[(k - i + set.n) % set.n];
        }
        c.at[k] = low16(sum);
    });
}

// Reduces coefficients modulo q to their class modulo (3, Phi_n), in place.
template <const Params& set, class Threads>
WARPSEAL_INLINE void reduce_q_to_s3(const Threads& threads, Poly<set>& a) {
    const uint16_t last = kem::centred<set>(a.at[set.n - 1]);
    threads.wait();
    parallel_for(threads, set.n, [&](int i) {
        a.at[i] = kem::mod3(low16(kem::centred<set>(a.at[i]) - uint32_t{last}));
    });
}

// Converts the residues 0, 1 and 2 to coefficients modulo q.
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

// SHA3-256 of a padded message, on one thread. `message` must be aligned to 8 bytes.
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
