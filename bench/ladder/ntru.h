// NTRU encapsulation and decapsulation, divided among threads as in P4, from the parts that it
// times and smaller ones. Also compiles for the host, where one thread does everything.
#pragma once

#include "bench/ladder/ntru_steps.h"

namespace warpseal::ladder::ntru {

template <const Params& set, class Threads>
WARPSEAL_INLINE void pack_ternary(const Threads& threads, uint8_t* out, const Poly<set>& a) {
    parallel_for(threads, static_cast<int>(set.ternary_bytes()),
                 [&](int k) { out[k] = kem::pack_ternary_group<set>(a, k); });
}

template <const Params& set, class Threads>
WARPSEAL_INLINE void unpack_ternary(const Threads& threads, Poly<set>& a, const uint8_t* in) {
    constexpr int whole = (set.n - 1) / 5;
    parallel_for(threads, whole + 1, [&](int k) {
        if (k < whole)
            kem::unpack_ternary_group<set>(a, k, in[k]);
        else if constexpr ((set.n - 1) % 5 != 0)
            kem::unpack_ternary_group<set, (set.n - 1) % 5>(a, whole, in[whole]);
        if (k == whole) a.at[set.n - 1] = 0;
    });
}

template <const Params& set, class Threads>
WARPSEAL_INLINE void pack_rq(const Threads& threads, uint8_t* out, const Poly<set>& a) {
    parallel_for(threads, kem::rq_groups<set>,
                 [&](int group) { kem::pack_rq_group<set>(out, a, group); });
}

template <const Params& set, class Threads>
WARPSEAL_INLINE void unpack_sq(const Threads& threads, Poly<set>& a, const uint8_t* in) {
    parallel_for(threads, kem::rq_groups<set>,
                 [&](int group) { kem::unpack_rq_group<set>(a, group, in); });
    alone(threads, [&] { a.at[set.n - 1] = 0; });
}

// `sum` must be zero before; it receives the sum of the coefficients, which determines coefficient
// n - 1.
template <const Params& set, class Threads>
WARPSEAL_INLINE void unpack_rq(const Threads& threads, Poly<set>& a, const uint8_t* in,
                               uint32_t& sum) {
    uint32_t mine = 0;
    parallel_for(threads, kem::rq_groups<set>, [&](int group) {
        kem::unpack_rq_group<set>(a, group, in);
        for (int i = 8 * group; i < 8 * group + 8 && i < set.n - 1; ++i) mine += a.at[i];
    });
    threads.add(sum, mine);
    threads.wait();
    alone(threads, [&] { a.at[set.n - 1] = low16(0u - sum); });
}

// The paper's HPS sets need no lift. In HRSS's lift, each sum needs the one before, so one thread
// computes it.
template <const Params& set, class Threads>
WARPSEAL_INLINE void lift(const Threads& threads, Poly<set>& m) {
    if constexpr (set.family == Family::hrss) alone(threads, [&] { kem::lift<set>(m); });
}

// Computes m from a product in S3. Adds to `wrong` unless HPS's weight is right. `ones` and
// `minus_ones` must be zero before.
template <const Params& set, class Threads>
WARPSEAL_INLINE void to_message(const Threads& threads, Poly<set>& m, uint32_t& ones,
                                uint32_t& minus_ones, uint32_t& wrong) {
    const uint16_t last = m.at[set.n - 1];
    threads.wait();
    uint32_t nonzero = 0, negative = 0;
    parallel_for(threads, Poly<set>::size, [&](int i) {
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

// Computes r from the product with 1 / h. Adds to `wrong` unless it is ternary.
template <const Params& set, class Threads>
WARPSEAL_INLINE void to_ternary(const Threads& threads, Poly<set>& r, uint32_t& wrong) {
    const uint16_t last = r.at[set.n - 1];
    threads.wait();
    uint32_t others = 0;
    parallel_for(threads, Poly<set>::size, [&](int i) {
        const uint16_t next =
            i < set.n ? kem::centred<set>(low16(r.at[i] - uint32_t{last})) : uint16_t{0};
        others += 1 - kem::is_zero(low16(next + 1u) / 3);
        r.at[i] = next;
    });
    threads.add(wrong, others);
    threads.wait();
}

// ---- encapsulation and decapsulation without their hashes

template <const Params& set, Factor factor = Factor::by_index>
struct EncapsulationMemory {
    static constexpr size_t message_bytes = kem::message_bytes<set>,
                            padded_bytes = kem::padded_bytes(message_bytes);
    alignas(16) uint8_t message[padded_bytes];
    Poly<set> r, m, h, c;
    Turned<set, factor> turned;
    int32_t keys[set.n];
    uint8_t coins[set.encapsulation_coins()], bytes[set.public_key_bytes()];
    uint32_t sum;
};

// Item `item` has its own coins. Leaves the padded message in `memory`.
template <const Params& set, Sorts sorts, Copying copying = Copying::together, Factor factor,
          class Threads>
WARPSEAL_INLINE void encapsulate(const Threads& threads, uint64_t item, const uint8_t* public_key,
                                 uint8_t* ciphertext, EncapsulationMemory<set, factor>& memory) {
    alone(threads, [&] {
        memory.sum = 0;
        kem::pad(memory.message, memory.message_bytes, kem::keccak::sha3_suffix);
    });
    random_bytes(threads, memory.coins, sizeof memory.coins, item);
    copy<copying>(threads, memory.bytes, public_key, sizeof memory.bytes);
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
    copy<copying>(threads, ciphertext, memory.bytes, sizeof memory.bytes);
}

template <const Params& set, Factor factor = Factor::by_index>
struct DecapsulationMemory {
    static constexpr size_t message_bytes = kem::message_bytes<set>,
                            padded_bytes = kem::padded_bytes(message_bytes);
    static constexpr size_t rejected_bytes = kem::rejected_bytes<set>,
                            rejected_padded_bytes = kem::padded_bytes(rejected_bytes);
    alignas(16) uint8_t message[padded_bytes];
    // The implicit rejection key, then the ciphertext.
    alignas(16) uint8_t rejected[rejected_padded_bytes];
    Poly<set> c, m, key, product;
    Turned<set, factor> turned;
    uint8_t secret_key[set.secret_key_bytes()];
    uint32_t sum, ones, minus_ones, wrong;
};

// Leaves both padded messages in `memory`. `wrong` is nonzero if the rejected message counts.
template <const Params& set, Copying copying = Copying::together, Factor factor, class Threads>
WARPSEAL_INLINE void decapsulate(const Threads& threads, const uint8_t* ciphertext,
                                 const uint8_t* secret_key,
                                 DecapsulationMemory<set, factor>& memory) {
    using Memory = DecapsulationMemory<set, factor>;
    uint8_t* const bytes = memory.rejected + Params::prf_key_bytes;
    alone(threads, [&] {
        memory.sum = memory.ones = memory.minus_ones = memory.wrong = 0;
        kem::pad(memory.message, Memory::message_bytes, kem::keccak::sha3_suffix);
        kem::pad(memory.rejected, Memory::rejected_bytes, kem::keccak::sha3_suffix);
    });
    copy<copying>(threads, bytes, ciphertext, set.ciphertext_bytes());
    copy<copying>(threads, memory.secret_key, secret_key, set.secret_key_bytes());
    copy(threads, memory.rejected,
         memory.secret_key + set.secret_key_bytes() - Params::prf_key_bytes, Params::prf_key_bytes);
    if constexpr (set.spare_bits() != 0)
        alone(threads, [&] { memory.wrong += kem::spare_bits<set>(bytes); });

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

// Selects the rejected digest if `wrong` is nonzero, in constant time.
WARPSEAL_INLINE void select(uint8_t* secret, const uint8_t* digest, const uint8_t* rejected,
                            uint32_t wrong) {
    const auto mask = static_cast<uint8_t>(0 - kem::is_zero(wrong));
    for (size_t i = 0; i < Params::shared_secret_bytes; ++i)
        secret[i] = static_cast<uint8_t>((digest[i] & mask) | (rejected[i] & ~mask));
}

}  // namespace warpseal::ladder::ntru
