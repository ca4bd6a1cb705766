// Implements the sets and operations of kem.h, in host and in device memory.
#include "warpseal/kem.h"

#include <iterator>

#include "backends/kem_catalogue.h"
#include "c_api/handles.h"
#include "container/random.h"

namespace warpseal::c_api {
namespace {

warpseal_status check(const warpseal_engine* engine, const char* set,
                      const warpseal_kem_batch* batch) {
    warpseal_status status = check_pointer(engine, "engine");
    if (status == WARPSEAL_OK) status = check_pointer(set, "set");
    return status != WARPSEAL_OK ? status : check_struct(batch, "batch");
}

warpseal_status kem(warpseal_engine* engine, KemOperation operation, const char* set,
                    const warpseal_kem_batch* batch) {
    const warpseal_status status = check(engine, set, batch);
    if (status != WARPSEAL_OK) return status;
    return guarded_waiting(
        [&] { return engine->engine->kem(operation, set, *batch, container::random_bytes); });
}

warpseal_status kem_device(warpseal_engine* engine, KemOperation operation, const char* set,
                           const warpseal_kem_batch* batch, void* stream) {
    const warpseal_status status = check(engine, set, batch);
    if (status != WARPSEAL_OK) return status;
    return guarded_waiting([&] {
        return engine->engine->kem_device(operation, set, *batch, container::random_bytes, stream);
    });
}

}  // namespace
}  // namespace warpseal::c_api

using namespace warpseal;

extern "C" {

warpseal_status warpseal_kem_at(size_t index, warpseal_kem_info* info) {
    if (info == nullptr) return refuse("info is null");
    if (index >= std::size(kem_sets))
        return refuse("index is %zu: there are %zu sets", index, std::size(kem_sets));
    const KemSet& set = kem_sets[index];
    *info = {set.name,
             static_cast<uint32_t>(set.public_key_bytes()),
             static_cast<uint32_t>(set.secret_key_bytes()),
             static_cast<uint32_t>(set.ciphertext_bytes()),
             static_cast<uint32_t>(set.shared_secret_bytes()),
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
