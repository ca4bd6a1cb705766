#include "container/pipeline/chunk_batch.h"

#include <algorithm>

namespace warpseal::container {

namespace {

using ull = unsigned long long;

}  // namespace

warpseal_status run_chunks(Engine& engine, const PayloadKey& payload, Direction direction,
                           uint64_t first, const uint8_t* in, size_t count, size_t text_bytes,
                           uint8_t* out, ChunkScratch& scratch, Fault& fault) {
    const bool sealing = direction == Direction::encrypt;
    scratch.nonces.resize(count * nonce_bytes);
    for (size_t i = 0; i < count; ++i)
        chunk_nonce(payload, first + i, scratch.nonces.data() + i * nonce_bytes);
    // A chunk counts as verified only if the engine says so.
    scratch.statuses.assign(count, int32_t{WARPSEAL_NOT_AUTHENTIC});
    uint8_t nothing = 0;
    warpseal_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.iv_bytes = nonce_bytes;
    batch.tag_bytes = tag_bytes;
    batch.message_count = count;
    batch.message_bytes = text_bytes;
    batch.ivs = scratch.nonces.data();
    batch.iv_stride = nonce_bytes;
    batch.in = text_bytes == 0 ? &nothing : in;
    batch.in_stride = sealing ? chunk_text_bytes : chunk_bytes;
    batch.out = text_bytes == 0 ? &nothing : out;
    batch.out_stride = sealing ? chunk_bytes : chunk_text_bytes;
    // Opening only reads the tags.
    batch.tags = sealing ? out + text_bytes : const_cast<uint8_t*>(in) + text_bytes;
    batch.tag_stride = chunk_bytes;
    batch.statuses = scratch.statuses.data();
    const warpseal_status status =
        engine.batch(*payload.key, WARPSEAL_GCM, direction, batch, Engine::Threads::all);
    if (status == WARPSEAL_NOT_AUTHENTIC) {
        const auto wrong = std::find_if(scratch.statuses.begin(), scratch.statuses.end(),
                                        [](int32_t one) { return one != WARPSEAL_OK; });
        return fault.say(status,
                         "chunk %llu does not verify: it was changed, moved or damaged, or the "
                         "message was cut or lengthened within it",
                         ull{first + static_cast<uint64_t>(wrong - scratch.statuses.begin())});
    }
    if (status != WARPSEAL_OK)
        return fault.say(status, "the engine could not %s chunk %llu and those after it",
                         sealing ? "seal" : "open", ull{first});
    return WARPSEAL_OK;
}

}  // namespace warpseal::container
