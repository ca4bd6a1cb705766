// A cipher key and its schedule on each target that has used it.
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

    // Backend descriptors that the engine may use; null if a target is masked or lacks the cipher.
    struct Descriptors {
        std::array<const CpuCipher*, cpu_target_count> cores = {};
        const CudaCipher* cuda = nullptr;
    };

    // Creates a key from one key, or for XTS from the two keys in a row. Returns null if out of
    // memory.
    static std::unique_ptr<Key> create(const Descriptors& descriptors, const CpuCipher& facts,
                                       const uint8_t* bytes, KeyKind kind, WeakKeys weak,
                                       const Gpus* gpus);

    // Name, sizes and modes, which are the same on all targets.
    const CpuCipher& facts() const { return facts_; }
    const Descriptors& descriptors() const { return descriptors_; }
    bool for_xts() const { return kind_ == KeyKind::xts; }
    bool supports(warpseal_mode mode) const { return (mode == WARPSEAL_XTS) == for_xts(); }

    // True if encryption is refused under this key, or under one of the `count` keys of a batch in
    // host memory.
    bool refuses(Direction direction) const { return weak_ && direction == Direction::encrypt; }
    bool refuses(Direction direction, const uint8_t* keys, uint64_t count) const;
    // True if the key was made from these bytes, which have the length of its kind. Constant time.
    bool made_of(const uint8_t* bytes) const;

    // Return the key schedule, expanded on first use; null if out of memory. tweak_state is that of
    // the second XTS key.
    const void* state(Target cores) const;
    const void* tweak_state(Target cores) const;
    const void* cuda_state() const;
    const void* cuda_tweak_state() const;

    // CPU target that the engine chose for the mode, or -1 before it has. Lets small calls skip the
    // selection.
    std::atomic<int8_t>& chosen(warpseal_mode mode, Direction direction) const {
        return chosen_[mode][static_cast<int>(direction)];
    }
    // Bit mask of the engine's GPUs whose path passed its self-test.
    std::atomic<uint32_t>& gpu_tested(warpseal_mode mode, Direction direction,
                                      bool device_memory) const {
        return gpu_tested_[device_memory ? 1 : 0][mode][static_cast<int>(direction)];
    }

    // Number of messages sealed with a random IV, for the limit of SP 800-38D 8.3.
    mutable std::atomic<uint64_t> random_ivs{0};

private:
    Key(const Descriptors& descriptors, const CpuCipher& facts, KeyKind kind, WeakKeys weak,
        const Gpus* gpus);

    // Memory that SecretMemory released; null before first use.
    using Schedule = std::atomic<void*>;
    // Expands the key at offset `at` of bytes_. Lock-free: of concurrent threads, one publishes its
    // schedule and the others zeroize theirs.
    template <class Cipher>
    const void* expanded(Schedule& schedule, const Cipher& cipher, size_t at) const;

    const Descriptors descriptors_;
    const CpuCipher& facts_;
    const KeyKind kind_;
    const WeakKeys weak_keys_;
    const Gpus* const gpus_;  // owned by the engine, which outlives its keys
    bool weak_ = false;
    SecretMemory bytes_;
    mutable Schedule schedules_[target_count] = {}, tweak_schedules_[target_count] = {};
    mutable std::atomic<int8_t> chosen_[WARPSEAL_MODE_COUNT][direction_count];
    mutable std::atomic<uint32_t> gpu_tested_[2][WARPSEAL_MODE_COUNT][direction_count];
};

}  // namespace warpseal
