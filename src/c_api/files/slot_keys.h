// Contents of the handle of slot keys.
#pragma once

#include "c_api/internal_slot_keys.h"
#include "container/slot_keys.h"

struct warpseal_internal_slot_keys {
    warpseal::container::SlotKeys keys;
};

namespace warpseal::c_api {

inline container::SlotKeys* keys_of(warpseal_internal_slot_keys* handle) {
    return handle == nullptr ? nullptr : &handle->keys;
}

}  // namespace warpseal::c_api
