// The six NTRU parameter sets of the round-3 submission (September 2020): the values of section
// 1.3.2 of its specification, and sizes derived from them.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace warpseal::kem {

// HPS: f and r are ternary; g and m are ternary of fixed weight. HRSS: f and g are in T+, without
// fixed weight; m is lifted.
enum class Family : uint8_t { hps, hrss };

struct Params {
    const char* name;
    Family family;
    int n;      // degree of x^n - 1: prime; 2 and 3 have order n - 1 modulo n
    int log_q;  // bits of a coefficient of Rq

    constexpr int q() const { return 1 << log_q; }
    // HPS: number of coefficients 1 of g and of m, and also of coefficients -1: q/16 - 1.
    constexpr int weight() const { return q() / 16 - 1; }

    // Bytes of n - 1 ternary coefficients, five in a byte.
    constexpr size_t ternary_bytes() const { return static_cast<size_t>(n - 1 + 4) / 5; }
    // Bytes of n - 1 coefficients of log_q bits. The last coefficient follows from the others.
    constexpr size_t rq_bytes() const {
        return (static_cast<size_t>(n - 1) * static_cast<size_t>(log_q) + 7) / 8;
    }
    // Unused bits of the last byte of a packed Rq element; they must be zero.
    constexpr int spare_bits() const { return static_cast<int>(rq_bytes() * 8) - (n - 1) * log_q; }

    constexpr size_t public_key_bytes() const { return rq_bytes(); }
    // f, its inverse modulo 3, the inverse of h, and the implicit rejection key.
    constexpr size_t secret_key_bytes() const {
        return 2 * ternary_bytes() + rq_bytes() + prf_key_bytes;
    }
    constexpr size_t ciphertext_bytes() const { return rq_bytes(); }

    // Bytes of coins: one for each ternary coefficient; 30 bits for each of n - 1 coefficients of a
    // fixed-weight polynomial.
    constexpr size_t iid_coins() const { return static_cast<size_t>(n - 1); }
    constexpr size_t fixed_coins() const { return (30 * static_cast<size_t>(n - 1) + 7) / 8; }
    constexpr size_t sample_coins() const {
        return iid_coins() + (family == Family::hps ? fixed_coins() : iid_coins());
    }
    // Key generation samples f and g, then the implicit rejection key; encapsulation samples r and
    // m.
    constexpr size_t keypair_coins() const { return sample_coins() + prf_key_bytes; }
    constexpr size_t encapsulation_coins() const { return sample_coins(); }

    static constexpr size_t prf_key_bytes = 32;
    static constexpr size_t shared_secret_bytes = 32;
};

// Internal linkage, also for all templates over a set, so that objects built for different
// instruction sets share no symbol.
constexpr Params ntruhps2048509{"ntruhps2048509", Family::hps, 509, 11};
constexpr Params ntruhps2048677{"ntruhps2048677", Family::hps, 677, 11};
constexpr Params ntruhps4096821{"ntruhps4096821", Family::hps, 821, 12};
constexpr Params ntruhps40961229{"ntruhps40961229", Family::hps, 1229, 12};
constexpr Params ntruhrss701{"ntruhrss701", Family::hrss, 701, 13};
constexpr Params ntruhrss1373{"ntruhrss1373", Family::hrss, 1373, 14};

inline constexpr int set_count = 6;
constexpr const Params* sets[set_count] = {&ntruhps2048509,  &ntruhps2048677, &ntruhps4096821,
                                           &ntruhps40961229, &ntruhrss701,    &ntruhrss1373};

static_assert(ntruhps2048509.public_key_bytes() == 699 && ntruhps2048509.secret_key_bytes() == 935);
static_assert(ntruhps2048677.public_key_bytes() == 930 &&
              ntruhps2048677.secret_key_bytes() == 1234);
static_assert(ntruhps4096821.public_key_bytes() == 1230 &&
              ntruhps4096821.secret_key_bytes() == 1590);
static_assert(ntruhps40961229.public_key_bytes() == 1842 &&
              ntruhps40961229.secret_key_bytes() == 2366);
static_assert(ntruhrss701.public_key_bytes() == 1138 && ntruhrss701.secret_key_bytes() == 1450);
static_assert(ntruhrss1373.public_key_bytes() == 2401 && ntruhrss1373.secret_key_bytes() == 2983);

}  // namespace warpseal::kem
