// Keys of groups, and the checks of shares and secret keys.
#include "provider/key.h"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <algorithm>
#include <new>

#include "provider/exchange.h"
#include "provider/shares.h"

namespace warpseal::provider {
namespace {

SecretBytes copied(std::span<const uint8_t> bytes) {
    SecretBytes made(bytes.size());
    if (!made.empty()) std::ranges::copy(bytes, made.data());
    return made;
}

bool out_of_memory(const Context& context) {
    raise(context, Reason::out_of_memory);
    return false;
}

}  // namespace

// Keys of ML-KEM alone keep their seed, for files.
bool Key::generate_from_new_seed() {
    SecretBytes seed(mlkem_seed_bytes);
    if (seed.empty()) return out_of_memory(context_);
    if (warpseal_internal_random(seed.data(), seed.size()) != 0) return set_seed(seed, {}, {});
    raise(context_, WARPSEAL_NO_RANDOM);
    return false;
}

bool Key::generate() {
    if (group_.is_mlkem()) return generate_from_new_seed();
    SecretBytes share(group_.share_bytes()), secret_key(group_.secret_key_bytes());
    if (share.empty() || secret_key.empty()) return out_of_memory(context_);
    const std::span<uint8_t> both(share), secrets(secret_key);
    // The set runs first, because a fibre that is abandoned while paused there holds no secrets.
    if (!make_keypair(context_, group_.set, both.subspan(group_.classical_share_bytes()),
                      secrets.subspan(group_.scalar_bytes())))
        return false;
    Pkey classical;
    if (group_.classical != nullptr) {
        classical = generate_classical(context_, *group_.classical);
        if (classical == nullptr ||
            !write_classical_share(context_, *group_.classical, classical.get(),
                                   both.first(group_.classical_share_bytes())) ||
            !write_scalar(context_, *group_.classical, classical.get(),
                          secrets.first(group_.scalar_bytes())))
            return false;
    }
    take(std::move(share), std::move(secret_key), {}, std::move(classical));
    return true;
}

void Key::take(SecretBytes share, SecretBytes secret_key, SecretBytes seed, Pkey classical) {
    prepared_public_.reset();
    prepared_secret_.reset();
    share_ = std::move(share);
    secret_key_ = std::move(secret_key);
    seed_ = std::move(seed);
    classical_ = std::move(classical);
}

bool Key::encapsulate_set(std::span<uint8_t> ciphertext, std::span<uint8_t> secret) const {
    if (const warpseal_kem_key* const prepared =
            prepared_public_.get(context_, group_.set, set_public_key()))
        return encapsulate(context_, prepared, ciphertext, secret);
    return encapsulate(context_, group_.set, set_public_key(), ciphertext, secret);
}

bool Key::decapsulate_set(std::span<const uint8_t> ciphertext, std::span<uint8_t> secret) const {
    if (const warpseal_kem_key* const prepared =
            prepared_secret_.get(context_, group_.set, set_secret_key()))
        return decapsulate(context_, prepared, ciphertext, secret);
    return decapsulate(context_, group_.set, set_secret_key(), ciphertext, secret);
}

bool Key::check_share(std::span<const uint8_t> share) const {
    if (share.size() != group_.share_bytes()) {
        raise(context_, Reason::wrong_length, group_.name);
        return false;
    }
    const char* const fault =
        public_key_fault(group_.set, share.subspan(group_.classical_share_bytes()));
    if (fault == nullptr) return true;
    raise(context_, Reason::bad_share, fault);
    return false;
}

// Checks that the public key within a secret key is the share's, and its hash (FIPS 203, section
// 7.3).
bool Key::check_mlkem_secret(std::span<const uint8_t> secret_key,
                             std::span<const uint8_t> share) const {
    const auto key = secret_key.subspan(group_.scalar_bytes());
    const auto within = mlkem_public_key(group_.set, key);
    uint8_t hash[EVP_MAX_MD_SIZE];
    size_t hash_bytes = 0;
    if (EVP_Q_digest(context_.libctx(), "SHA3-256", not_us, within.data(), within.size(), hash,
                     &hash_bytes) > 0 &&
        std::ranges::equal(mlkem_public_key_hash(group_.set, key),
                           std::span<const uint8_t>(hash, hash_bytes)) &&
        std::ranges::equal(within, share.subspan(group_.classical_share_bytes(), within.size())))
        return true;
    raise(context_, Reason::bad_encoding, "the secret key of ML-KEM has another public key");
    return false;
}

bool Key::set_share(std::span<const uint8_t> share) {
    if (!check_share(share)) return false;
    Pkey classical;
    if (group_.classical != nullptr) {
        classical = read_classical_share(context_, *group_.classical,
                                         share.first(group_.classical_share_bytes()));
        if (classical == nullptr) return false;
    }
    SecretBytes kept = copied(share);
    if (kept.empty()) return out_of_memory(context_);
    take(std::move(kept), {}, {}, std::move(classical));
    return true;
}

bool Key::set_pair(std::span<const uint8_t> secret_key, std::span<const uint8_t> share) {
    if (secret_key.size() != group_.secret_key_bytes()) {
        raise(context_, Reason::wrong_length, group_.name);
        return false;
    }
    if (group_.is_x25519()) return set_scalar(secret_key, share);
    if (share.empty() && group_.is_mlkem()) share = mlkem_public_key(group_.set, secret_key);
    if (!check_share(share)) return false;
    if (group_.set.rank != 0 && !check_mlkem_secret(secret_key, share)) return false;
    Pkey classical;
    if (group_.classical != nullptr) {
        classical = read_classical_pair(context_, *group_.classical,
                                        secret_key.first(group_.scalar_bytes()),
                                        share.first(group_.classical_share_bytes()));
        if (classical == nullptr) return false;
    }
    SecretBytes stored_share = copied(share), kept_secret = copied(secret_key);
    if (stored_share.empty() || kept_secret.empty()) return out_of_memory(context_);
    take(std::move(stored_share), std::move(kept_secret), {}, std::move(classical));
    return true;
}

bool Key::set_scalar(std::span<const uint8_t> scalar, std::span<const uint8_t> share) {
    if (!share.empty() && !check_share(share)) return false;
    SecretBytes made_share(group_.share_bytes()), same(scalar.size()), kept = copied(scalar);
    if (made_share.empty() || same.empty() || kept.empty()) return out_of_memory(context_);
    if (!make_keypair_of(context_, group_.set, scalar, made_share, same)) return false;
    if (!share.empty() && !std::ranges::equal(share, std::span<const uint8_t>(made_share))) {
        raise(context_, Reason::bad_encoding, "the scalar has another public key");
        return false;
    }
    take(std::move(made_share), std::move(kept), {}, nullptr);
    return true;
}

bool Key::set_seed(std::span<const uint8_t> seed, std::span<const uint8_t> secret_key,
                   std::span<const uint8_t> share) {
    if (seed.size() != mlkem_seed_bytes) {
        raise(context_, Reason::wrong_length, "the seed of ML-KEM");
        return false;
    }
    SecretBytes made_share(group_.share_bytes()), made_secret(group_.secret_key_bytes()),
        kept_seed = copied(seed);
    if (made_share.empty() || made_secret.empty() || kept_seed.empty())
        return out_of_memory(context_);
    if (!make_keypair_of(context_, group_.set, seed, made_share, made_secret)) return false;
    const auto same = [](std::span<const uint8_t> given, const SecretBytes& made) {
        return given.empty() || (given.size() == made.size() &&
                                 CRYPTO_memcmp(given.data(), made.data(), made.size()) == 0);
    };
    if (!same(secret_key, made_secret) || !same(share, made_share)) {
        raise(context_, Reason::bad_encoding, "the seed of ML-KEM gives other keys");
        return false;
    }
    take(std::move(made_share), std::move(made_secret), std::move(kept_seed), nullptr);
    return true;
}

std::unique_ptr<Key> Key::copy(bool with_secret) const {
    std::unique_ptr<Key> made(new (std::nothrow) Key(context_, group_));
    if (made == nullptr) {
        raise(context_, Reason::out_of_memory);
        return nullptr;
    }
    if (!has_public()) return made;
    if (!with_secret || !has_secret()) return made->set_share(share_) ? std::move(made) : nullptr;
    made->share_ = copied(share_);
    made->secret_key_ = copied(secret_key_);
    if (!seed_.empty()) made->seed_ = copied(seed_);
    // Shared, because it is immutable.
    if (classical_ != nullptr && EVP_PKEY_up_ref(classical_.get()) > 0)
        made->classical_.reset(classical_.get());
    if (made->share_.size() == share_.size() && made->secret_key_.size() == secret_key_.size() &&
        made->seed_.size() == seed_.size() && !made->classical_ == !classical_)
        return made;
    (void)out_of_memory(context_);
    return nullptr;
}

int Key::export_to(bool with_secret, OSSL_CALLBACK* callback, void* user) const {
    const auto octet_string = [](const char* name, std::span<const uint8_t> bytes) {
        return OSSL_PARAM_construct_octet_string(name, const_cast<uint8_t*>(bytes.data()),
                                                 bytes.size());
    };
    OSSL_PARAM params[4] = {octet_string(OSSL_PKEY_PARAM_PUB_KEY, share())};
    size_t count = 1;
    if (with_secret) params[count++] = octet_string(OSSL_PKEY_PARAM_PRIV_KEY, secret_key());
    if (with_secret && !seed_.empty()) params[count++] = octet_string(seed_param, seed());
    params[count] = OSSL_PARAM_construct_end();
    return callback(params, user);
}

bool Key::is_pair() const {
    if (!has_public() || !has_secret()) return false;
    const size_t secret_bytes = group_.set.shared_secret_bytes();
    SecretBytes ciphertext(group_.set.ciphertext_bytes()), sent(secret_bytes),
        received(secret_bytes);
    if (ciphertext.empty() || sent.empty() || received.empty()) return out_of_memory(context_);
    if (group_.classical != nullptr) {
        const Pkey classical_share = read_classical_share(
            context_, *group_.classical, share().first(group_.classical_share_bytes()));
        if (classical_share == nullptr ||
            !is_classical_pair(context_, *group_.classical, classical_.get(),
                               classical_share.get()))
            return false;
    }
    return encapsulate(context_, group_.set, set_public_key(), ciphertext, sent) &&
           decapsulate(context_, group_.set, set_secret_key(), ciphertext, received) &&
           CRYPTO_memcmp(sent.data(), received.data(), secret_bytes) == 0;
}

}  // namespace warpseal::provider
