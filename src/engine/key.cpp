// Key schedules are expanded where they are first needed: most keys only ever meet one target.
#include "engine/key.h"

#include <string.h>

#include <new>

namespace warpseal {

Key::Key(const Descriptors& descriptors, const CpuCipher& facts) : descriptors_(descriptors), facts_(facts) {
    for (auto& mode : chosen_)
        for (auto& direction : mode) direction.store(-1, std::memory_order_relaxed);
    for (auto& place : cuda_proved_)
        for (auto& mode : place)
            for (auto& direction : mode) direction.store(0, std::memory_order_relaxed);
}

std::unique_ptr<Key> Key::create(const Descriptors& descriptors, const CpuCipher& facts, const uint8_t* bytes) {
    std::unique_ptr<Key> key(new (std::nothrow) Key(descriptors, facts));
    if (!key || !key->bytes_.allocate(facts.key_bytes)) return nullptr;
    memcpy(key->bytes_.data(), bytes, facts.key_bytes);
    return key;
}

template <class Cipher>
const void* Key::expanded(Schedule& schedule, const Cipher& cipher) const {
    if (const void* ready = schedule.ready.load(std::memory_order_acquire)) return ready;
    const std::lock_guard lock(expanding_);
    if (const void* ready = schedule.ready.load(std::memory_order_acquire)) return ready;
    if (!schedule.memory.allocate(cipher.state_bytes)) return nullptr;
    cipher.expand(schedule.memory.data(), static_cast<const uint8_t*>(bytes_.data()));
    schedule.ready.store(schedule.memory.data(), std::memory_order_release);
    return schedule.memory.data();
}

const void* Key::state(Target cores) const {
    const auto i = static_cast<size_t>(cores);
    return expanded(schedules_[i], *descriptors_.cores[i]);
}

const void* Key::cuda_state() const { return expanded(schedules_[static_cast<size_t>(Target::cuda)], *descriptors_.cuda); }

}  // namespace warpseal
