// Validation of batches in host and device memory, before a backend sees them.
#pragma once

#include "engine/limits.h"

namespace warpseal {

// Checks arguments and standard limits that are visible in the struct itself.
warpseal_status check_batch(const Key& key, warpseal_mode mode, Direction direction,
                            const warpseal_batch& batch);

// True if `in`, or `out` in a mode that writes text, is null. Allowed only if every message is
// empty.
bool lacks_text(warpseal_mode mode, const warpseal_batch& batch);

// Checks each message: length limits, non-null text unless empty, and `out` equal to `in` or
// disjoint. Computes the total bytes.
warpseal_status check_host_messages(const CipherFacts& cipher, warpseal_mode mode,
                                    const warpseal_batch& batch, uint64_t& total_bytes);

// Checks that `out` of one message is equal to `in` or disjoint. Lengths in device memory are not
// read here, so with them `in` and `out` must be non-null even if every message is empty.
warpseal_status check_device_text(warpseal_mode mode, const warpseal_batch& batch);

}  // namespace warpseal
