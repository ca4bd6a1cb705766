// Key schedules are expanded on first use, because most keys are used on one target only.
#include "engine/key.h"

#include <string.h>

#include <new>

#include "core/secret.h"
#include "engine/schedule/gpus.h"

namespace warpseal {

Key::Key(const Descriptors& descriptors, const CpuCipher& facts, KeyKind kind, WeakKeys weak,
         const Gpus* gpus)
    : descriptors_(descriptors), facts_(facts), kind_(kind), weak_keys_(weak), gpus_(gpus) {
    for (auto& mode : chosen_)
        for (auto& direction : mode) direction.store(-1, std::memory_order_relaxed);
    for (auto& memory : gpu_tested_)
        for (auto& mode : memory)
            for (auto& direction : mode) direction.store(0, std::memory_order_relaxed);
}

Key::~Key() {
    bool used_gpu = false;
    for (Schedule* schedules : {schedules_, tweak_schedules_}) {
        for (size_t i = 0; i < target_count; ++i) {
            void* const memory = schedules[i].load(std::memory_order_acquire);
            if (memory == nullptr) continue;
            const bool gpu = i == static_cast<size_t>(Target::cuda);
            used_gpu |= gpu;
            SecretMemory().adopt(
                memory, gpu ? descriptors_.cuda->state_bytes : descriptors_.cores[i]->state_bytes);
        }
    }
    if (used_gpu) gpus_->zeroize_launches();
}

std::unique_ptr<Key> Key::create(const Descriptors& descriptors, const CpuCipher& facts,
                                 const uint8_t* bytes, KeyKind kind, WeakKeys weak,
                                 const Gpus* gpus) {
    std::unique_ptr<Key> key(new (std::nothrow) Key(descriptors, facts, kind, weak, gpus));
    const size_t size = facts.key_bytes * (kind == KeyKind::xts ? size_t{2} : 1);
    if (!key || !key->bytes_.allocate(size)) return nullptr;
    memcpy(key->bytes_.data(), bytes, size);
    key->weak_ = key->refuses(Direction::encrypt, bytes, kind == KeyKind::xts ? 2 : 1);
    return key;
}

bool Key::refuses(Direction direction, const uint8_t* keys, uint64_t count) const {
    if (direction == Direction::decrypt || facts_.weak == nullptr ||
        weak_keys_ == WeakKeys::allowed)
        return false;
    bool any = false;
    for (uint64_t i = 0; i < count; ++i) any |= facts_.weak(keys + i * facts_.key_bytes);
    return any;
}

bool Key::made_of(const uint8_t* bytes) const {
    return equal_secret(static_cast<const uint8_t*>(bytes_.data()), bytes,
                        facts_.key_bytes * (kind_ == KeyKind::xts ? size_t{2} : 1));
}

template <class Cipher>
const void* Key::expanded(Schedule& schedule, const Cipher& cipher, size_t at) const {
    if (const void* ready = schedule.load(std::memory_order_acquire)) return ready;
    SecretMemory memory;
    if (!memory.allocate(cipher.state_bytes)) return nullptr;
    cipher.expand(memory.data(), static_cast<const uint8_t*>(bytes_.data()) + at);
    void* published = nullptr;
    if (!schedule.compare_exchange_strong(published, memory.data(), std::memory_order_acq_rel))
        return published;
    return memory.release();
}

const void* Key::state(Target cores) const {
    const auto i = static_cast<size_t>(cores);
    return expanded(schedules_[i], *descriptors_.cores[i], 0);
}

const void* Key::tweak_state(Target cores) const {
    const auto i = static_cast<size_t>(cores);
    return expanded(tweak_schedules_[i], *descriptors_.cores[i], facts_.key_bytes);
}

const void* Key::cuda_state() const {
    return expanded(schedules_[static_cast<size_t>(Target::cuda)], *descriptors_.cuda, 0);
}

const void* Key::cuda_tweak_state() const {
    return expanded(tweak_schedules_[static_cast<size_t>(Target::cuda)], *descriptors_.cuda,
                    facts_.key_bytes);
}

}  // namespace warpseal
