// Internal function of internal.h that creates a key like another.
#include "c_api/handles.h"
#include "c_api/internal.h"
#include "core/secret.h"
#include "engine/engine_impl.h"

namespace warpseal::c_api {
namespace {

warpseal_status key_like(const warpseal_key& like, const uint8_t* bytes, warpseal_key*& out) {
    const Key& first = *like.key;
    const size_t half = first.facts().key_bytes;
    if (first.for_xts() && equal_secret(bytes, bytes + half, half)) return WARPSEAL_WEAK_KEY;
    std::unique_ptr<Key> made = Key::create(first.descriptors(), first.facts(), bytes,
                                            first.for_xts() ? KeyKind::xts : KeyKind::one,
                                            WeakKeys::refused, &like.engine.impl().gpus);
    if (made == nullptr) return WARPSEAL_OUT_OF_MEMORY;
    for (int i = 0; i < WARPSEAL_MODE_COUNT; ++i)
        for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
            const auto mode = static_cast<warpseal_mode>(i);
            const int8_t chosen = first.chosen(mode, direction).load(std::memory_order_acquire);
            made->chosen(mode, direction).store(chosen, std::memory_order_release);
        }
    out = new warpseal_key{like.engine, std::move(made)};
    return WARPSEAL_OK;
}

}  // namespace
}  // namespace warpseal::c_api

using namespace warpseal;

extern "C" {

warpseal_status warpseal_internal_key_create_like(const warpseal_key* like, const void* key,
                                                  warpseal_key** out) {
    if (out == nullptr) return WARPSEAL_INVALID_ARGUMENT;
    *out = nullptr;
    if (like == nullptr || key == nullptr) return WARPSEAL_INVALID_ARGUMENT;
    return c_api::guarded(
        [&] { return c_api::key_like(*like, static_cast<const uint8_t*>(key), *out); });
}

}  // extern "C"
