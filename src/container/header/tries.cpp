// Order and Argon2id cost of tries, computed from the header before any key is derived.
#include "container/header/tries.h"

#include <algorithm>

namespace warpseal::container {
namespace {

bool same(Bytes a, Bytes b) { return a.size == b.size && memcmp(a.data, b.data, a.size) == 0; }

// True if the first `count` slots of the copy contain an equal slot.
bool holds(const HeaderCopy& copy, uint32_t count, const Slot& slot) {
    return copy.well_formed && std::any_of(copy.slots, copy.slots + count, [&](const Slot& other) {
               return same(other.whole, slot.whole);
           });
}

// Returns the cost of all passphrase slots of a copy, without those that are out of bounds.
uint64_t passphrase_work(const HeaderCopy& copy) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < copy.slot_count; ++i) {
        if (copy.slots[i].type != WARPSEAL_SECRET_PASSPHRASE) continue;
        const Argon2Cost cost = passphrase_cost(copy.slots[i]);
        if (within_bounds(cost)) sum += work(cost);
    }
    return sum;
}

class Tries {
public:
    Tries(const Header& header, const warpseal_secret* secrets, size_t secret_count,
          uint64_t budget, const std::function<bool(const Try&)>& visit)
        : first_(header.copies[header.newest() == 1 ? 1 : 0]),
          second_(header.copies[header.newest() == 1 ? 0 : 1]),
          secrets_(secrets),
          end_(secrets + secret_count),
          visit_(visit),
          budget_(budget) {}

    // late: with the secrets that come after all others, or with those others.
    bool of_type(uint32_t type, bool late) {
        late_ = late;
        if (std::none_of(secrets_, end_, [&](const warpseal_secret& secret) {
                return is_due(secret, static_cast<uint16_t>(type));
            }))
            return false;
        return of_copy(first_, type) || of_copy(second_, type);
    }

private:
    bool is_due(const warpseal_secret& secret, uint16_t type) const {
        return opens_type(secret, type) && is_late_secret(secret) == late_;
    }
    bool of_copy(const HeaderCopy& copy, uint32_t type) {
        if (!copy.well_formed) return false;
        if (type == WARPSEAL_SECRET_PASSPHRASE && passphrase_work(copy) > argon2_work_max)
            return visit_({nullptr, nullptr, Refusal::copy_work});
        for (uint32_t i = 0; i < copy.slot_count; ++i) {
            const Slot& slot = copy.slots[i];
            const bool tried = holds(copy, i, slot) ||
                               (&copy == &second_ && holds(first_, first_.slot_count, slot));
            if (slot.type == type && !tried && of_slot(slot)) return true;
        }
        return false;
    }
    bool of_slot(const Slot& slot) {
        const bool passphrase = slot.type == WARPSEAL_SECRET_PASSPHRASE;
        if (passphrase && !within_bounds(passphrase_cost(slot)))
            return visit_({&slot, nullptr, Refusal::slot_cost});
        for (const warpseal_secret* secret = secrets_; secret != end_; ++secret) {
            if (!is_due(*secret, slot.type)) continue;
            const bool affordable = !passphrase || spend(work(passphrase_cost(slot)));
            if (visit_({&slot, secret, affordable ? Refusal::none : Refusal::budget})) return true;
        }
        return false;
    }
    // A try that exceeds the remaining budget is skipped and spends nothing, so cheaper ones may
    // follow.
    bool spend(uint64_t cost) {
        if (cost > budget_) return false;
        budget_ -= cost;
        return true;
    }

    const HeaderCopy &first_, &second_;
    const warpseal_secret* const secrets_;
    const warpseal_secret* const end_;
    const std::function<bool(const Try&)>& visit_;
    uint64_t budget_;
    bool late_ = false;
};

}  // namespace

bool visit_tries(const Header& header, const warpseal_secret* secrets, size_t secret_count,
                 uint64_t budget, const std::function<bool(const Try&)>& visit) {
    Tries tries(header, secrets, secret_count, budget, visit);
    for (const uint32_t type :
         {WARPSEAL_SLOT_KEY, WARPSEAL_SLOT_X25519, WARPSEAL_SLOT_MLKEM768_X25519,
          WARPSEAL_SLOT_NTRU_X25519, WARPSEAL_SLOT_SSH_ED25519, WARPSEAL_SLOT_SSH_RSA,
          WARPSEAL_SLOT_PASSPHRASE})
        if (tries.of_type(type, false)) return true;
    for (const uint32_t type :
         {WARPSEAL_SLOT_STANZA, WARPSEAL_SLOT_SSH_ED25519, WARPSEAL_SLOT_SSH_RSA})
        if (tries.of_type(type, true)) return true;
    return false;
}

}  // namespace warpseal::container
