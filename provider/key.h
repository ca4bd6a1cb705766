// Key of a group: empty, a public key, or a pair.
#pragma once

#include <memory>
#include <span>

#include "provider/context.h"
#include "provider/groups.h"
#include "provider/hybrid.h"
#include "provider/prepared_key.h"
#include "provider/secret.h"

namespace warpseal::provider {

// A function that fails returns false or null, raises an error and leaves the key unchanged.
class Key {
public:
    Key(const Context& context, const Group& group) : context_(context), group_(group) {}
    Key(const Key&) = delete;
    Key& operator=(const Key&) = delete;

    const Context& context() const { return context_; }
    const Group& group() const { return group_; }
    bool has_public() const { return !share_.empty(); }
    bool has_secret() const { return !secret_key_.empty(); }
    // Share for the peer: the classical half, then the set's.
    std::span<const uint8_t> share() const { return share_; }
    std::span<const uint8_t> set_public_key() const {
        return share().subspan(group_.classical_share_bytes());
    }
    std::span<const uint8_t> set_secret_key() const {
        return secret_key().subspan(group_.scalar_bytes());
    }
    std::span<const uint8_t> secret_key() const { return secret_key_; }
    // Seed of a pair of ML-KEM (FIPS 203: d, then z); empty if it is not known.
    std::span<const uint8_t> seed() const { return seed_; }
    EVP_PKEY* classical() const { return classical_.get(); }

    bool generate();
    bool set_share(std::span<const uint8_t> share);
    // share: may be empty for a key of ML-KEM, whose secret key holds it, and of X25519, whose
    // scalar determines it.
    bool set_pair(std::span<const uint8_t> secret_key, std::span<const uint8_t> share);
    // Derives a pair of ML-KEM from its seed. secret_key, share: what the pair must be; empty if
    // not known.
    bool set_seed(std::span<const uint8_t> seed, std::span<const uint8_t> secret_key,
                  std::span<const uint8_t> share);
    // Copies the key, with the secret key if it exists and is wanted.
    std::unique_ptr<Key> copy(bool with_secret) const;
    // Makes one call with OSSL_PKEY_PARAM_PUB_KEY and, if wanted, OSSL_PKEY_PARAM_PRIV_KEY and the
    // seed.
    int export_to(bool with_secret, OSSL_CALLBACK* callback, void* user) const;
    // Returns true if the halves match: the secret key decapsulates what the public key
    // encapsulates.
    bool is_pair() const;

    // The set's operations under the key's half, which is prepared once it is used again.
    bool encapsulate_set(std::span<uint8_t> ciphertext, std::span<uint8_t> secret) const;
    bool decapsulate_set(std::span<const uint8_t> ciphertext, std::span<uint8_t> secret) const;

private:
    // Takes the parts of a new key. Does not fail.
    void take(SecretBytes share, SecretBytes secret_key, SecretBytes seed, Pkey classical);

    bool check_share(std::span<const uint8_t> share) const;
    bool set_scalar(std::span<const uint8_t> scalar, std::span<const uint8_t> share);
    bool check_mlkem_secret(std::span<const uint8_t> secret_key,
                            std::span<const uint8_t> share) const;
    bool generate_from_new_seed();

    const Context& context_;
    const Group& group_;
    SecretBytes share_;  // Not secret by itself, but part of a handshake.
    SecretBytes secret_key_;
    SecretBytes seed_;
    Pkey classical_;
    PreparedKey prepared_public_{warpseal_kem_public_key_create},
        prepared_secret_{warpseal_kem_secret_key_create};
};

// Parameter with the seed of a pair of ML-KEM, as OpenSSL 3.5 names it.
inline constexpr char seed_param[] = "seed";

}  // namespace warpseal::provider
