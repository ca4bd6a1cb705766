// NTRU as P4 shares it out among threads (H. Seong and others, "Accelerated Implementation of NTRU on GPU", 2021): each computes every so
// manieth coefficient or byte, and one alone what cannot be divided. For the host too, where one thread has it all.
#pragma once

#include "kem/keccak.h"
#include "kem/ntru.h"

namespace warpseal::ladder::ntru {

using kem::Family;
using kem::low16;
using kem::Params;
using kem::Poly;

// What the functions below ask of the thread that calls them, which is this one of `all`. A GPU's: ntru.cu.
struct OneThread {
    static constexpr int mine = 0, all = 1;
    WARPSEAL_INLINE void wait() const {}                                             // until all have come here
    WARPSEAL_INLINE void add(uint32_t& sum, uint32_t value) const { sum += value; }  // all of them to the same sum
};

template <class Threads, class F>
WARPSEAL_INLINE void share(const Threads& threads, int count, const F& f) {
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
    share(threads, static_cast<int>(bytes), [&](int i) { to[i] = from[i]; });
}

// --- the operations that the paper times by themselves ------------------------------------------------------------------------------

// A call of a generator for each byte, as in the paper, which has cuRAND's. Here a counter is hashed (the end of MurmurHash3), so that
// cores can draw the same coins; they repeat after 2^20 items. No generator for keys.
WARPSEAL_INLINE uint8_t coin(uint64_t item, int i) {
    uint32_t x = static_cast<uint32_t>(item << 12) + static_cast<uint32_t>(i);
    x = (x ^ x >> 16) * 0x85ebca6b;
    x = (x ^ x >> 13) * 0xc2b2ae35;
    return static_cast<uint8_t>(x >> 24);
}

template <class Threads>
WARPSEAL_INLINE void random_bytes(const Threads& threads, uint8_t* coins, size_t bytes, uint64_t item) {
    share(threads, static_cast<int>(bytes), [&](int i) { coins[i] = coin(item, i); });
}

// Coefficients from n - 1 on are zero where a polynomial is ternary: groups of five run over the end.
template <const Params& set, class Threads>
WARPSEAL_INLINE void clear_end(const Threads& threads, Poly<set>& a) {
    share(threads, Poly<set>::size - (set.n - 1), [&](int i) { a.at[set.n - 1 + i] = 0; });
}

template <const Params& set, class Threads>
WARPSEAL_INLINE void sample_iid(const Threads& threads, Poly<set>& a, const uint8_t* coins) {
    share(threads, set.n - 1, [&](int i) { a.at[i] = kem::sample_trit(coins[i]); });
    clear_end<set>(threads, a);
}

// Batcher's merge exchange (Knuth, The Art of Computer Programming 3, algorithm 5.2.2M): which numbers it compares depends on their count.
template <class Threads>
WARPSEAL_INLINE void sort(const Threads& threads, int32_t* keys, int count) {
    int top = 1;
    while (2 * top < count) top *= 2;
    for (int p = top; p > 0; p /= 2) {
        int among = 0, apart = p;
        for (int q = top;; q /= 2) {
            share(threads, count - apart, [&](int i) {
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
WARPSEAL_INLINE void sample_fixed(const Threads& threads, Poly<set>& a, const uint8_t* coins, int32_t* keys) {
    share(threads, set.n - 1, [&](int i) { keys[i] = kem::sort_key<set>(coins, i); });
    if constexpr (sorts == Sorts::one)
        alone(threads, [&] { sort(OneThread{}, keys, set.n - 1); });
    else
        sort(threads, keys, set.n - 1);
    share(threads, set.n - 1, [&](int i) { a.at[i] = kem::sorted_trit<set>(keys[i]); });
    clear_end<set>(threads, a);
}

// A polynomial backwards, twice over: what any coefficient of a product takes of it stands in a row.
template <const Params& set>
struct Turned {
    uint16_t at[2 * set.n];
};

// c = a b modulo x^n - 1, term by term; c may be b.
template <const Params& set, class Threads>
WARPSEAL_INLINE void multiply(const Threads& threads, Poly<set>& c, const Poly<set>& a, const Poly<set>& b, Turned<set>& turned) {
    share(threads, set.n, [&](int i) { turned.at[i] = turned.at[set.n + i] = b.at[set.n - 1 - i]; });
    share(threads, set.n, [&](int k) {
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
    share(threads, set.n, [&](int i) { a.at[i] = kem::mod3(low16(kem::centred<set>(a.at[i]) - uint32_t{last})); });
}

// The residues 0, 1 and 2 as coefficients modulo q.
template <const Params& set, class Threads>
WARPSEAL_INLINE void lift_residues(const Threads& threads, Poly<set>& to, const Poly<set>& residues) {
    share(threads, set.n, [&](int i) { to.at[i] = kem::trit(residues.at[i] & 3u); });
}

template <const Params& set, class Threads>
WARPSEAL_INLINE void add(const Threads& threads, Poly<set>& a, const Poly<set>& b) {
    share(threads, set.n, [&](int i) { a.at[i] = low16(a.at[i] + uint32_t{b.at[i]}); });
}

template <const Params& set, class Threads>
WARPSEAL_INLINE void subtract(const Threads& threads, Poly<set>& a, const Poly<set>& b) {
    share(threads, set.n, [&](int i) { a.at[i] = low16(a.at[i] - uint32_t{b.at[i]}); });
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

// --- what else the two operations are made of ---------------------------------------------------------------------------------------

template <const Params& set, class Threads>
WARPSEAL_INLINE void pack_ternary(const Threads& threads, uint8_t* out, const Poly<set>& a) {
    share(threads, static_cast<int>(set.ternary_bytes()), [&](int k) { out[k] = kem::pack_ternary_group<set>(a, k); });
}

template <const Params& set, class Threads>
WARPSEAL_INLINE void unpack_ternary(const Threads& threads, Poly<set>& a, const uint8_t* in) {
    constexpr int whole = (set.n - 1) / 5;
    share(threads, whole + 1, [&](int k) {
        if (k < whole)
            kem::unpack_ternary_group<set>(a, k, in[k]);
        else if constexpr ((set.n - 1) % 5 != 0)
            kem::unpack_ternary_group<set, (set.n - 1) % 5>(a, whole, in[whole]);
        if (k == whole) a.at[set.n - 1] = 0;
    });
}

template <const Params& set, class Threads>
WARPSEAL_INLINE void pack_rq(const Threads& threads, uint8_t* out, const Poly<set>& a) {
    share(threads, kem::rq_groups<set>, [&](int group) { kem::pack_rq_group<set>(out, a, group); });
}

template <const Params& set, class Threads>
WARPSEAL_INLINE void unpack_sq(const Threads& threads, Poly<set>& a, const uint8_t* in) {
    share(threads, kem::rq_groups<set>, [&](int group) { kem::unpack_rq_group<set>(a, group, in); });
    alone(threads, [&] { a.at[set.n - 1] = 0; });
}

// `sum` was zero, and is what coefficient n - 1 makes up for.
template <const Params& set, class Threads>
WARPSEAL_INLINE void unpack_rq(const Threads& threads, Poly<set>& a, const uint8_t* in, uint32_t& sum) {
    uint32_t mine = 0;
    share(threads, kem::rq_groups<set>, [&](int group) {
        kem::unpack_rq_group<set>(a, group, in);
        for (int i = 8 * group; i < 8 * group + 8 && i < set.n - 1; ++i) mine += a.at[i];
    });
    threads.add(sum, mine);
    threads.wait();
    alone(threads, [&] { a.at[set.n - 1] = low16(0u - sum); });
}

// The paper's sets of HPS lift by nothing; of HRSS's sums each needs the one before.
template <const Params& set, class Threads>
WARPSEAL_INLINE void lift(const Threads& threads, Poly<set>& m) {
    if constexpr (set.family == Family::hrss) alone(threads, [&] { kem::lift<set>(m); });
}

// m of a product in S3; adds to `wrong` unless HPS's weight is right. `ones` and `minus_ones` were zero.
template <const Params& set, class Threads>
WARPSEAL_INLINE void to_message(const Threads& threads, Poly<set>& m, uint32_t& ones, uint32_t& minus_ones, uint32_t& wrong) {
    const uint16_t last = m.at[set.n - 1];
    threads.wait();
    uint32_t nonzero = 0, negative = 0;
    share(threads, Poly<set>::size, [&](int i) {
        m.at[i] = i < set.n ? kem::mod3(low16(m.at[i] - uint32_t{last})) : uint16_t{0};
        nonzero += m.at[i] & 1;
        negative += m.at[i] >> 15;
    });
    if constexpr (set.family == Family::hrss) return;
    threads.add(ones, nonzero - negative);
    threads.add(minus_ones, negative);
    threads.wait();
    alone(threads, [&] { wrong += (ones ^ set.weight()) | (minus_ones ^ set.weight()); });
}

// r of the product with 1 / h; adds to `wrong` unless it is ternary.
template <const Params& set, class Threads>
WARPSEAL_INLINE void to_ternary(const Threads& threads, Poly<set>& r, uint32_t& wrong) {
    const uint16_t last = r.at[set.n - 1];
    threads.wait();
    uint32_t others = 0;
    share(threads, Poly<set>::size, [&](int i) {
        const uint16_t next = i < set.n ? kem::centred<set>(low16(r.at[i] - uint32_t{last})) : uint16_t{0};
        others += 1 - kem::is_zero(low16(next + 1u) / 3);
        r.at[i] = next;
    });
    threads.add(wrong, others);
    threads.wait();
}

// --- encapsulation and decapsulation, but for the hashes ----------------------------------------------------------------------------

template <const Params& set>
struct EncapsulationMemory {
    static constexpr size_t message_bytes = kem::message_bytes<set>, padded_bytes = kem::padded_bytes(message_bytes);
    alignas(16) uint8_t message[padded_bytes];
    Poly<set> r, m, h, c;
    Turned<set> turned;
    int32_t keys[set.n];
    uint8_t coins[set.encapsulation_coins()], bytes[set.public_key_bytes()];
    uint32_t sum;
};

// Item i has coins of its own number. Leaves the padded message in memory.
template <const Params& set, Sorts sorts, class Threads>
WARPSEAL_INLINE void encapsulate(const Threads& threads, uint64_t item, const uint8_t* public_key, uint8_t* ciphertext,
                                 EncapsulationMemory<set>& memory) {
    alone(threads, [&] {
        memory.sum = 0;
        kem::pad(memory.message, memory.message_bytes, kem::keccak::sha3_suffix);
    });
    random_bytes(threads, memory.coins, sizeof memory.coins, item);
    copy(threads, memory.bytes, public_key, sizeof memory.bytes);
    sample_iid<set>(threads, memory.r, memory.coins);
    if constexpr (set.family == Family::hps)
        sample_fixed<set, sorts>(threads, memory.m, memory.coins + set.iid_coins(), memory.keys);
    else
        sample_iid<set>(threads, memory.m, memory.coins + set.iid_coins());
    pack_ternary<set>(threads, memory.message, memory.r);
    pack_ternary<set>(threads, memory.message + set.ternary_bytes(), memory.m);
    unpack_rq<set>(threads, memory.h, memory.bytes, memory.sum);
    multiply<set>(threads, memory.c, memory.r, memory.h, memory.turned);
    lift<set>(threads, memory.m);
    add<set>(threads, memory.c, memory.m);
    pack_rq<set>(threads, memory.bytes, memory.c);
    copy(threads, ciphertext, memory.bytes, sizeof memory.bytes);
}

template <const Params& set>
struct DecapsulationMemory {
    static constexpr size_t message_bytes = kem::message_bytes<set>, padded_bytes = kem::padded_bytes(message_bytes);
    static constexpr size_t rejected_bytes = kem::rejected_bytes<set>, rejected_padded_bytes = kem::padded_bytes(rejected_bytes);
    alignas(16) uint8_t message[padded_bytes];
    alignas(16) uint8_t rejected[rejected_padded_bytes];  // the key of implicit rejection, then the ciphertext
    Poly<set> c, m, key, product;
    Turned<set> turned;
    uint8_t secret_key[set.secret_key_bytes()];
    uint32_t sum, ones, minus_ones, wrong;
};

// Leaves both padded messages in memory, and `wrong` other than zero where the second one counts.
template <const Params& set, class Threads>
WARPSEAL_INLINE void decapsulate(const Threads& threads, const uint8_t* ciphertext, const uint8_t* secret_key,
                                 DecapsulationMemory<set>& memory) {
    using Memory = DecapsulationMemory<set>;
    uint8_t* const bytes = memory.rejected + Params::prf_key_bytes;
    alone(threads, [&] {
        memory.sum = memory.ones = memory.minus_ones = memory.wrong = 0;
        kem::pad(memory.message, Memory::message_bytes, kem::keccak::sha3_suffix);
        kem::pad(memory.rejected, Memory::rejected_bytes, kem::keccak::sha3_suffix);
    });
    copy(threads, bytes, ciphertext, set.ciphertext_bytes());
    copy(threads, memory.secret_key, secret_key, set.secret_key_bytes());
    copy(threads, memory.rejected, memory.secret_key + set.secret_key_bytes() - Params::prf_key_bytes, Params::prf_key_bytes);
    if constexpr (set.spare_bits() != 0) alone(threads, [&] { memory.wrong += kem::spare_bits<set>(bytes); });

    unpack_rq<set>(threads, memory.c, bytes, memory.sum);
    unpack_ternary<set>(threads, memory.key, memory.secret_key);
    multiply<set>(threads, memory.product, memory.c, memory.key, memory.turned);
    reduce_q_to_s3<set>(threads, memory.product);
    unpack_ternary<set>(threads, memory.key, memory.secret_key + set.ternary_bytes());
    multiply<set>(threads, memory.m, memory.product, memory.key, memory.turned);
    to_message<set>(threads, memory.m, memory.ones, memory.minus_ones, memory.wrong);
    pack_ternary<set>(threads, memory.message + set.ternary_bytes(), memory.m);

    lift<set>(threads, memory.m);
    subtract<set>(threads, memory.c, memory.m);
    unpack_sq<set>(threads, memory.key, memory.secret_key + 2 * set.ternary_bytes());
    multiply<set>(threads, memory.product, memory.c, memory.key, memory.turned);
    to_ternary<set>(threads, memory.product, memory.wrong);
    pack_ternary<set>(threads, memory.message, memory.product);
}

// Where `wrong` is not zero the secret is the other digest.
WARPSEAL_INLINE void select(uint8_t* secret, const uint8_t* digest, const uint8_t* rejected, uint32_t wrong) {
    const auto mask = static_cast<uint8_t>(0 - kem::is_zero(wrong));
    for (size_t i = 0; i < Params::shared_secret_bytes; ++i) secret[i] = static_cast<uint8_t>((digest[i] & mask) | (rejected[i] & ~mask));
}

}  // namespace warpseal::ladder::ntru
