// Implements drbg.h.
#include "warpseal/drbg.h"

#include "c_api/handles.h"
#include "container/random.h"
#include "engine/drbg/random_generator.h"

struct warpseal_drbg {
    std::unique_ptr<warpseal::RandomGenerator> generator;
};

using namespace warpseal;

static_assert(WARPSEAL_DRBG_INPUT_BYTES == drbg::seed_bytes);

extern "C" {

warpseal_status warpseal_drbg_create(warpseal_engine* engine, const warpseal_drbg_options* options,
                                     warpseal_drbg** drbg) {
    if (drbg == nullptr) return refuse("drbg is null");
    *drbg = nullptr;
    warpseal_status checked = c_api::check_pointer(engine, "engine");
    if (checked == WARPSEAL_OK && options != nullptr)
        checked = c_api::check_struct(options, "options");
    if (checked != WARPSEAL_OK) return checked;
    RandomGeneratorOptions wanted;
    if (options != nullptr) {
        if (options->personalization == nullptr && options->personalization_bytes != 0)
            return refuse("personalization is null");
        wanted.personalization =
            c_api::span(options->personalization, options->personalization_bytes);
        wanted.prediction_resistance = options->prediction_resistance != 0;
    }
    return c_api::guarded_waiting([&] {
        auto made = std::make_unique<warpseal_drbg>();
        const warpseal_status status = RandomGenerator::create(
            *engine->engine, wanted, container::random_bytes, made->generator);
        if (status == WARPSEAL_OK) *drbg = made.release();
        return status;
    });
}

void warpseal_drbg_destroy(warpseal_drbg* drbg) {
    const CancellationDisabled disabled;
    delete drbg;
}

warpseal_status warpseal_drbg_reseed(warpseal_drbg* drbg, const void* additional,
                                     size_t additional_bytes) {
    if (drbg == nullptr) return refuse("drbg is null");
    if (additional == nullptr && additional_bytes != 0) return refuse("additional is null");
    return c_api::guarded_waiting(
        [&] { return drbg->generator->reseed(c_api::span(additional, additional_bytes)); });
}

warpseal_status warpseal_drbg_fill(warpseal_drbg* drbg, void* out, size_t bytes) {
    if (drbg == nullptr) return refuse("drbg is null");
    return c_api::guarded_waiting(
        [&] { return drbg->generator->fill(static_cast<uint8_t*>(out), bytes); });
}

warpseal_status warpseal_drbg_fill_device(warpseal_drbg* drbg, void* out, size_t bytes,
                                          void* stream) {
    if (drbg == nullptr) return refuse("drbg is null");
    return c_api::guarded_waiting(
        [&] { return drbg->generator->fill_device(static_cast<uint8_t*>(out), bytes, stream); });
}

}  // extern "C"
