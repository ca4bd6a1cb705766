// A key, and its schedule on every target that has come to use it.
#pragma once

#include <array>
#include <atomic>

#include "engine/engine.h"
#include "platform/secret_memory.h"

namespace warpseal {

class Gpus;

class Key {
public:
    ~Key();
    Key(const Key&) = delete;
    Key& operator=(const Key&) = delete;

    // The descriptors that the engine may use; null where a target is masked or has no form of the
    // cipher.
    struct Descriptors {
        std::array<const CpuCipher*, cpu_target_count> cores = {};
        const CudaCipher* cuda = nullptr;
    };

    // One key, or the two of XTS in a row. Null pointer in `out`'s place means out of memory.
    static std::unique_ptr<Key> create(const Descriptors& descriptors, const CpuCipher& facts,
                                       const uint8_t* bytes, KeyKind kind, WeakKeys weak,
                                       const Gpus* gpus);

    const CpuCipher& facts() const {
        return facts_;
    }  // name, sizes and modes, which all targets share
    const Descriptors& descriptors() const { return descriptors_; }
    bool for_xts() const { return kind_ == KeyKind::xts; }
    bool fits(warpseal_mode mode) const { return (mode == WARPSEAL_XTS) == for_xts(); }

    // Whether encryption is refused: under this key, or under one of `count` keys that a batch
    // brings in host memory.
    bool refuses(Direction direction) const { return weak_ && direction == Direction::encrypt; }
    bool refuses(Direction direction, const uint8_t* keys, uint64_t count) const;
    // It was made of these bytes, as many as its kind has. In constant time.
    bool made_of(const uint8_t* bytes) const;

    // Expanded on first use; null: out of memory. The second of XTS makes the tweaks.
    const void* state(Target cores) const;
    const void* tweak_state(Target cores) const;
    const void* cuda_state() const;
    const void* cuda_tweak_state() const;

    // The engine's choice among the CPU targets, -1 before it has made one: so that small calls ask
    // nobody.
    std::atomic<int8_t>& chosen(warpseal_mode mode, Direction direction) const {
        return chosen_[mode][static_cast<int>(direction)];
    }
    // A bit for each GPU of the engine whose path holds.
    std::atomic<uint32_t>& gpu_tested(warpseal_mode mode, Direction direction,
                                      bool device_memory) const {
        return gpu_tested_[device_memory ? 1 : 0][mode][static_cast<int>(direction)];
    }

    // Messages sealed with an IV drawn at random, for the limit of SP 800-38D 8.3.
    mutable std::atomic<uint64_t> random_ivs{0};

private:
    Key(const Descriptors& descriptors, const CpuCipher& facts, KeyKind kind, WeakKeys weak,
        const Gpus* gpus);

    // Memory that SecretMemory released; null before the first use.
    using Schedule = std::atomic<void*>;
    // Expands the key that lies `at` bytes into the memory, without a lock: of threads that do so
    // at once, one publishes its schedule and the others wipe theirs.
    template <class Cipher>
    const void* expanded(Schedule& schedule, const Cipher& cipher, size_t at) const;

    const Descriptors descriptors_;
    const CpuCipher& facts_;
    const KeyKind kind_;
    const WeakKeys weak_keys_;
    const Gpus* const gpus_;  // of the engine, which outlives its keys
    bool weak_ = false;
    SecretMemory bytes_;
    mutable Schedule schedules_[target_count] = {}, tweak_schedules_[target_count] = {};
    mutable std::atomic<int8_t> chosen_[WARPSEAL_MODE_COUNT][direction_count];
    mutable std::atomic<uint32_t> gpu_tested_[2][WARPSEAL_MODE_COUNT][direction_count];
};

}  // namespace warpseal
