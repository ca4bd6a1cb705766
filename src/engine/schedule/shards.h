// A call in parts: one for each GPU that the plan gives one and one for the cores, at once; what a
// GPU leaves undone others finish.
#pragma once

#include "engine/impl.h"

namespace warpseal {

// [begin, end) of a call, in bytes or messages: all before `done` is final. gpu: the engine's
// number, or Rates::cores.
struct Shard {
    uint64_t begin, end, done;
    uint64_t bytes;  // for the measuring
    int gpu;
    uint32_t number;  // of the call's parts, from the front
};

struct Shards {
    Shard all[most_gpus + 1];
    unsigned count = 0;
};

// By the route's shares: of `bytes`, in whole units. A part without one is left out; there is at
// least one part.
Shards shards_of(const Route& route, uint64_t bytes, uint64_t unit_bytes);

// What a call does with its parts. Different parts run on different threads at once.
class ShardWork {
public:
    virtual ~ShardWork() = default;
    // From part.done on; moves it, also on failure.
    virtual warpseal_status on_gpu(Gpu& gpu, Shard& shard) = 0;
    // The rest. Cannot fail.
    virtual void on_cores(Shard& shard) = 0;
};

// Returns when all is done. A part whose GPU fails goes on on another one, if that one still works,
// else on the cores.
void run_shards(Engine::Impl& impl, const Route& route, ShardWork& work, Shards& shards);

}  // namespace warpseal
