// Order in which secrets are tried on the key slots of a header, and the limits of their Argon2id
// cost.
#pragma once

#include <functional>

#include "container/header/header.h"

namespace warpseal::container {

// Reason for skipping a slot, or a slot with a passphrase.
enum class Refusal : uint8_t {
    none,
    slot_cost,  // the slot's Argon2id parameters are out of bounds
    // The passphrase slots of the copy together exceed argon2_work_max; `slot` is null.
    copy_work,
    // The tries before it have left too little of the call's budget.
    budget,
};

struct Try {
    const Slot* slot = nullptr;
    const warpseal_secret* secret = nullptr;
    Refusal refusal = Refusal::none;
};

// Calls `visit` for each try until it returns true. Returns true if a call did.
// Order: keys, identities (X25519, ML-KEM, NTRU, SSH), passphrases, late unwrappers (plugins, then
// SSH); then the copy with the higher generation (copy 0 if equal), then the copy's slots, each
// with all secrets in order. Only the first of equal slots is tried. Passphrase tries that are not
// refused cost at most `budget` together, in passes times KiB.
bool visit_tries(const Header& header, const warpseal_secret* secrets, size_t secret_count,
                 uint64_t budget, const std::function<bool(const Try&)>& visit);

}  // namespace warpseal::container
