// Splits a call into concurrent shards, one for each GPU of the plan and one for the CPU. Others
// finish what a GPU leaves undone.
#pragma once

#include "engine/engine_impl.h"

namespace warpseal {

// The range [begin, end) of a call, in bytes or messages; everything before `done` is final.
// gpu: the engine's number, or Throughput::cores.
struct Shard {
    uint64_t begin, end, done;
    uint64_t bytes;  // for the throughput model
    int gpu;
    uint32_t number;  // index within the call, from the front
};

struct Shards {
    Shard all[most_gpus + 1];
    unsigned count = 0;
};

// Splits `bytes` as the route's plan says, at multiples of unit_bytes. Omits empty shards; returns
// at least one.
Shards shards_of(const Route& route, uint64_t bytes, uint64_t unit_bytes);

// Work of a call on its shards. Different shards run concurrently on different threads.
class ShardWork {
public:
    virtual ~ShardWork() = default;
    // Processes the shard from shard.done on, and advances it, also on failure.
    virtual warpseal_status on_gpu(Gpu& gpu, Shard& shard) = 0;
    // Processes the rest. Cannot fail.
    virtual void on_cores(Shard& shard) = 0;
};

// Runs all shards and returns when they are done. The shard of a failed GPU continues on another
// working GPU, else on the CPU.
void run_shards(Engine::Impl& impl, const Route& route, ShardWork& work, Shards& shards);

}  // namespace warpseal
