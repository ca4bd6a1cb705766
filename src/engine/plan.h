// The plan: which target a call runs on and in what pieces. A pure function of the call and the machine.
#pragma once

#include "backends/ops.h"
#include "engine/targets.h"

namespace warpseal {

// Where the data lies. A file's data passes through pageable host memory.
enum class Place : uint8_t { host = 0, pinned = 1, device = 2, file = 3 };

// What runs a cipher on the cores: CpuCipher::form.
enum class Form : uint8_t { instructions = 0, bytes = 1, words = 2, planes = 3 };
Form form_of(const CpuCipher& cipher);

struct CallFacts {
    uint64_t bytes = 0;
    Place place = Place::host;
    uint32_t block_bytes = 16;
    warpseal_mode mode = WARPSEAL_CTR;
    Direction direction = Direction::encrypt;
    Form form = Form::instructions;  // on the best of the usable CPU targets
    uint64_t chains = 0;             // messages whose blocks wait for each other; 0: no block waits
};

struct MachineFacts {
    unsigned threads = 1;       // that the engine may keep busy
    TargetSet usable = {};      // by this machine, this cipher and mode, the options, and not closed by a self-test
    bool cuda_open = false;     // opening it costs half a second, once
    double link_gigabytes = 0;  // a second, each way at once, between pinned host memory and the GPU
};

struct Plan {
    Target target = Target::portable;
    unsigned threads = 1;      // 1: the caller's thread alone. On a GPU the pipeline decides, and this is 1
    uint64_t piece_bytes = 0;  // what a thread takes at a time: whole blocks; on a GPU everything
};

// Something must be usable.
Plan plan(const CallFacts& call, const MachineFacts& machine);

}  // namespace warpseal
