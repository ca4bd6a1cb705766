// The plan: the target of a call, its chunk size and its shards. A pure function of the call and
// the machine.
#pragma once

#include "backends/cipher_backend.h"
#include "engine/targets.h"

namespace warpseal {

// Memory kind of the data. A GPU copies directly from and to pinned memory, but must not overwrite
// input that it may have to give back.
enum class MemoryKind : uint8_t { host = 0, pinned = 1, pinned_in_place = 2 };

// Representation of a cipher on the CPU: CpuCipher::representation.
enum class Representation : uint8_t {
    instructions = 0,
    byte_sliced = 1,
    word_sliced = 2,
    bitsliced = 3
};
Representation representation_of(const CpuCipher& cipher);

struct CallFacts {
    uint64_t bytes = 0;
    MemoryKind memory_kind = MemoryKind::host;
    uint32_t block_bytes = 16;
    warpseal_mode mode = WARPSEAL_CTR;
    Direction direction = Direction::encrypt;
    // That of the best usable CPU target.
    Representation representation = Representation::instructions;
    uint64_t chains = 0;    // number of messages in a serial mode; 0 if blocks are independent
    bool divisible = true;  // may be split between targets; false for one message in a serial mode
    bool mixed = true;      // may be split between CPU and GPUs
};

// Throughput in GB/s. 0: not measured yet; a default is used.
struct Speed {
    double alone = 0;
    double shared = 0;  // while CPU and GPUs share a call
};

struct GpuFacts {
    bool open = false;  // opening takes half a second, once
    Speed speed;        // transfers in both directions included
};

struct MachineFacts {
    unsigned threads = 1;  // threads that the engine may use
    // CPU targets that the machine, the cipher, the mode and the options allow and that passed
    // their self-test.
    TargetSet usable = {};
    Speed cores;  // all threads together
    unsigned gpu_count = 0;
    GpuFacts gpus[most_gpus] = {};
    unsigned gpu_numbers[most_gpus] = {};  // the plan's GPU numbers
};

struct Plan {
    Target target = Target::portable;  // cuda: a GPU has a shard
    unsigned threads = 1;              // for the CPU's shard; 1: the caller's thread
    // Bytes that a thread takes at a time: complete blocks, or all.
    uint64_t chunk_bytes = 0;
    uint64_t core_bytes = 0;             // the CPU's shard, the last of the call
    uint64_t gpu_bytes[most_gpus] = {};  // shards of the GPUs in order, from the start of the call

    bool shared() const { return target == Target::cuda && core_bytes != 0; }
    unsigned first_gpu() const {  // target must be cuda
        unsigned i = 0;
        while (i + 1 < most_gpus && gpu_bytes[i] == 0) ++i;
        return i;
    }
};

// Sets the threads and chunks of the CPU's shard, which is plan.core_bytes.
void plan_cores(const CallFacts& call, Target core, unsigned threads, Plan& plan);

// At least one target must be usable.
Plan plan(const CallFacts& call, const MachineFacts& machine);

// Default throughput of one core in GB/s.
double default_core_speed(Target target, const CallFacts& call);

// Default delay in seconds before a GPU works on a call at full speed.
double default_gpu_delay(MemoryKind memory_kind);

// min_measured_bytes: minimum size of a call whose time enters the throughput model.
// least_shared_bytes: minimum size of a call that is shared.
inline constexpr uint64_t min_measured_bytes = uint64_t{1} << 20;
inline constexpr uint64_t least_shared_bytes = uint64_t{8} << 20;

}  // namespace warpseal
