// Keys that passphrases gave in a run over many files, so that Argon2id runs once for all.
#pragma once

#include <memory>
#include <new>

#include "c_api/internal_slot_keys.h"

namespace warpseal::python {

class SlotKeys {
public:
    SlotKeys() : keys_(warpseal_internal_slot_keys_create()) {
        if (!keys_) throw std::bad_alloc();
    }
    warpseal_internal_slot_keys* get() const { return keys_.get(); }

private:
    struct Delete {
        void operator()(warpseal_internal_slot_keys* keys) const {
            warpseal_internal_slot_keys_destroy(keys);
        }
    };
    std::unique_ptr<warpseal_internal_slot_keys, Delete> keys_;
};

}  // namespace warpseal::python
