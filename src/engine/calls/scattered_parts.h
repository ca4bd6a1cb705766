// The parts of a batch whose messages lie anywhere, and the checks of their memory.
#pragma once

#include "backends/batch_message.h"
#include "engine/limits.h"

namespace warpseal {

struct ScatteredPart : BatchPart {
    const char* name;       // of its fields: "iv"
    const char* base_name;  // "batch.ivs"
};

struct ScatteredParts {
    explicit ScatteredParts(const warpseal_scattered_batch& given);

    uint64_t text_bytes(uint64_t i) const {
        return given.batch.lengths != nullptr ? given.batch.lengths[i] : given.batch.message_bytes;
    }
    uint64_t aad_bytes(uint64_t i) const {
        return given.aad_lengths != nullptr ? given.aad_lengths[i] : given.batch.aad_bytes;
    }
    // True if the AAD cannot be described by one length and one stride.
    bool aad_scattered() const { return aad.scattered() || given.aad_lengths != nullptr; }

    const warpseal_scattered_batch& given;
    const ScatteredPart in, out, ivs, aad, tags;
};

// Checks the struct, and each message: its lengths, that its memory exists, and that nothing
// written overlaps anything else. draws_ivs: the IVs are written.
warpseal_status check_scattered(const Key& key, warpseal_mode mode, Direction direction,
                                const ScatteredParts& parts, bool draws_ivs);

// Checks the struct of a batch in device memory, and extents where its fields alone tell how far
// the messages reach.
warpseal_status check_scattered_device(const Key& key, warpseal_mode mode, Direction direction,
                                       const ScatteredParts& parts);

}  // namespace warpseal
