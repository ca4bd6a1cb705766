// Engines and keys of the C API.
#include "c_api/handles.h"
#include "c_api/internal.h"

namespace warpseal::c_api {
namespace {

warpseal_status create_key(warpseal_engine* engine, const char* cipher, const void* key,
                           size_t key_bytes, warpseal_key** out, KeyKind kind, WeakKeys weak) {
    if (out == nullptr) return refuse("out is null");
    *out = nullptr;
    warpseal_status status = check_pointer(engine, "engine");
    if (status == WARPSEAL_OK) status = check_pointer(cipher, "cipher");
    if (status == WARPSEAL_OK) status = check_pointer(key, "key");
    if (status != WARPSEAL_OK) return status;
    return guarded([&] {
        std::unique_ptr<Key> made;
        const warpseal_status status =
            engine->engine->key(cipher, span(key, key_bytes), made, kind, weak);
        if (status == WARPSEAL_OK) *out = new warpseal_key{*engine->engine, std::move(made)};
        return status;
    });
}

}  // namespace
}  // namespace warpseal::c_api

using namespace warpseal;

extern "C" {

warpseal_status warpseal_engine_create(const warpseal_engine_options* options,
                                       warpseal_engine** engine) {
    if (engine == nullptr) return refuse("engine is null");
    *engine = nullptr;
    if (options != nullptr) {
        const warpseal_status status = c_api::check_struct(options, "options");
        if (status != WARPSEAL_OK) return status;
    }
    return c_api::guarded_waiting([&] {
        EngineOptions wanted;
        if (options != nullptr) {
            wanted.threads = options->threads;
            if (options->device != nullptr) wanted.device = options->device;
            if (options->notice != nullptr)
                wanted.notice = [notice = options->notice,
                                 user = options->notice_user](const char* text) {
                    const CancellationDisabled disabled;
                    notice(user, text);
                };
        }
        auto made = std::make_unique<warpseal_engine>();
        const warpseal_status status = Engine::create(wanted, made->engine);
        if (status == WARPSEAL_OK) *engine = made.release();
        return status;
    });
}

void warpseal_engine_destroy(warpseal_engine* engine) {
    const CancellationDisabled disabled;
    delete engine;
}

const char* warpseal_engine_pick(warpseal_engine* engine, const char* cipher, warpseal_mode mode,
                                 uint64_t bytes) {
    const char* name = "";
    if (engine == nullptr || cipher == nullptr || !known(mode)) return name;
    (void)c_api::guarded_waiting([&, mode] {
        name = engine->engine->pick(cipher, mode, bytes);
        return WARPSEAL_OK;
    });
    return name;
}

const char* warpseal_internal_pick(warpseal_engine* engine, const char* cipher, warpseal_mode mode,
                                   const void* in, const void* out, uint64_t bytes) {
    const char* name = "";
    if (engine == nullptr || cipher == nullptr || !known(mode)) return name;
    (void)c_api::guarded_waiting([&, mode] {
        name = engine->engine->pick(cipher, mode, bytes, in, out);
        return WARPSEAL_OK;
    });
    return name;
}

warpseal_status warpseal_key_create(warpseal_engine* engine, const char* cipher, const void* key,
                                    size_t key_bytes, warpseal_key** out) {
    return c_api::create_key(engine, cipher, key, key_bytes, out, KeyKind::one, WeakKeys::refused);
}

warpseal_status warpseal_key_create_xts(warpseal_engine* engine, const char* cipher,
                                        const void* key, size_t key_bytes, warpseal_key** out) {
    return c_api::create_key(engine, cipher, key, key_bytes, out, KeyKind::xts, WeakKeys::refused);
}

warpseal_status warpseal_internal_key_create(warpseal_engine* engine, const char* cipher,
                                             const void* key, size_t key_bytes,
                                             warpseal_key** out) {
    return c_api::create_key(engine, cipher, key, key_bytes, out, KeyKind::one, WeakKeys::allowed);
}

warpseal_status warpseal_internal_key_create_xts(warpseal_engine* engine, const char* cipher,
                                                 const void* key, size_t key_bytes,
                                                 warpseal_key** out) {
    return c_api::create_key(engine, cipher, key, key_bytes, out, KeyKind::xts, WeakKeys::allowed);
}

int32_t warpseal_internal_key_made_of(const warpseal_key* key, const void* bytes) {
    return key->key->made_of(static_cast<const uint8_t*>(bytes)) ? 1 : 0;
}

void warpseal_key_destroy(warpseal_key* key) { delete key; }

}  // extern "C"
