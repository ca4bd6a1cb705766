// The plan: which target a call runs on and in what pieces, and how it is shared out. A pure
// function of the call and the machine.
#pragma once

#include "backends/cipher_backend.h"
#include "engine/targets.h"

namespace warpseal {

// Where the data lies. A GPU copies from and to pinned memory itself, but not over input that it
// might have to give back.
enum class MemoryKind : uint8_t { host = 0, pinned = 1, pinned_in_place = 2 };

// What runs a cipher on the cores: CpuCipher::form.
enum class Representation : uint8_t { instructions = 0, bytes = 1, words = 2, planes = 3 };
Representation representation_of(const CpuCipher& cipher);

struct CallFacts {
    uint64_t bytes = 0;
    MemoryKind memory_kind = MemoryKind::host;
    uint32_t block_bytes = 16;
    warpseal_mode mode = WARPSEAL_CTR;
    Direction direction = Direction::encrypt;
    Representation representation =
        Representation::instructions;  // on the best of the usable CPU targets
    uint64_t chains = 0;    // messages whose blocks wait for each other; 0: no block waits
    bool divisible = true;  // between targets: not one message of blocks that wait
    bool mixed = true;      // and between cores and GPUs
};

// Gigabytes a second. 0: not measured yet, and a usual figure stands in.
struct Speed {
    double alone = 0;
    double shared = 0;  // while cores and GPUs work on one call
};

struct GpuFacts {
    bool open = false;  // opening it costs half a second, once
    Speed speed;        // from where the data lies and back
};

struct MachineFacts {
    unsigned threads = 1;   // that the engine may keep busy
    TargetSet usable = {};  // CPU targets: by this machine, this cipher and mode, the options, and
                            // not closed by a self-test
    Speed cores;            // of all threads together
    unsigned gpu_count = 0;
    GpuFacts gpus[most_gpus] = {};
    unsigned gpu_numbers[most_gpus] = {};  // by which the plan names them
};

struct Plan {
    Target target = Target::portable;  // cuda: a GPU has a part
    unsigned threads = 1;              // of the cores' part; 1: the caller's thread alone
    uint64_t chunk_bytes = 0;  // what such a thread takes at a time: whole blocks, or everything
    uint64_t core_bytes = 0;   // the cores' part, the last of the call
    uint64_t gpu_bytes[most_gpus] = {};  // from the front on, one GPU after the other

    bool shared() const { return target == Target::cuda && core_bytes != 0; }
    unsigned first_gpu() const {  // where target is cuda
        unsigned i = 0;
        while (i + 1 < most_gpus && gpu_bytes[i] == 0) ++i;
        return i;
    }
};

// Something must be usable.
Plan plan(const CallFacts& call, const MachineFacts& machine);

// One core's gigabytes a second where nothing was measured.
double usual_core_speed(Target target, const CallFacts& call);

// Seconds from the beginning of a call until a GPU works on it at full speed, usually, by where the
// data lies.
double usual_gpu_delay(MemoryKind memory_kind);

// Less work than this says nothing of the speed of who did it; and less is never shared.
inline constexpr uint64_t telling_bytes = uint64_t{1} << 20;
inline constexpr uint64_t least_shared_bytes = uint64_t{8} << 20;

}  // namespace warpseal
