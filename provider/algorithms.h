// Algorithm tables that module.cpp hands to libcrypto, each ended by a null entry.
#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

#include <array>

#include "provider/groups.h"

namespace warpseal::provider {

class Context;

// Properties of all algorithms; encoders and decoders add more.
inline constexpr char properties[] = "provider=warpseal";
// Properties of legacy ciphers, which are only for existing data; the query warpseal.legacy!=yes
// excludes them. Property names with a dot are free for providers to define.
inline constexpr char legacy_properties[] = "provider=warpseal,warpseal.legacy=yes";

const OSSL_ALGORITHM* cipher_algorithms();
const OSSL_ALGORITHM* key_algorithms(Offer offer);
const OSSL_ALGORITHM* agreement_algorithms(Offer offer);
const OSSL_ALGORITHM* kem_algorithms(Offer offer);
const OSSL_ALGORITHM* encoder_algorithms(Offer offer);
const OSSL_ALGORITHM* decoder_algorithms(Offer offer);
// Implements the TLS-GROUP capability: calls `callback` once for each offered group. Stops and
// returns 0 when a call returns 0.
int report_groups(const Context& context, OSSL_CALLBACK* callback, void* user);

// Returns an entry of an OSSL_DISPATCH table.
template <class Function>
OSSL_DISPATCH dispatch(int number, Function* function) {
    return {number, reinterpret_cast<void (*)()>(function)};
}

// The tables of one operation for each offer, made at compile time of a table with all groups.
template <size_t entries>
class Tables {
public:
    // group_of(i): the group of entry i.
    template <class GroupOf>
    constexpr Tables(const std::array<OSSL_ALGORITHM, entries>& all, const GroupOf& group_of) {
        for (const bool mlkem : {false, true})
            for (const bool x25519 : {false, true}) {
                const Offer offer{mlkem, x25519};
                size_t used = 0;
                for (size_t i = 0; i < entries; ++i)
                    if (offer.has(group_of(i))) tables_[index(offer)][used++] = all[i];
            }
    }
    const OSSL_ALGORITHM* operator[](Offer offer) const { return tables_[index(offer)].data(); }

private:
    static constexpr size_t index(Offer offer) {
        return (offer.mlkem ? 2 : 0) + (offer.x25519 ? 1 : 0);
    }
    std::array<std::array<OSSL_ALGORITHM, entries + 1>, 4> tables_{};
};

}  // namespace warpseal::provider
