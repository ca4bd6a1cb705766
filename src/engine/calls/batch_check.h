// What a batch must satisfy before a backend sees it, in host and in device memory.
#pragma once

#include "engine/limits.h"

namespace warpseal {

// Shapes and the standard's limits that show in the struct alone.
warpseal_status check_batch(const Key& key, warpseal_mode mode, Direction direction,
                            const warpseal_batch& batch);

// Whether in, or out where the mode writes text, is null: allowed where every message is empty.
bool lacks_text(warpseal_mode mode, const warpseal_batch& batch);

// The messages one by one: lengths within the limits, text where there are bytes, out either in or
// apart from it. Sums up their bytes.
warpseal_status check_host_messages(const CipherFacts& cipher, warpseal_mode mode,
                                    const warpseal_batch& batch, uint64_t& total_bytes);

// Lengths in device memory are not read here: with them, in and out must be there even if every
// message is empty.
warpseal_status check_device_text(warpseal_mode mode, const warpseal_batch& batch);

}  // namespace warpseal
