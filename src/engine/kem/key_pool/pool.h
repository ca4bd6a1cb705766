// Pool of ephemeral key pairs generated ahead: slots, handles, and behavior after fork.
#pragma once

#include <atomic>
#include <vector>

#include "backends/kem_catalogue.h"
#include "engine/kem/key_pool/key_store.h"
#include "platform/forks.h"

namespace warpseal {

class KemKeyPool {
public:
    static warpseal_status create(Engine& engine, const char* set, uint64_t pairs,
                                  Engine::RandomSource random, std::unique_ptr<KemKeyPool>& out);

    // See warpseal/kem.h.
    warpseal_status fill();
    warpseal_status acquire(uint64_t count, const PooledPublics& publics, uint64_t* handles);
    warpseal_status decapsulate(uint64_t count, const uint64_t* handles, const PooledTexts& texts);
    void release(uint64_t count, const uint64_t* handles);

private:
    using PoolSlots = std::vector<uint32_t>;
    struct PoolSlot {
        uint64_t uses = 0;   // number of handles issued so far; stays below 2^32 in practice
        bool taken = false;  // the handle is valid
    };

    // Store of the pairs that a call uses. Differs from store_ if the pool has replaced a lost one.
    using Store = std::shared_ptr<KemKeyStore>;

    KemKeyPool(Engine& engine, const KemSet& set, uint32_t pairs, Engine::RandomSource random);
    // The caller must hold mutex_ for the next six, except in create(). ensure_alive() calls the
    // two below if needed. start_over() is for a forked child, since the pairs belong to the
    // parent. replace_store() replaces a lost GPU's store; slots that calls use stay with them.
    warpseal_status ensure_alive();
    warpseal_status start_over();
    warpseal_status replace_store();
    uint64_t handle(uint32_t slot) const {
        return salt_ ^ (slots_[slot].uses << slot_bits_ | slot);
    }
    // Returns the slot, which the caller then owns until settle(), or KemKeyStore::no_slot if the
    // handle is invalid.
    uint32_t claim(uint64_t handle);
    void free_slot(uint32_t slot);

    // Claims the slots of the first handles and sets `count` to their number.
    warpseal_status claim_some(const uint64_t* handles, uint64_t& count, uint32_t* slots,
                               Store& store);
    // Returns claimed slots: used ones become free, others keep their handles.
    void settle(const uint32_t* slots, size_t count, bool used, const Store& store);
    warpseal_status collect(uint64_t count, PoolSlots& mine, Store& store);
    bool issue_handles(PoolSlots& mine, const Store& store, uint64_t* handles);
    void notify();

    Engine& engine_;
    const KemSet& set_;
    const Engine::RandomSource random_;
    const unsigned slot_bits_;

    // A slot is in free_, in ready_, taken, or owned by a call that works on it without the lock.
    ForkMutex mutex_;
    Store store_;
    std::vector<PoolSlot> slots_;
    // Slots without a pair, and slots with an unassigned pair. Each has capacity for all slots.
    PoolSlots free_, ready_;
    // Slots not taken, minus those reserved by `acquire` calls in progress.
    uint64_t unreserved_;
    uint64_t filling_ = 0;  // slots that `fill` owns, about to become ready
    uint64_t salt_ = 0;
    unsigned long forks_ = 0;
    std::atomic<uint32_t> changes_{0};  // counts changes of free_ and ready_, for waiting
};

}  // namespace warpseal
