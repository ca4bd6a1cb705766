// A key, and its schedule on every target that has come to use it.
#pragma once

#include <array>
#include <atomic>
#include <mutex>

#include "engine/engine.h"
#include "engine/secret_memory.h"

namespace warpseal {

class Key {
public:
    // The descriptors that the engine may use; null where a target is masked or has no form of the cipher.
    struct Descriptors {
        std::array<const CpuCipher*, cpu_target_count> cores = {};
        const CudaCipher* cuda = nullptr;
    };

    // Null pointer in `out`'s place means out of memory.
    static std::unique_ptr<Key> create(const Descriptors& descriptors, const CpuCipher& facts, const uint8_t* bytes);

    const CpuCipher& facts() const { return facts_; }  // name, sizes and modes, which all targets share
    const Descriptors& descriptors() const { return descriptors_; }

    // Expanded on first use; null: out of memory.
    const void* state(Target cores) const;
    const void* cuda_state() const;

    // The engine's choice among the CPU targets, -1 before it has made one: so that small calls ask nobody.
    std::atomic<int8_t>& chosen(warpseal_mode mode, Direction direction) const { return chosen_[mode][static_cast<int>(direction)]; }
    std::atomic<uint8_t>& cuda_proved(warpseal_mode mode, Direction direction, bool device_memory) const {
        return cuda_proved_[device_memory ? 1 : 0][mode][static_cast<int>(direction)];
    }

    // Messages sealed with an IV drawn at random, for the limit of SP 800-38D 8.3.
    mutable std::atomic<uint64_t> random_ivs{0};

private:
    Key(const Descriptors& descriptors, const CpuCipher& facts);

    struct Schedule {
        std::atomic<const void*> ready{nullptr};
        SecretMemory memory;
    };
    template <class Cipher>
    const void* expanded(Schedule& schedule, const Cipher& cipher) const;

    const Descriptors descriptors_;
    const CpuCipher& facts_;
    SecretMemory bytes_;
    mutable std::mutex expanding_;
    mutable Schedule schedules_[target_count];
    mutable std::atomic<int8_t> chosen_[WARPSEAL_MODE_COUNT][direction_count];
    mutable std::atomic<uint8_t> cuda_proved_[2][WARPSEAL_MODE_COUNT][direction_count];
};

}  // namespace warpseal
