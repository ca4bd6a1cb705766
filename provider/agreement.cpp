// Key agreement with X25519 (provider-keyexch(7)), through the batcher: an agreement is a
// decapsulation of the peer's public key.
#include <openssl/core_dispatch.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <new>

#include "provider/algorithms.h"
#include "provider/exchange.h"
#include "provider/identifiers.h"
#include "provider/key.h"

namespace warpseal::provider {
namespace {

constexpr const Set& set = x25519_alone;

struct Agreement {
    const Context& context;
    const Key* own = nullptr;  // owned by libcrypto, valid during the operation
    bool has_peer = false;
    std::array<uint8_t, x25519_alone.ciphertext> peer;  // copied: libcrypto does not keep the key
};

void* create(void* provider) {
    return new (std::nothrow) Agreement{*static_cast<const Context*>(provider), nullptr, false, {}};
}

void destroy(void* agreement) { delete static_cast<Agreement*>(agreement); }

void* duplicate(void* from) {
    return new (std::nothrow) Agreement(*static_cast<const Agreement*>(from));
}

// Returns null, with an error raised, unless it is a key of X25519 with the needed half.
const Key* checked(const Context& context, const void* data, bool (Key::*has_half)() const,
                   Reason lacking) {
    const Key* const key = static_cast<const Key*>(data);
    if (key != nullptr && !key->group().is_x25519()) {
        raise(context, Reason::wrong_group, x25519_group.name);
        return nullptr;
    }
    if (key != nullptr && (key->*has_half)()) return key;
    raise(context, lacking);
    return nullptr;
}

int begin(void* data, void* key, const OSSL_PARAM*) {
    Agreement& agreement = *static_cast<Agreement*>(data);
    agreement.has_peer = false;
    agreement.own = checked(agreement.context, key, &Key::has_secret, Reason::no_secret_key);
    return agreement.own != nullptr;
}

int set_peer(void* data, void* key) {
    Agreement& agreement = *static_cast<Agreement*>(data);
    agreement.has_peer = false;
    const Key* const peer =
        checked(agreement.context, key, &Key::has_public, Reason::no_public_key);
    if (peer == nullptr) return 0;
    std::ranges::copy(peer->share(), agreement.peer.begin());
    agreement.has_peer = true;
    return 1;
}

// The engine refuses a result of zeros, which a peer of low order gives (RFC 7748 6.1).
int derive(void* data, unsigned char* secret, size_t* bytes, size_t capacity) {
    const Agreement& agreement = *static_cast<const Agreement*>(data);
    if (agreement.own == nullptr || !agreement.has_peer) {
        raise(agreement.context, Reason::not_initialised);
        return 0;
    }
    if (secret != nullptr && capacity < set.shared_secret_bytes()) {
        raise(agreement.context, Reason::wrong_length, "the output has no room");
        return 0;
    }
    if (secret != nullptr && !decapsulate(agreement.context, set, agreement.own->secret_key(),
                                          agreement.peer, {secret, set.shared_secret_bytes()})) {
        OPENSSL_cleanse(secret, set.shared_secret_bytes());
        return 0;
    }
    if (bytes != nullptr) *bytes = set.shared_secret_bytes();
    return 1;
}

const OSSL_DISPATCH functions[] = {
    dispatch(OSSL_FUNC_KEYEXCH_NEWCTX, create),
    dispatch(OSSL_FUNC_KEYEXCH_FREECTX, destroy),
    dispatch(OSSL_FUNC_KEYEXCH_DUPCTX, duplicate),
    dispatch(OSSL_FUNC_KEYEXCH_INIT, begin),
    dispatch(OSSL_FUNC_KEYEXCH_SET_PEER, set_peer),
    dispatch(OSSL_FUNC_KEYEXCH_DERIVE, derive),
    {0, nullptr},
};

constexpr size_t group = groups.size() - 1;
constexpr OSSL_ALGORITHM algorithms[] = {
    {algorithm_names<group>(), properties, functions, x25519_group.name},
    {nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

const OSSL_ALGORITHM* agreement_algorithms(Offer offer) {
    return offer.x25519 ? algorithms : nullptr;
}

}  // namespace warpseal::provider
