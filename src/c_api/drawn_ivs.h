// IVs that the library draws, and the limit of their number under a key.
#pragma once

#include "c_api/handles.h"

namespace warpseal::c_api {

constexpr size_t drawn_iv_bytes = 12;
constexpr uint64_t drawn_iv_limit = uint64_t{1} << 32;  // SP 800-38D 8.3

// Counts IVs under the key before they are drawn. Returns false, and counts none, if they would be
// too many. Counts are never taken back.
inline bool count_drawn_ivs(const warpseal_key& key, uint64_t count) {
    std::atomic<uint64_t>& drawn = key.key->random_ivs;
    uint64_t before = drawn.load(std::memory_order_relaxed);
    do {
        if (count > drawn_iv_limit - before) return false;
    } while (!drawn.compare_exchange_weak(before, before + count, std::memory_order_relaxed));
    return true;
}

inline warpseal_status refuse_drawn_ivs() {
    return refuse_as(WARPSEAL_LIMIT_EXCEEDED,
                     "2^32 IVs were drawn under this key: create another key");
}

}  // namespace warpseal::c_api
