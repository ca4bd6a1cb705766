// Counters in device memory from which GPUs draw IVs: one for each GPU of the process, made and
// tested at its first use. They are never freed: queued work and captured graphs draw from them
// after the engine is destroyed, and a counter of zeros would draw the IVs of another call.
#pragma once

#include "engine/schedule/gpus.h"

namespace warpseal {

// Finds or makes the IvCounter of an open GPU. random: source of its start; returns false on
// failure. Thread safe. Returns WARPSEAL_NO_RANDOM, WARPSEAL_SELF_TEST_FAILED, WARPSEAL_NO_DEVICE
// or WARPSEAL_OUT_OF_MEMORY.
warpseal_status find_iv_counter(const Gpu& gpu, bool (*random)(void* out, size_t bytes),
                                void*& counter);

}  // namespace warpseal
