// One message in host memory, and its pieces on the cores.
#pragma once

#include "engine/schedule/shards.h"

namespace warpseal {

struct Message {
    const uint8_t* in;
    uint8_t* out;
    size_t bytes;
};

inline warpseal_status check(const Message& message) {
    if (message.bytes != 0 && (message.in == nullptr || message.out == nullptr))
        return WARPSEAL_INVALID_ARGUMENT;
    return overlap(message.in, message.out, message.bytes) ? WARPSEAL_INVALID_ARGUMENT
                                                           : WARPSEAL_OK;
}

// The bytes from `done` on. `done` is whole units, of which one is a block or a data unit of XTS.
struct CoreWork {
    const Route& route;
    Pool& pool;
    Direction direction;
    Message message;
    size_t done;
    size_t unit_bytes;

    size_t step() const {
        const size_t left = message.bytes - done;
        if (route.plan.threads == 1) return left;
        const size_t units = static_cast<size_t>(route.plan.chunk_bytes) / unit_bytes;
        return units == 0 ? unit_bytes : units * unit_bytes;
    }
    size_t chunks() const { return (message.bytes - done + step() - 1) / step(); }
    struct Chunk {
        uint64_t first_unit;
        const uint8_t* in;
        uint8_t* out;
        size_t bytes;
    };
    Chunk chunk(size_t i) const {
        const size_t begin = done + i * step();
        const size_t end = message.bytes - begin <= step() ? message.bytes : begin + step();
        return {begin / unit_bytes, message.in + begin, message.out + begin, end - begin};
    }
};

// A call of one message, for the choice of its route.
inline Call call_of(warpseal_mode mode, Direction direction, Shape shape, const Message& message) {
    Call call{mode, direction, shape, message.bytes};
    call.in = message.in;
    call.out = message.out;
    call.in_extent = call.out_extent = message.bytes;
    call.divisible = shape != Shape::batch;
    return call;
}

// The message up to the end of a part, and where it begins there.
inline CoreWork core_work(const Route& route, Pool& pool, Direction direction,
                          const Message& message, const Shard& shard, size_t unit_bytes) {
    return {route,
            pool,
            direction,
            {message.in, message.out, static_cast<size_t>(shard.end)},
            static_cast<size_t>(shard.done),
            unit_bytes};
}

// A batch of the one message, which shares its struct with many.
inline warpseal_batch batch_of_one(const Message& message, Bytes iv) {
    warpseal_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.message_count = 1;
    batch.message_bytes = message.bytes;
    batch.iv_bytes = static_cast<uint32_t>(iv.size);
    batch.ivs = iv.data;
    batch.in = message.in;
    batch.out = message.out;
    return batch;
}

// Runs it on the calling thread, or on a GPU where the call is its own. Counts forgeries: 0 or 1.
uint64_t run_one(Engine::Impl& impl, const Route& route, warpseal_mode mode, Direction direction,
                 const warpseal_batch& batch);

// Text of a GCM message that began before, by the route of a call of its own: the run has its J0,
// and the sum of all before it.
warpseal_status gcm_text(Engine::Impl& impl, const Key& key, Direction direction,
                         const Message& message, GcmRun& run);

}  // namespace warpseal
