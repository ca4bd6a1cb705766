// The three NTRU operations for one item of a batch (round-3 specification, sections 1.11 and
// 1.12). A backend hashes and inverts many items at a time.
//
// `Arithmetic` is the target's implementation for one parameter set:
//   struct Work                    scratch of any one call
//   multiply(c, a, b, work)        modulo (q, x^n - 1)
//   multiply_ternary(c, a, t, work)  the same; t is ternary
//   multiply_s3(c, a, b, work)     in S3; operands and result are ternary,
//                                  the result without coefficient n - 1
//   multiply_r2(c, a, b, work)     modulo (2, x^n - 1); coefficients are 0 or 1
//   sort(keys, work)               n - 1 signed numbers, in an array of sort_capacity<set>
//   unpack_sq, pack_rq, unpack_ternary, sort_keys   see pack.h and sample.h
// c may be a or b. All are constant-time, and keep the coefficients from n on zero.
#pragma once

#include "core/secret.h"
#include "kem/invert.h"
#include "kem/pack.h"
#include "kem/sample.h"

namespace warpseal::kem {

// Sizes of the messages to hash. The shared secret is the hash of packed r and m. For a rejected
// ciphertext it is the hash of prf_key and the ciphertext.
template <const Params& set>
constexpr size_t message_bytes = 2 * set.ternary_bytes();
template <const Params& set>
constexpr size_t rejected_bytes = Params::prf_key_bytes + set.ciphertext_bytes();

template <class Arithmetic, const Params& set>
struct SampleWork {
    alignas(64) int32_t keys[sort_capacity<set>];
    typename Arithmetic::Work scratch;
};

template <class Arithmetic, const Params& set>
WARPSEAL_INLINE void sample_fixed(Poly<set>& a, const uint8_t* coins,
                                  SampleWork<Arithmetic, set>& work) {
    Arithmetic::sort_keys(work.keys, coins);
    Arithmetic::sort(work.keys, work.scratch);
    for (int i = 0; i < set.n - 1; ++i) a.at[i] = sorted_trit<set>(work.keys[i]);
    a.at[set.n - 1] = 0;
    clear_tail<set>(a);
}

// Samples two polynomials from the coins: f and g, or r and m.
template <class Arithmetic, const Params& set>
WARPSEAL_INLINE void sample_pair(Poly<set>& first, Poly<set>& second, const uint8_t* coins,
                                 SampleWork<Arithmetic, set>& work) {
    sample_iid<set>(first, coins);
    if constexpr (set.family == Family::hps)
        sample_fixed<Arithmetic, set>(second, coins + set.iid_coins(), work);
    else
        sample_iid<set>(second, coins + set.iid_coins());
}

// --- encapsulation

template <class Arithmetic, const Params& set>
struct EncapsulateWork {
    Poly<set> r, m, h;
    SampleWork<Arithmetic, set> sample;
};

// Computes c = r h + lift(m), and the message to hash.
template <class Arithmetic, const Params& set>
WARPSEAL_INLINE void encapsulate(const uint8_t* coins, const uint8_t* public_key,
                                 uint8_t* ciphertext, uint8_t* message,
                                 EncapsulateWork<Arithmetic, set>& work) {
    sample_pair<Arithmetic, set>(work.r, work.m, coins, work.sample);
    pack_ternary<set>(message, work.r);
    pack_ternary<set>(message + set.ternary_bytes(), work.m);
    Arithmetic::unpack_sq(work.h, public_key);
    balance<set>(work.h);
    Arithmetic::multiply_ternary(work.h, work.h, work.r, work.sample.scratch);
    lift<set>(work.m);
    for (int i = 0; i < set.n; ++i) work.h.at[i] = low16(work.h.at[i] + uint32_t{work.m.at[i]});
    Arithmetic::pack_rq(ciphertext, work.h);
}

// --- decapsulation

template <class Arithmetic, const Params& set>
struct DecapsulateWork {
    Poly<set> c, m, key;
    typename Arithmetic::Work scratch;
};

// Recovers the message of a ciphertext. Returns 1 if the ciphertext is valid, else 0: the spare
// bits are zero, m is in the message space and r is ternary. The result is secret until it is
// hashed.
template <class Arithmetic, const Params& set>
WARPSEAL_INLINE uint32_t decapsulate(const uint8_t* ciphertext, const uint8_t* secret_key,
                                     uint8_t* message, DecapsulateWork<Arithmetic, set>& work) {
    uint32_t valid = 1;
    if constexpr (set.spare_bits() != 0) valid &= is_zero(spare_bits<set>(ciphertext));
    Arithmetic::unpack_sq(work.c, ciphertext);
    balance<set>(work.c);

    Arithmetic::unpack_ternary(work.key, secret_key);  // f
    Arithmetic::multiply_ternary(work.m, work.c, work.key, work.scratch);
    reduce_q_to_s3<set>(work.m);
    Arithmetic::unpack_ternary(work.key, secret_key + set.ternary_bytes());  // 1 / f modulo 3
    Arithmetic::multiply_s3(work.m, work.m, work.key, work.scratch);
    if constexpr (set.family == Family::hps) valid &= has_weight<set>(work.m);
    pack_ternary<set>(message + set.ternary_bytes(), work.m);

    lift<set>(work.m);
    for (int i = 0; i < set.n; ++i) work.c.at[i] = low16(work.c.at[i] - uint32_t{work.m.at[i]});
    Arithmetic::unpack_sq(work.key, secret_key + 2 * set.ternary_bytes());  // 1 / h
    Arithmetic::multiply(work.c, work.c, work.key, work.scratch);
    reduce_phi<set>(work.c);
    valid &= to_ternary<set>(work.c);
    pack_ternary<set>(message, work.c);
    return valid;
}

// Writes the message to hash for a rejected ciphertext.
template <const Params& set>
WARPSEAL_INLINE void rejected_message(uint8_t* message, const uint8_t* ciphertext,
                                      const uint8_t* secret_key) {
    memcpy(message, secret_key + set.secret_key_bytes() - Params::prf_key_bytes,
           Params::prf_key_bytes);
    memcpy(message + Params::prf_key_bytes, ciphertext, set.ciphertext_bytes());
}

// --- key generation

// One pair of a group whose polynomials are inverted together (Montgomery's trick). `chain` is the
// product of those up to this pair.
template <const Params& set>
struct KeypairItem {
    Poly<set> f, g, product, chain;
    uint32_t unusable;  // 1 if f or g is zero, which gives no key pair
};

template <class Arithmetic, const Params& set>
struct KeypairWork {
    Poly<set> inverse, single;
    InvertWork<set> invert;
    SampleWork<Arithmetic, set> sample;
};

// Samples f and g and computes their product, which is a unit of Sq. If one of them is zero both
// become 1, so that the product of the group stays invertible.
template <class Arithmetic, const Params& set>
WARPSEAL_INLINE void begin_keypair(KeypairItem<set>& item, const uint8_t* coins,
                                   KeypairWork<Arithmetic, set>& work) {
    sample_pair<Arithmetic, set>(item.f, item.g, coins, work.sample);
    if constexpr (set.family == Family::hrss) {
        correlate<set>(item.f);
        correlate<set>(item.g);
    }
    item.unusable = is_zero<set>(item.f) | is_zero<set>(item.g);
    replace_by_one<set>(item.f, item.unusable);
    replace_by_one<set>(item.g, item.unusable);
    Arithmetic::multiply_ternary(item.product, item.f, item.g, work.sample.scratch);
    if constexpr (set.family == Family::hrss) multiply_by_x_minus_1<set>(item.product);
}

// The rings in which a group is inverted, and the value of each pair that is inverted.
template <class Arithmetic, const Params& set>
struct InS3 {
    static constexpr auto value = &KeypairItem<set>::f;
    WARPSEAL_INLINE static void multiply(Poly<set>& c, const Poly<set>& a, const Poly<set>& b,
                                         KeypairWork<Arithmetic, set>& work) {
        Arithmetic::multiply_s3(c, a, b, work.sample.scratch);
    }
    WARPSEAL_INLINE static void invert(const Poly<set>& a, KeypairWork<Arithmetic, set>& work) {
        invert_s3<Arithmetic, set>(work.inverse, a, work.invert, work.sample.scratch);
    }
};
template <class Arithmetic, const Params& set>
struct InSq {
    static constexpr auto value = &KeypairItem<set>::product;
    WARPSEAL_INLINE static void multiply(Poly<set>& c, const Poly<set>& a, const Poly<set>& b,
                                         KeypairWork<Arithmetic, set>& work) {
        Arithmetic::multiply(c, a, b, work.sample.scratch);
    }
    WARPSEAL_INLINE static void invert(const Poly<set>& a, KeypairWork<Arithmetic, set>& work) {
        invert_sq<Arithmetic, set>(work.inverse, a, work.invert, work.sample.scratch);
    }
};

// Inverts items[0, count) with one inversion and three products for each item. finish(i, u)
// receives the inverse u of item i's value, from the last item to the first, and may overwrite the
// value.
template <template <class, const Params&> class Ring, class Arithmetic, const Params& set,
          class Finish>
WARPSEAL_INLINE void invert_group(KeypairItem<set>* items, int count,
                                  KeypairWork<Arithmetic, set>& work, const Finish& finish) {
    using In = Ring<Arithmetic, set>;
    items[0].chain = items[0].*In::value;
    for (int i = 1; i < count; ++i)
        In::multiply(items[i].chain, items[i - 1].chain, items[i].*In::value, work);
    In::invert(items[count - 1].chain, work);
    for (int i = count - 1; i >= 0; --i) {
        if (i > 0) {
            In::multiply(work.single, work.inverse, items[i - 1].chain, work);
            In::multiply(work.inverse, work.inverse, items[i].*In::value, work);
        } else {
            work.single = work.inverse;
        }
        finish(i, work.single);
    }
}

// Writes f and its inverse modulo 3 to the secret keys of items[0, count). secret_key(i) returns
// the buffer of item i.
template <class Arithmetic, const Params& set, class SecretKey>
WARPSEAL_INLINE void invert_group_s3(KeypairItem<set>* items, int count,
                                     KeypairWork<Arithmetic, set>& work,
                                     const SecretKey& secret_key) {
    invert_group<InS3, Arithmetic, set>(items, count, work, [&](int i, const Poly<set>& inverse) {
        pack_ternary<set>(secret_key(i), items[i].f);
        pack_ternary<set>(secret_key(i) + set.ternary_bytes(), inverse);
    });
}

// Computes the rest of a key pair from u = 1 / (f g), in HRSS 1 / (f g (x - 1)). h = 3 g / f = 3
// g^2 u and 1 / h = f^2 u / 3, where g stands for g (x - 1) in HRSS.
template <class Arithmetic, const Params& set>
WARPSEAL_INLINE void finish_keypair(KeypairItem<set>& item, const Poly<set>& u,
                                    KeypairWork<Arithmetic, set>& work, uint8_t* public_key,
                                    uint8_t* secret_key) {
    constexpr uint16_t third = 43691;
    static_assert(low16(3 * third) == 1);
    Poly<set>& h = item.product;
    Arithmetic::multiply_ternary(h, u, item.g, work.sample.scratch);
    Arithmetic::multiply_ternary(h, h, item.g, work.sample.scratch);
    if constexpr (set.family == Family::hrss) {
        multiply_by_x_minus_1<set>(h);
        multiply_by_x_minus_1<set>(h);
    }
    for (int i = 0; i < set.n; ++i) h.at[i] = low16(3u * h.at[i]);
    Arithmetic::pack_rq(public_key, h);
    Arithmetic::multiply_ternary(h, u, item.f, work.sample.scratch);
    Arithmetic::multiply_ternary(h, h, item.f, work.sample.scratch);
    reduce_phi<set>(h, third);
    Arithmetic::pack_rq(secret_key + 2 * set.ternary_bytes(), h);
}

// Writes the rest of the keys, except the implicit rejection key.
template <class Arithmetic, const Params& set, class PublicKey, class SecretKey>
WARPSEAL_INLINE void invert_group_sq(KeypairItem<set>* items, int count,
                                     KeypairWork<Arithmetic, set>& work,
                                     const PublicKey& public_key, const SecretKey& secret_key) {
    invert_group<InSq, Arithmetic, set>(items, count, work, [&](int i, const Poly<set>& inverse) {
        finish_keypair<Arithmetic, set>(items[i], inverse, work, public_key(i), secret_key(i));
    });
}

}  // namespace warpseal::kem
