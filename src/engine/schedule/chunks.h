// One message in host memory, and its chunks on the CPU.
#pragma once

#include "engine/schedule/shards.h"

namespace warpseal {

struct Message {
    const uint8_t* in;
    uint8_t* out;
    size_t bytes;
};

inline warpseal_status check(const Message& message) {
    return check_memory(message.in, message.out, message.bytes);
}

// The bytes of the message from `done` on. `done` is a multiple of unit_bytes: a block or an XTS
// data unit.
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

// Describes a call of one message, for the choice of its route.
inline Call call_of(warpseal_mode mode, Direction direction, BackendEntry entry,
                    const Message& message) {
    Call call{mode, direction, entry, message.bytes};
    call.in = message.in;
    call.out = message.out;
    call.in_extent = call.out_extent = message.bytes;
    call.divisible = entry != BackendEntry::batch;
    return call;
}

// Returns the CPU work of a shard: the message up to the end of the shard, starting at shard.done.
inline CoreWork core_work(const Route& route, Pool& pool, Direction direction,
                          const Message& message, const Shard& shard, size_t unit_bytes) {
    return {route,
            pool,
            direction,
            {message.in, message.out, static_cast<size_t>(shard.end)},
            static_cast<size_t>(shard.done),
            unit_bytes};
}

// Returns a batch of one message.
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

// Runs a batch of one on the calling thread, or on a GPU if the route says so. Returns the number
// of forgeries, 0 or 1.
uint64_t run_batch_of_one(Engine::Impl& impl, const Route& route, warpseal_mode mode,
                          Direction direction, const warpseal_batch& batch);

// Processes text of a GCM message that has already begun, with a route of its own. `gcm` holds J0
// and the GHASH value of everything before the text.
warpseal_status gcm_text(Engine::Impl& impl, const Key& key, Direction direction,
                         const Message& message, GcmState& gcm);

}  // namespace warpseal
