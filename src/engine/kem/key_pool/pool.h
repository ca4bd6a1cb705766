// A pool of key pairs made before they are wanted: places, tickets, and what a fork does to them.
#pragma once

#include <atomic>
#include <vector>

#include "engine/kem/key_pool/key_store.h"
#include "platform/forks.h"

namespace warpseal {

class KemKeyPool {
public:
    static warpseal_status create(Engine& engine, const char* set, uint64_t pairs,
                                  Engine::RandomSource random, std::unique_ptr<KemKeyPool>& out);

    // As the calls of warpseal/kem.h.
    warpseal_status fill();
    warpseal_status acquire(uint64_t count, const PooledPublics& publics, uint64_t* handles);
    warpseal_status decapsulate(uint64_t count, const uint64_t* handles, const PooledTexts& texts);
    void release(uint64_t count, const uint64_t* handles);

private:
    using PoolSlots = std::vector<uint32_t>;
    struct PoolSlot {
        uint64_t uses = 0;   // of its ticket; there is time for 2^32 in no pool that has memory
        bool taken = false;  // its ticket is good
    };

    // Where the pairs lie that a call has in hand: elsewhere than the pool's, if those are lost.
    using Home = std::shared_ptr<KemKeyStore>;

    KemKeyPool(Engine& engine, const kem::Params& set, uint32_t pairs, Engine::RandomSource random);
    // The next five under mutex_. In a forked child, whose parent the pairs belong to, everything
    // begins anew; after the loss of a GPU the places stay in the hands they are in.
    warpseal_status alive();
    warpseal_status begin();
    warpseal_status move();
    uint64_t handle(uint32_t slot) const {
        return salt_ ^ (slots_[slot].uses << slot_bits_ | slot);
    }
    uint32_t claim(uint64_t handle);  // KemKeyStore::nowhere: it names none. Its place is in the
                                      // caller's hands then, until it is settled
    void free_slot(uint32_t slot);

    // Of the first tickets, some; how many is then in `count`.
    warpseal_status claim_some(const uint64_t* handles, uint64_t& count, uint32_t* slots,
                               Home& home);
    // Pairs that were used leave free places; others keep their tickets.
    void settle(const uint32_t* slots, size_t count, bool used, const Home& home);
    warpseal_status collect(uint64_t count, PoolSlots& mine, Home& home);
    bool hand_over(PoolSlots& mine, const Home& home, uint64_t* handles);
    void notify();

    Engine& engine_;
    const kem::Params& set_;
    const Engine::RandomSource random_;
    const unsigned slot_bits_;

    // A place is in free_, in ready_, taken, or in the hands of a call, which works on it without
    // the lock.
    ForkMutex mutex_;
    Home store_;
    std::vector<PoolSlot> slots_;
    PoolSlots free_, ready_;  // without a pair, and with one that nobody has; room for all places
    uint64_t unpromised_;   // places that are not taken, less those that calls of `take` under way
                            // will take
    uint64_t filling_ = 0;  // in the hands of `fill`, and so about to be ready
    uint64_t salt_ = 0;
    unsigned long forks_ = 0;
    std::atomic<uint32_t> changes_{0};  // of free_ and ready_: to wait for
};

}  // namespace warpseal
