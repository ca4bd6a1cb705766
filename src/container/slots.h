// Changes the key slots of an existing file: rewrites its two header copies one after the other.
#pragma once

#include "engine/engine.h"
#include "warpseal/slots.h"

namespace warpseal::container {

class SlotKeys;

// Implements warpseal_file_slots_change, which checks struct sizes and null pointers first.
// The caller zeroes `result` and the fields of `change` that the call sets.
// keys: those of a run over many files, or null.
warpseal_status change_slots(Engine& engine, int fd, const warpseal_file_options& options,
                             warpseal_slots_change& change, warpseal_file_result& result,
                             SlotKeys* keys = nullptr);

}  // namespace warpseal::container
