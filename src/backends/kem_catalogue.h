// The catalogue of key encapsulation: the parameter sets of every scheme, with their sizes. Above
// kem_backend.h, which device code includes.
#pragma once

#include <string_view>

#include "backends/kem_backend.h"
#include "kem/hybrid_params.h"
#include "kem/mlkem_params.h"

namespace warpseal {

enum class KemScheme : uint8_t { ntru, mlkem, hybrid };

// One parameter set. All lengths are in bytes.
struct KemSet {
    const char* name;
    KemScheme scheme;
    size_t public_key, secret_key, ciphertext, shared_secret;
    size_t coins[kem_operation_count];
    // Null for another scheme. Hybrids are X25519, alone or with ML-KEM.
    const kem::Params* ntru;
    const kem::MlKemParams* mlkem;
    const kem::HybridParams* hybrid;

    constexpr size_t public_key_bytes() const { return public_key; }
    constexpr size_t secret_key_bytes() const { return secret_key; }
    constexpr size_t ciphertext_bytes() const { return ciphertext; }
    constexpr size_t shared_secret_bytes() const { return shared_secret; }
    constexpr size_t keypair_coins() const { return coins[0]; }
    constexpr size_t encapsulation_coins() const { return coins[1]; }
    // Parameters of ML-KEM, alone or in a hybrid; null without it.
    constexpr const kem::MlKemParams* mlkem_half() const {
        return hybrid != nullptr ? hybrid->mlkem : mlkem;
    }
    // True if there is device code for this scheme: for all so far (docs/adding-a-kem.md).
    constexpr bool has_cuda() const { return true; }
};

constexpr KemSet kem_set(const kem::Params& of) {
    return {of.name,
            KemScheme::ntru,
            of.public_key_bytes(),
            of.secret_key_bytes(),
            of.ciphertext_bytes(),
            of.shared_secret_bytes,
            {of.keypair_coins(), of.encapsulation_coins(), 0},
            &of,
            nullptr,
            nullptr};
}
constexpr KemSet kem_set(const kem::MlKemParams& of) {
    return {of.name,
            KemScheme::mlkem,
            of.public_key_bytes(),
            of.secret_key_bytes(),
            of.ciphertext_bytes(),
            of.shared_secret_bytes,
            {of.keypair_coins, of.encapsulation_coins, 0},
            nullptr,
            &of,
            nullptr};
}
constexpr KemSet kem_set(const kem::HybridParams& of) {
    return {of.name,
            KemScheme::hybrid,
            of.public_key_bytes(),
            of.secret_key_bytes(),
            of.ciphertext_bytes(),
            of.shared_secret_bytes(),
            {of.keypair_coins(), of.encapsulation_coins(), 0},
            nullptr,
            nullptr,
            &of};
}

inline constexpr KemSet kem_sets[] = {
    kem_set(kem::ntruhps2048509),  kem_set(kem::ntruhps2048677), kem_set(kem::ntruhps4096821),
    kem_set(kem::ntruhps40961229), kem_set(kem::ntruhrss701),    kem_set(kem::ntruhrss1373),
    kem_set(kem::mlkem512),        kem_set(kem::mlkem768),       kem_set(kem::mlkem1024),
    kem_set(kem::x25519_set),      kem_set(kem::x25519mlkem768), kem_set(kem::xwing)};
inline constexpr int kem_set_count = kem::set_count + kem::mlkem_set_count + kem::hybrid_set_count;
static_assert(sizeof kem_sets / sizeof *kem_sets == kem_set_count);

// Size of an item's coins, and its stride when drawn from a generator of 16-byte blocks.
inline size_t coins_bytes(const KemSet& set, KemOperation operation) {
    return set.coins[static_cast<int>(operation)];
}
inline size_t drawn_coins_stride(const KemSet& set, KemOperation operation) {
    return (coins_bytes(set, operation) + 15) / 16 * 16;
}

// Returns the set's index in kem_sets, or -1 if there is no set of that name.
constexpr int kem_set_number(std::string_view name) {
    for (int i = 0; i < kem_set_count; ++i)
        if (name == kem_sets[i].name) return i;
    return -1;
}

}  // namespace warpseal
