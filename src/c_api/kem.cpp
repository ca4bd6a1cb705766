// Implements the sets and operations of kem.h, in host and in device memory.
#include "warpseal/kem.h"

#include <iterator>

#include "backends/kem_catalogue.h"
#include "c_api/handles.h"
#include "container/random.h"

namespace warpseal::c_api {
namespace {

warpseal_status kem(warpseal_engine* engine, KemOperation operation, const char* set,
                    const warpseal_kem_batch* batch) {
    if (engine == nullptr || set == nullptr || !sized(batch)) return WARPSEAL_INVALID_ARGUMENT;
    return guarded_waiting(
        [&] { return engine->engine->kem(operation, set, *batch, container::random_bytes); });
}

warpseal_status kem_device(warpseal_engine* engine, KemOperation operation, const char* set,
                           const warpseal_kem_batch* batch, void* stream) {
    if (engine == nullptr || set == nullptr || !sized(batch)) return WARPSEAL_INVALID_ARGUMENT;
    return guarded_waiting([&] {
        return engine->engine->kem_device(operation, set, *batch, container::random_bytes, stream);
    });
}

}  // namespace
}  // namespace warpseal::c_api

using namespace warpseal;

extern "C" {

warpseal_status warpseal_kem_at(size_t index, warpseal_kem_info* info) {
    if (info == nullptr || index >= std::size(kem_sets)) return WARPSEAL_INVALID_ARGUMENT;
    const KemSet& set = kem_sets[index];
    *info = {set.name,
             static_cast<uint32_t>(set.public_key_bytes()),
             static_cast<uint32_t>(set.secret_key_bytes()),
             static_cast<uint32_t>(set.ciphertext_bytes()),
             static_cast<uint32_t>(KemSet::shared_secret_bytes),
             static_cast<uint32_t>(set.keypair_coins()),
             static_cast<uint32_t>(set.encapsulation_coins())};
    return WARPSEAL_OK;
}

warpseal_status warpseal_kem_keypair(warpseal_engine* engine, const char* set,
                                     const warpseal_kem_batch* batch) {
    return c_api::kem(engine, KemOperation::keypair, set, batch);
}

warpseal_status warpseal_kem_encapsulate(warpseal_engine* engine, const char* set,
                                         const warpseal_kem_batch* batch) {
    return c_api::kem(engine, KemOperation::encapsulate, set, batch);
}

warpseal_status warpseal_kem_decapsulate(warpseal_engine* engine, const char* set,
                                         const warpseal_kem_batch* batch) {
    return c_api::kem(engine, KemOperation::decapsulate, set, batch);
}

warpseal_status warpseal_kem_keypair_device(warpseal_engine* engine, const char* set,
                                            const warpseal_kem_batch* batch, void* stream) {
    return c_api::kem_device(engine, KemOperation::keypair, set, batch, stream);
}

warpseal_status warpseal_kem_encapsulate_device(warpseal_engine* engine, const char* set,
                                                const warpseal_kem_batch* batch, void* stream) {
    return c_api::kem_device(engine, KemOperation::encapsulate, set, batch, stream);
}

warpseal_status warpseal_kem_decapsulate_device(warpseal_engine* engine, const char* set,
                                                const warpseal_kem_batch* batch, void* stream) {
    return c_api::kem_device(engine, KemOperation::decapsulate, set, batch, stream);
}

}  // extern "C"
