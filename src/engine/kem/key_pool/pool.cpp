// Bookkeeping under a briefly held lock. Pairs are generated, used and zeroized outside it.
#include "engine/kem/key_pool/pool.h"

#include <algorithm>
#include <bit>
#include <mutex>

#include "engine/kem/check.h"
#include "engine/kem/paths.h"
#include "engine/refusal.h"

namespace warpseal {
namespace {

constexpr size_t max_released_at_once = 64;  // on the stack: release() must not allocate

// Runs self-tests at creation: a child forked during a later self-test could wait for it forever.
warpseal_status test(Engine::Impl& impl, int set) {
    const CpuKem* kem = nullptr;
    const CpuCipher* aes = nullptr;
    warpseal_status status = tested_kem(impl, set, KemOperation::keypair, kem);
    if (status == WARPSEAL_OK) status = tested_kem(impl, set, KemOperation::decapsulate, kem);
    if (status == WARPSEAL_OK) status = tested_coins(impl, aes);
    return status;
}

// Moves up to `most` slots and returns their number.
size_t move_some(std::vector<uint32_t>& from, std::vector<uint32_t>& to, uint64_t most) {
    const auto some = static_cast<size_t>(std::min<uint64_t>(most, from.size()));
    const auto first = from.end() - static_cast<std::ptrdiff_t>(some);
    to.insert(to.end(), first, from.end());
    from.erase(first, from.end());
    return some;
}

}  // namespace

warpseal_status KemKeyPool::create(Engine& engine, const char* set, uint64_t pairs,
                                   Engine::RandomSource random, std::unique_ptr<KemKeyPool>& out) {
    int number;
    warpseal_status status = find_set(engine.impl(), set, number);
    if (status != WARPSEAL_OK) return status;
    if (pairs == 0) return refuse("pairs is 0");
    if (pairs >= KemKeyStore::no_slot) return WARPSEAL_OUT_OF_MEMORY;
    status = test(engine.impl(), number);
    if (status != WARPSEAL_OK) return status;
    std::unique_ptr<KemKeyPool> pool(
        new KemKeyPool(engine, kem_sets[number], static_cast<uint32_t>(pairs), random));
    status = pool->start_over();
    if (status == WARPSEAL_OK) out = std::move(pool);
    return status;
}

KemKeyPool::KemKeyPool(Engine& engine, const KemSet& set, uint32_t pairs,
                       Engine::RandomSource random)
    : engine_(engine),
      set_(set),
      random_(random),
      slot_bits_(static_cast<unsigned>(std::bit_width(pairs - 1))),
      slots_(pairs) {
    free_.reserve(pairs);
    ready_.reserve(pairs);
}

warpseal_status KemKeyPool::ensure_alive() {
    if (forks_ != forks_so_far()) return start_over();
    return store_->alive() ? WARPSEAL_OK : replace_store();
}

warpseal_status KemKeyPool::start_over() {
    const auto pairs = static_cast<uint32_t>(slots_.size());
    Store store = device_key_store(engine_, set_, random_, pairs);
    if (store == nullptr) store = host_key_store(engine_, set_, random_, pairs);
    if (store == nullptr) return WARPSEAL_OUT_OF_MEMORY;
    uint64_t salt;
    if (!random_(&salt, sizeof salt)) return WARPSEAL_NO_RANDOM;
    store_ = std::move(store);
    salt_ = salt;
    forks_ = forks_so_far();
    for (PoolSlot& slot : slots_) slot.taken = false;
    ready_.clear();
    free_.clear();
    for (uint32_t i = pairs; i-- > 0;) free_.push_back(i);
    unreserved_ = pairs;
    filling_ = 0;
    return WARPSEAL_OK;
}

warpseal_status KemKeyPool::replace_store() {
    Store store = host_key_store(engine_, set_, random_, static_cast<uint32_t>(slots_.size()));
    if (store == nullptr) return WARPSEAL_OUT_OF_MEMORY;
    store_ = std::move(store);
    move_some(ready_, free_, ready_.size());
    for (uint32_t i = 0; i < slots_.size(); ++i)
        if (slots_[i].taken) free_slot(i);
    return WARPSEAL_OK;
}

void KemKeyPool::free_slot(uint32_t slot) {
    slots_[slot].taken = false;
    ++slots_[slot].uses;
    ++unreserved_;
    free_.push_back(slot);
}

void KemKeyPool::notify() {
    changes_.fetch_add(1, std::memory_order_release);
    changes_.notify_all();
}

warpseal_status KemKeyPool::fill() {
    PoolSlots mine;
    mine.reserve(std::min(KemKeyStore::slots_per_call_limit, slots_.size()));
    while (true) {
        uint32_t seen;
        Store store;
        {
            const std::lock_guard lock(mutex_);
            if (const warpseal_status status = ensure_alive(); status != WARPSEAL_OK) return status;
            store = store_;
            seen = changes_.load(std::memory_order_acquire);
            filling_ += move_some(free_, mine, store->max_slots_per_call());
            if (filling_ == 0) return WARPSEAL_OK;
        }
        if (mine.empty()) {
            changes_.wait(seen, std::memory_order_acquire);
            continue;
        }
        const warpseal_status status = store->make(mine.data(), mine.size());
        bool lost;
        {
            const std::lock_guard lock(mutex_);
            lost = store != store_ || !store->alive();
            filling_ -= mine.size();
            move_some(mine, status == WARPSEAL_OK && !lost ? ready_ : free_, mine.size());
        }
        notify();
        if (status != WARPSEAL_OK && !lost) return status;
    }
}

// Collects `count` slots with a pair in `mine`, which has the capacity. The caller has reserved
// them in unreserved_.
// So enough slots are ready, free or owned by `fill`, and waiting terminates.
warpseal_status KemKeyPool::collect(uint64_t count, PoolSlots& mine, Store& store) {
    while (true) {
        uint32_t seen;
        size_t unmade;
        {
            const std::lock_guard lock(mutex_);
            const warpseal_status status = ensure_alive();
            if (store != store_) move_some(mine, free_, mine.size());
            store = store_;
            if (status != WARPSEAL_OK) {
                move_some(mine, ready_, mine.size());
                return status;
            }
            seen = changes_.load(std::memory_order_acquire);
            move_some(ready_, mine, count - mine.size());
            unmade = move_some(
                free_, mine, std::min<uint64_t>(count - mine.size(), store->max_slots_per_call()));
        }
        if (unmade == 0) {
            if (mine.size() == count) return WARPSEAL_OK;
            changes_.wait(seen, std::memory_order_acquire);
            continue;
        }
        const warpseal_status status = store->make(mine.data() + mine.size() - unmade, unmade);
        if (status == WARPSEAL_OK) continue;
        const bool lost = !store->alive();
        {
            const std::lock_guard lock(mutex_);
            move_some(mine, free_, unmade);
            if (!lost) move_some(mine, store == store_ ? ready_ : free_, mine.size());
        }
        notify();
        if (!lost) return status;
    }
}

// Returns false if the pairs were lost meanwhile; the slots are then free.
bool KemKeyPool::issue_handles(PoolSlots& mine, const Store& store, uint64_t* handles) {
    const std::lock_guard lock(mutex_);
    if (store != store_) {
        move_some(mine, free_, mine.size());
        return false;
    }
    for (size_t i = 0; i < mine.size(); ++i) {
        slots_[mine[i]].taken = true;
        handles[i] = handle(mine[i]);
    }
    return true;
}

warpseal_status KemKeyPool::acquire(uint64_t count, const PooledPublics& publics,
                                    uint64_t* handles) {
    warpseal_status status = check_kem_acquire(set_, count, publics, handles);
    if (status != WARPSEAL_OK || count == 0) return status;
    if (count > slots_.size()) return WARPSEAL_LIMIT_EXCEEDED;
    PoolSlots mine;
    mine.reserve(count);
    Store store;
    {
        const std::lock_guard lock(mutex_);
        status = ensure_alive();
        if (status != WARPSEAL_OK) return status;
        if (count > unreserved_) return WARPSEAL_LIMIT_EXCEEDED;
        unreserved_ -= count;
        store = store_;
    }
    do {
        status = collect(count, mine, store);
    } while (status == WARPSEAL_OK && !issue_handles(mine, store, handles));
    if (status == WARPSEAL_OK) {
        store->copy_publics(mine.data(), mine.size(), publics);
        return WARPSEAL_OK;
    }
    const std::lock_guard lock(mutex_);
    unreserved_ += count;
    return status;
}

uint32_t KemKeyPool::claim(uint64_t given) {
    const uint64_t slot = (given ^ salt_) & ((uint64_t{1} << slot_bits_) - 1);
    if (slot >= slots_.size()) return KemKeyStore::no_slot;
    const auto number = static_cast<uint32_t>(slot);
    if (!slots_[number].taken || handle(number) != given) return KemKeyStore::no_slot;
    slots_[number].taken = false;
    return number;
}

warpseal_status KemKeyPool::claim_some(const uint64_t* handles, uint64_t& count, uint32_t* slots,
                                       Store& store) {
    const std::lock_guard lock(mutex_);
    const warpseal_status status = ensure_alive();
    store = store_;
    count = std::min<uint64_t>(count, store->max_slots_per_call());
    for (size_t i = 0; i < count && status == WARPSEAL_OK; ++i) slots[i] = claim(handles[i]);
    return status;
}

void KemKeyPool::settle(const uint32_t* slots, size_t count, bool used, const Store& store) {
    {
        const std::lock_guard lock(mutex_);
        for (size_t i = 0; i < count; ++i) {
            if (slots[i] == KemKeyStore::no_slot) continue;
            if (used || store != store_)
                free_slot(slots[i]);
            else
                slots_[slots[i]].taken = true;
        }
    }
    notify();
}

warpseal_status KemKeyPool::decapsulate(uint64_t count, const uint64_t* handles,
                                        const PooledTexts& given) {
    PooledTexts texts = given;
    texts.shared_secret_bytes = set_.shared_secret_bytes();
    warpseal_status first_failed = check_kem_handles(set_, count, handles, texts);
    if (first_failed != WARPSEAL_OK || count == 0) return first_failed;
    PoolSlots slots(
        static_cast<size_t>(std::min<uint64_t>(count, KemKeyStore::slots_per_call_limit)));
    std::vector<int32_t> statuses(slots.size());
    Store store;
    for (uint64_t first = 0, some; first < count; first += some) {
        some = std::min<uint64_t>(count - first, slots.size());
        const PooledTexts rest = texts.from(first);
        if (const warpseal_status status = claim_some(handles + first, some, slots.data(), store);
            status != WARPSEAL_OK) {
            for (uint64_t i = 0; i < count - first; ++i) rest.set_result(i, status);
            return first_failed == WARPSEAL_OK ? status : first_failed;
        }
        warpseal_status done = store->decapsulate(slots.data(), some, rest, statuses.data());
        if (done == WARPSEAL_OK) done = store->wipe(slots.data(), some);
        settle(slots.data(), some, done == WARPSEAL_OK, store);
        if (done != WARPSEAL_OK && !store->alive()) done = WARPSEAL_INVALID_ARGUMENT;
        for (size_t i = 0; i < some; ++i) {
            const warpseal_status status =
                slots[i] == KemKeyStore::no_slot ? WARPSEAL_INVALID_ARGUMENT
                : done != WARPSEAL_OK            ? done
                                                 : static_cast<warpseal_status>(statuses[i]);
            rest.set_result(i, status);
            if (first_failed == WARPSEAL_OK) first_failed = status;
        }
    }
    return first_failed;
}

void KemKeyPool::release(uint64_t count, const uint64_t* handles) {
    uint32_t slots[max_released_at_once];
    Store store;
    for (uint64_t first = 0, some; first < count; first += some) {
        some = std::min<uint64_t>(count - first, max_released_at_once);
        if (claim_some(handles + first, some, slots, store) != WARPSEAL_OK) return;
        settle(slots, some, store->wipe(slots, some) == WARPSEAL_OK, store);
    }
}

}  // namespace warpseal
