// Which secrets are tried against which key slots of a header, in which order, and what that may
// cost in Argon2id.
#pragma once

#include <functional>

#include "container/header.h"

namespace warpseal::container {

// Why a slot, or a slot with a passphrase, is left out.
enum class Refusal : uint8_t {
    none,
    slot_cost,  // the slot's Argon2id parameters are out of bounds
    copy_work,  // the passphrase slots of the copy ask for more than argon2_work_max together;
                // there is no slot
    budget,     // the tries before it have left too little of what one call may spend
};

struct Try {
    const Slot* slot = nullptr;
    const warpseal_secret* secret = nullptr;
    Refusal refusal = Refusal::none;
};

// Calls `visit` with each try until it returns true, and returns whether it did. Keys come before
// passphrases, the copy with the higher generation before the other (copy 0 where they are equal),
// and slots in the order of the copy, each with all secrets in their order. Of equal slots the
// first counts. The tries of passphrases that are not refused cost at most `budget` together, in
// passes times KiB.
bool visit_tries(const Header& header, const warpseal_secret* secrets, size_t secret_count,
                 uint64_t budget, const std::function<bool(const Try&)>& visit);

}  // namespace warpseal::container
