// Implements the prepared keys of kem.h.
#include "c_api/handles.h"
#include "container/random.h"
#include "engine/kem/prepared_key.h"
#include "warpseal/kem.h"

struct warpseal_kem_key {
    std::unique_ptr<warpseal::PreparedKemKey> key;
};

namespace warpseal::c_api {
namespace {

warpseal_status create(warpseal_engine* engine, KemKeyKind kind, const char* set,
                       const uint8_t* bytes, size_t byte_count, warpseal_kem_key** key) {
    if (key == nullptr) return refuse("key is null");
    *key = nullptr;
    warpseal_status status = check_pointer(engine, "engine");
    if (status == WARPSEAL_OK) status = check_pointer(set, "set");
    if (status == WARPSEAL_OK)
        status = check_pointer(bytes, kind == KemKeyKind::public_key ? "public_key" : "secret_key");
    if (status != WARPSEAL_OK) return status;
    return guarded_waiting([&] {
        auto made = std::make_unique<warpseal_kem_key>();
        const warpseal_status outcome =
            PreparedKemKey::create(*engine->engine, kind, set, span(bytes, byte_count), made->key);
        if (outcome == WARPSEAL_OK) *key = made.release();
        return outcome;
    });
}

warpseal_status run(const warpseal_kem_key* key, KemKeyKind kind, const warpseal_kem_batch* batch) {
    warpseal_status status = check_pointer(key, "key");
    if (status == WARPSEAL_OK) status = check_struct(batch, "batch");
    if (status != WARPSEAL_OK) return status;
    if (key->key->kind() != kind)
        return kind == KemKeyKind::public_key
                   ? refuse("key is a secret key: encapsulate with the public key")
                   : refuse("key is a public key: decapsulate with the secret key");
    return guarded_waiting([&] { return key->key->run(*batch, container::random_bytes); });
}

}  // namespace
}  // namespace warpseal::c_api

using namespace warpseal;

extern "C" {

warpseal_status warpseal_kem_public_key_create(warpseal_engine* engine, const char* set,
                                               const uint8_t* public_key, size_t key_bytes,
                                               warpseal_kem_key** key) {
    return c_api::create(engine, KemKeyKind::public_key, set, public_key, key_bytes, key);
}

warpseal_status warpseal_kem_secret_key_create(warpseal_engine* engine, const char* set,
                                               const uint8_t* secret_key, size_t key_bytes,
                                               warpseal_kem_key** key) {
    return c_api::create(engine, KemKeyKind::secret_key, set, secret_key, key_bytes, key);
}

void warpseal_kem_key_destroy(warpseal_kem_key* key) {
    const CancellationDisabled disabled;
    delete key;
}

warpseal_status warpseal_kem_key_encapsulate(const warpseal_kem_key* key,
                                             const warpseal_kem_batch* batch) {
    return c_api::run(key, KemKeyKind::public_key, batch);
}

warpseal_status warpseal_kem_key_decapsulate(const warpseal_kem_key* key,
                                             const warpseal_kem_batch* batch) {
    return c_api::run(key, KemKeyKind::secret_key, batch);
}

}  // extern "C"
