// Book-keeping under a lock that is held briefly; pairs are made, used and wiped outside.
#include "engine/kem_pool.h"

#include <algorithm>
#include <bit>
#include <mutex>

#include "engine/inside.h"
#include "engine/kem_check.h"

namespace warpseal {
namespace {

constexpr size_t most_dropped_at_once = 64;  // on the stack: to drop needs no memory

// Now, and not under way: a forked child could wait for ever for a self-test that its parent has
// begun.
warpseal_status prove(Engine::Inside& inside, int set) {
    const CpuKem* kem = nullptr;
    const CpuCipher* aes = nullptr;
    warpseal_status status = inside.prove_kem(set, KemOperation::keypair, kem);
    if (status == WARPSEAL_OK) status = inside.prove_kem(set, KemOperation::decapsulate, kem);
    if (status == WARPSEAL_OK) status = inside.prove_coins(aes);
    return status;
}

// Up to `most` of them.
size_t move_some(std::vector<uint32_t>& from, std::vector<uint32_t>& to, uint64_t most) {
    const auto some = static_cast<size_t>(std::min<uint64_t>(most, from.size()));
    const auto first = from.end() - static_cast<std::ptrdiff_t>(some);
    to.insert(to.end(), first, from.end());
    from.erase(first, from.end());
    return some;
}

}  // namespace

warpseal_status KemPool::create(Engine& engine, const char* set, uint64_t pairs,
                                Engine::RandomSource random, std::unique_ptr<KemPool>& out) {
    const int number = set_number(set);
    if (number < 0) return WARPSEAL_UNSUPPORTED;
    if (pairs == 0) return WARPSEAL_INVALID_ARGUMENT;
    if (pairs >= KemPairs::nowhere) return WARPSEAL_OUT_OF_MEMORY;
    warpseal_status status = prove(engine.inside(), number);
    if (status != WARPSEAL_OK) return status;
    std::unique_ptr<KemPool> pool(
        new KemPool(engine, *kem::sets[number], static_cast<uint32_t>(pairs), random));
    status = pool->begin();
    if (status == WARPSEAL_OK) out = std::move(pool);
    return status;
}

KemPool::KemPool(Engine& engine, const kem::Params& set, uint32_t pairs,
                 Engine::RandomSource random)
    : engine_(engine),
      set_(set),
      random_(random),
      place_bits_(static_cast<unsigned>(std::bit_width(pairs - 1))),
      places_(pairs) {
    free_.reserve(pairs);
    ready_.reserve(pairs);
}

warpseal_status KemPool::alive() {
    if (forks_ != forks_so_far()) return begin();
    return pairs_->alive() ? WARPSEAL_OK : move();
}

warpseal_status KemPool::begin() {
    const auto pairs = static_cast<uint32_t>(places_.size());
    Home home = device_pairs(engine_, set_, random_, pairs);
    if (home == nullptr) home = host_pairs(engine_, set_, random_, pairs);
    if (home == nullptr) return WARPSEAL_OUT_OF_MEMORY;
    uint64_t salt;
    if (!random_(&salt, sizeof salt)) return WARPSEAL_NO_RANDOM;
    pairs_ = std::move(home);
    salt_ = salt;
    forks_ = forks_so_far();
    for (Place& place : places_) place.taken = false;
    ready_.clear();
    free_.clear();
    for (uint32_t i = pairs; i-- > 0;) free_.push_back(i);
    unpromised_ = pairs;
    filling_ = 0;
    return WARPSEAL_OK;
}

warpseal_status KemPool::move() {
    Home home = host_pairs(engine_, set_, random_, static_cast<uint32_t>(places_.size()));
    if (home == nullptr) return WARPSEAL_OUT_OF_MEMORY;
    pairs_ = std::move(home);
    move_some(ready_, free_, ready_.size());
    for (uint32_t i = 0; i < places_.size(); ++i)
        if (places_[i].taken) free_place(i);
    return WARPSEAL_OK;
}

void KemPool::free_place(uint32_t place) {
    places_[place].taken = false;
    ++places_[place].uses;
    ++unpromised_;
    free_.push_back(place);
}

void KemPool::tell() {
    changes_.fetch_add(1, std::memory_order_release);
    changes_.notify_all();
}

warpseal_status KemPool::fill() {
    Places mine;
    mine.reserve(std::min(KemPairs::most_at_once, places_.size()));
    while (true) {
        uint32_t seen;
        Home home;
        {
            const std::lock_guard lock(mutex_);
            if (const warpseal_status status = alive(); status != WARPSEAL_OK) return status;
            home = pairs_;
            seen = changes_.load(std::memory_order_acquire);
            filling_ += move_some(free_, mine, home->at_once());
            if (filling_ == 0) return WARPSEAL_OK;
        }
        if (mine.empty()) {
            changes_.wait(seen, std::memory_order_acquire);
            continue;
        }
        const warpseal_status status = home->make(mine.data(), mine.size());
        bool lost;
        {
            const std::lock_guard lock(mutex_);
            lost = home != pairs_ || !home->alive();
            filling_ -= mine.size();
            move_some(mine, status == WARPSEAL_OK && !lost ? ready_ : free_, mine.size());
        }
        tell();
        if (status != WARPSEAL_OK && !lost) return status;
    }
}

// `count` places with a pair into `mine`, which has the room, and the promise for all of them. So
// there are as many that are ready, free, or in the hands of `fill`: to wait for the latter ends.
warpseal_status KemPool::collect(uint64_t count, Places& mine, Home& home) {
    while (true) {
        uint32_t seen;
        size_t unmade;
        {
            const std::lock_guard lock(mutex_);
            const warpseal_status status = alive();
            if (home != pairs_) move_some(mine, free_, mine.size());
            home = pairs_;
            if (status != WARPSEAL_OK) {
                move_some(mine, ready_, mine.size());
                return status;
            }
            seen = changes_.load(std::memory_order_acquire);
            move_some(ready_, mine, count - mine.size());
            unmade =
                move_some(free_, mine, std::min<uint64_t>(count - mine.size(), home->at_once()));
        }
        if (unmade == 0) {
            if (mine.size() == count) return WARPSEAL_OK;
            changes_.wait(seen, std::memory_order_acquire);
            continue;
        }
        const warpseal_status status = home->make(mine.data() + mine.size() - unmade, unmade);
        if (status == WARPSEAL_OK) continue;
        const bool lost = !home->alive();
        {
            const std::lock_guard lock(mutex_);
            move_some(mine, free_, unmade);
            if (!lost) move_some(mine, home == pairs_ ? ready_ : free_, mine.size());
        }
        tell();
        if (!lost) return status;
    }
}

// False: they were lost meanwhile, and are free.
bool KemPool::hand_over(Places& mine, const Home& home, uint64_t* tickets) {
    const std::lock_guard lock(mutex_);
    if (home != pairs_) {
        move_some(mine, free_, mine.size());
        return false;
    }
    for (size_t i = 0; i < mine.size(); ++i) {
        places_[mine[i]].taken = true;
        tickets[i] = ticket(mine[i]);
    }
    return true;
}

warpseal_status KemPool::take(uint64_t count, const PooledPublics& publics, uint64_t* tickets) {
    warpseal_status status = check_kem_take(set_, count, publics, tickets);
    if (status != WARPSEAL_OK || count == 0) return status;
    if (count > places_.size()) return WARPSEAL_LIMIT_EXCEEDED;
    Places mine;
    mine.reserve(count);
    Home home;
    {
        const std::lock_guard lock(mutex_);
        status = alive();
        if (status != WARPSEAL_OK) return status;
        if (count > unpromised_) return WARPSEAL_LIMIT_EXCEEDED;
        unpromised_ -= count;
        home = pairs_;
    }
    do {
        status = collect(count, mine, home);
    } while (status == WARPSEAL_OK && !hand_over(mine, home, tickets));
    if (status == WARPSEAL_OK) {
        home->give(mine.data(), mine.size(), publics);
        return WARPSEAL_OK;
    }
    const std::lock_guard lock(mutex_);
    unpromised_ += count;
    return status;
}

uint32_t KemPool::claim(uint64_t given) {
    const uint64_t place = (given ^ salt_) & ((uint64_t{1} << place_bits_) - 1);
    if (place >= places_.size()) return KemPairs::nowhere;
    const auto number = static_cast<uint32_t>(place);
    if (!places_[number].taken || ticket(number) != given) return KemPairs::nowhere;
    places_[number].taken = false;
    return number;
}

warpseal_status KemPool::claim_some(const uint64_t* tickets, uint64_t& count, uint32_t* places,
                                    Home& home) {
    const std::lock_guard lock(mutex_);
    const warpseal_status status = alive();
    home = pairs_;
    count = std::min<uint64_t>(count, home->at_once());
    for (size_t i = 0; i < count && status == WARPSEAL_OK; ++i) places[i] = claim(tickets[i]);
    return status;
}

void KemPool::settle(const uint32_t* places, size_t count, bool used, const Home& home) {
    {
        const std::lock_guard lock(mutex_);
        for (size_t i = 0; i < count; ++i) {
            if (places[i] == KemPairs::nowhere) continue;
            if (used || home != pairs_)
                free_place(places[i]);
            else
                places_[places[i]].taken = true;
        }
    }
    tell();
}

warpseal_status KemPool::decapsulate(uint64_t count, const uint64_t* tickets,
                                     const PooledTexts& texts) {
    warpseal_status first_failed = check_kem_tickets(set_, count, tickets, texts);
    if (first_failed != WARPSEAL_OK || count == 0) return first_failed;
    Places places(static_cast<size_t>(std::min<uint64_t>(count, KemPairs::most_at_once)));
    Home home;
    for (uint64_t first = 0, some; first < count; first += some) {
        some = std::min<uint64_t>(count - first, places.size());
        const PooledTexts part = texts.from(first);
        if (const warpseal_status status = claim_some(tickets + first, some, places.data(), home);
            status != WARPSEAL_OK) {
            for (uint64_t i = 0; i < count - first; ++i) part.settle(i, status);
            return first_failed == WARPSEAL_OK ? status : first_failed;
        }
        warpseal_status done = home->decapsulate(places.data(), some, part);
        if (done == WARPSEAL_OK) done = home->wipe(places.data(), some);
        settle(places.data(), some, done == WARPSEAL_OK, home);
        if (done != WARPSEAL_OK && !home->alive()) done = WARPSEAL_INVALID_ARGUMENT;
        for (size_t i = 0; i < some; ++i) {
            const warpseal_status status =
                places[i] == KemPairs::nowhere ? WARPSEAL_INVALID_ARGUMENT : done;
            part.settle(i, status);
            if (first_failed == WARPSEAL_OK) first_failed = status;
        }
    }
    return first_failed;
}

void KemPool::drop(uint64_t count, const uint64_t* tickets) {
    uint32_t places[most_dropped_at_once];
    Home home;
    for (uint64_t first = 0, some; first < count; first += some) {
        some = std::min<uint64_t>(count - first, most_dropped_at_once);
        if (claim_some(tickets + first, some, places, home) != WARPSEAL_OK) return;
        settle(places, some, home->wipe(places, some) == WARPSEAL_OK, home);
    }
}

}  // namespace warpseal
