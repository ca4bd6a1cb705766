// Keys of groups, and the checks of shares and secret keys.
#include "provider/key.h"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <algorithm>
#include <new>

#include "provider/exchange.h"

namespace warpseal::provider {
namespace {

SecretBytes copied(std::span<const uint8_t> bytes) {
    SecretBytes made(bytes.size());
    if (!made.empty()) std::ranges::copy(bytes, made.data());
    return made;
}

// The unused bits in the last byte of an NTRU public key must be zero.
bool spare_bits_are_zero(const Set& set, std::span<const uint8_t> public_key) {
    const size_t spare = 8 * set.public_key_bytes() - set.public_key_bits();
    return public_key.back() >> (8 - spare) == 0;
}

bool out_of_memory(const Context& context) {
    raise(context, Reason::out_of_memory);
    return false;
}

}  // namespace

bool Key::generate() {
    SecretBytes share(group_.share_bytes()), secret_key(group_.secret_key_bytes());
    if (share.empty() || secret_key.empty()) return out_of_memory(context_);
    const std::span<uint8_t> both(share), secrets(secret_key);
    // NTRU runs first, because a fibre that is abandoned while paused there then holds no secrets.
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
    share_ = std::move(share);
    secret_key_ = std::move(secret_key);
    classical_ = std::move(classical);
    return true;
}

bool Key::check_share(std::span<const uint8_t> share) const {
    if (share.size() != group_.share_bytes()) {
        raise(context_, Reason::wrong_length, group_.name);
        return false;
    }
    if (spare_bits_are_zero(group_.set, share)) return true;
    raise(context_, Reason::bad_share, "spare bits are set");
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
    share_ = std::move(kept);
    secret_key_ = SecretBytes();
    classical_ = std::move(classical);
    return true;
}

bool Key::set_pair(std::span<const uint8_t> secret_key, std::span<const uint8_t> share) {
    if (!check_share(share)) return false;
    if (secret_key.size() != group_.secret_key_bytes()) {
        raise(context_, Reason::wrong_length, group_.name);
        return false;
    }
    Pkey classical;
    if (group_.classical != nullptr) {
        classical = read_classical_pair(context_, *group_.classical,
                                        secret_key.first(group_.scalar_bytes()),
                                        share.first(group_.classical_share_bytes()));
        if (classical == nullptr) return false;
    }
    SecretBytes stored_share = copied(share), kept_secret = copied(secret_key);
    if (stored_share.empty() || kept_secret.empty()) return out_of_memory(context_);
    share_ = std::move(stored_share);
    secret_key_ = std::move(kept_secret);
    classical_ = std::move(classical);
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
    // Shared, because it is immutable.
    if (classical_ != nullptr && EVP_PKEY_up_ref(classical_.get()) > 0)
        made->classical_.reset(classical_.get());
    if (made->share_.size() == share_.size() && made->secret_key_.size() == secret_key_.size() &&
        !made->classical_ == !classical_)
        return made;
    (void)out_of_memory(context_);
    return nullptr;
}

int Key::export_to(bool with_secret, OSSL_CALLBACK* callback, void* user) const {
    const auto octet_string = [](const char* name, std::span<const uint8_t> bytes) {
        return OSSL_PARAM_construct_octet_string(name, const_cast<uint8_t*>(bytes.data()),
                                                 bytes.size());
    };
    OSSL_PARAM params[3] = {octet_string(OSSL_PKEY_PARAM_PUB_KEY, share()),
                            OSSL_PARAM_construct_end(), OSSL_PARAM_construct_end()};
    if (with_secret) params[1] = octet_string(OSSL_PKEY_PARAM_PRIV_KEY, secret_key());
    return callback(params, user);
}

bool Key::is_pair() const {
    if (!has_public() || !has_secret()) return false;
    SecretBytes ciphertext(group_.set.ciphertext_bytes()), sent(ntru_secret_bytes),
        received(ntru_secret_bytes);
    if (ciphertext.empty() || sent.empty() || received.empty()) return out_of_memory(context_);
    if (group_.classical != nullptr) {
        const Pkey classical_share = read_classical_share(
            context_, *group_.classical, share().first(group_.classical_share_bytes()));
        if (classical_share == nullptr ||
            !is_classical_pair(context_, *group_.classical, classical_.get(),
                               classical_share.get()))
            return false;
    }
    return encapsulate(context_, group_.set, ntru_public_key(), ciphertext, sent) &&
           decapsulate(context_, group_.set, ntru_secret_key(), ciphertext, received) &&
           CRYPTO_memcmp(sent.data(), received.data(), ntru_secret_bytes) == 0;
}

}  // namespace warpseal::provider
