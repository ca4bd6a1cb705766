// Key encapsulation of the groups' algorithms (provider-kem(7)): NTRU or ML-KEM, in hybrids after
// an ephemeral exchange of the classical group.
#include <openssl/core_dispatch.h>

#include <new>
#include <utility>

#include "provider/algorithms.h"
#include "provider/exchange.h"
#include "provider/identifiers.h"
#include "provider/key.h"

namespace warpseal::provider {
namespace {

struct Kem {
    const Context& context;
    const Group& group;
    const Key* key = nullptr;  // owned by libcrypto, valid during the operation
};

template <size_t group>
void* create(void* provider) {
    return new (std::nothrow) Kem{*static_cast<const Context*>(provider), groups[group]};
}

void destroy(void* kem) { delete static_cast<Kem*>(kem); }

void* duplicate(void* from) { return new (std::nothrow) Kem(*static_cast<const Kem*>(from)); }

// Sets the key. Rejects null, a key of another group, and a key without the needed half.
int begin(Kem& kem, const Key* key, bool (Key::*has_half)() const, Reason lacking) {
    kem.key = nullptr;
    if (key != nullptr && &key->group() != &kem.group) {
        raise(kem.context, Reason::wrong_group, kem.group.name);
        return 0;
    }
    if (key == nullptr || !(key->*has_half)()) {
        raise(kem.context, lacking);
        return 0;
    }
    kem.key = key;
    return 1;
}

int begin_encapsulation(void* data, void* key, const OSSL_PARAM*) {
    return begin(*static_cast<Kem*>(data), static_cast<const Key*>(key), &Key::has_public,
                 Reason::no_public_key);
}

int begin_decapsulation(void* data, void* key, const OSSL_PARAM*) {
    return begin(*static_cast<Kem*>(data), static_cast<const Key*>(key), &Key::has_secret,
                 Reason::no_secret_key);
}

// `capacity`: size of the caller's buffer, or null if unknown.
bool has_capacity(const Context& context, const size_t* capacity, size_t wanted) {
    if (capacity == nullptr || *capacity >= wanted) return true;
    raise(context, Reason::wrong_length, "the output has no room");
    return false;
}

// Runs our half of the classical exchange with an ephemeral key.
bool exchange_classical(const Key& key, std::span<uint8_t> share, std::span<uint8_t> secret) {
    const Classical& classical = *key.group().classical;
    const Pkey own = generate_classical(key.context(), classical);
    return own != nullptr && write_classical_share(key.context(), classical, own.get(), share) &&
           agree(key.context(), classical, own.get(), key.classical(), secret);
}

int encapsulate_both(void* data, unsigned char* out, size_t* out_bytes, unsigned char* secret,
                     size_t* secret_bytes) {
    const Kem& kem = *static_cast<const Kem*>(data);
    if (kem.key == nullptr) {
        raise(kem.context, Reason::not_initialised);
        return 0;
    }
    const Group& group = kem.key->group();
    if (out != nullptr) {
        if (secret == nullptr) {
            raise(kem.context, Reason::wrong_parameter, "nowhere for the secret");
            return 0;
        }
        if (!has_capacity(kem.context, out_bytes, group.server_share_bytes()) ||
            !has_capacity(kem.context, secret_bytes, group.secret_bytes()))
            return 0;
        const std::span<uint8_t> shares(out, group.server_share_bytes()),
            secrets(secret, group.secret_bytes());
        const size_t share_split = group.classical_share_bytes(),
                     secret_split = group.classical_secret_bytes();
        // The set runs first, because a fibre that is abandoned while paused there holds no
        // secrets.
        if (!kem.key->encapsulate_set(shares.subspan(share_split), secrets.subspan(secret_split)) ||
            (group.classical != nullptr && !exchange_classical(*kem.key, shares.first(share_split),
                                                               secrets.first(secret_split)))) {
            OPENSSL_cleanse(secret, group.secret_bytes());
            return 0;
        }
    }
    if (out_bytes != nullptr) *out_bytes = group.server_share_bytes();
    if (secret_bytes != nullptr) *secret_bytes = group.secret_bytes();
    return 1;
}

bool decapsulate_classical(const Key& key, std::span<const uint8_t> share,
                           std::span<uint8_t> secret) {
    const Classical& classical = *key.group().classical;
    const Pkey peer = read_classical_share(key.context(), classical, share);
    return peer != nullptr && agree(key.context(), classical, key.classical(), peer.get(), secret);
}

int decapsulate_both(void* data, unsigned char* secret, size_t* secret_bytes,
                     const unsigned char* in, size_t in_bytes) {
    const Kem& kem = *static_cast<const Kem*>(data);
    if (kem.key == nullptr) {
        raise(kem.context, Reason::not_initialised);
        return 0;
    }
    const Group& group = kem.key->group();
    if (secret != nullptr) {
        if (in == nullptr || in_bytes != group.server_share_bytes()) {
            raise(kem.context, Reason::wrong_length, group.name);
            return 0;
        }
        if (!has_capacity(kem.context, secret_bytes, group.secret_bytes())) return 0;
        const std::span<uint8_t> secrets(secret, group.secret_bytes());
        const std::span<const uint8_t> shares(in, in_bytes);
        const size_t share_split = group.classical_share_bytes(),
                     secret_split = group.classical_secret_bytes();
        if (!kem.key->decapsulate_set(shares.subspan(share_split), secrets.subspan(secret_split)) ||
            (group.classical != nullptr &&
             !decapsulate_classical(*kem.key, shares.first(share_split),
                                    secrets.first(secret_split)))) {
            OPENSSL_cleanse(secret, group.secret_bytes());
            return 0;
        }
    }
    if (secret_bytes != nullptr) *secret_bytes = group.secret_bytes();
    return 1;
}

template <size_t group>
const OSSL_DISPATCH functions[] = {
    dispatch(OSSL_FUNC_KEM_NEWCTX, create<group>),
    dispatch(OSSL_FUNC_KEM_FREECTX, destroy),
    dispatch(OSSL_FUNC_KEM_DUPCTX, duplicate),
    dispatch(OSSL_FUNC_KEM_ENCAPSULATE_INIT, begin_encapsulation),
    dispatch(OSSL_FUNC_KEM_ENCAPSULATE, encapsulate_both),
    dispatch(OSSL_FUNC_KEM_DECAPSULATE_INIT, begin_decapsulation),
    dispatch(OSSL_FUNC_KEM_DECAPSULATE, decapsulate_both),
    {0, nullptr},
};

template <size_t... group>
constexpr std::array<OSSL_ALGORITHM, sizeof...(group)> every_algorithm(
    std::index_sequence<group...>) {
    return {{{algorithm_names<group>(), properties, functions<group>, groups[group].name}...}};
}

constexpr Tables tables(every_algorithm(std::make_index_sequence<groups.size()>()),
                        [](size_t entry) { return entry; });

}  // namespace

// OpenSSL's KEM of the name X25519 is that of HPKE (RFC 9180 4.1), which hashes the secret.
const OSSL_ALGORITHM* kem_algorithms(Offer offer) {
    offer.x25519 = false;
    return tables[offer];
}

}  // namespace warpseal::provider
