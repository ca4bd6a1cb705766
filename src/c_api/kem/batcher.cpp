// Implements batcher.h.
#include "engine/kem/batcher/batcher.h"

#include <algorithm>

#include "c_api/handles.h"
#include "container/random.h"

struct warpseal_kem_batcher {
    warpseal::KemBatcher batcher;
};

using namespace warpseal;

namespace warpseal::c_api {
namespace {

constexpr uint32_t most_waiting = 1u << 30;

KemBatcherOptions options_of(const warpseal_kem_batcher_options* given) {
    KemBatcherOptions out;
    if (given == nullptr) return out;
    if (given->max_batch != 0) out.rule.most = given->max_batch;
    if (given->max_delay_us != 0) out.rule.delay = std::chrono::microseconds(given->max_delay_us);
    if (given->max_waiting != 0) out.most_waiting = given->max_waiting;
    if (given->metrics_directory != nullptr) out.metrics_directory = given->metrics_directory;
    return out;
}

warpseal_status check(const warpseal_kem_batcher* batcher, const warpseal_kem_request* request) {
    warpseal_status status = check_pointer(batcher, "batcher");
    if (status == WARPSEAL_OK) status = check_struct(request, "request");
    return status != WARPSEAL_OK ? status : check_pointer(request->set, "the set of request");
}

}  // namespace
}  // namespace warpseal::c_api

extern "C" {

warpseal_status warpseal_kem_batcher_create(warpseal_engine* engine,
                                            const warpseal_kem_batcher_options* options,
                                            warpseal_kem_batcher** batcher) {
    if (batcher == nullptr) return refuse("batcher is null");
    *batcher = nullptr;
    warpseal_status status = c_api::check_pointer(engine, "engine");
    if (status == WARPSEAL_OK && options != nullptr)
        status = c_api::check_struct(options, "options");
    if (status != WARPSEAL_OK) return status;
    if (options != nullptr && options->max_waiting > c_api::most_waiting)
        return refuse("max_waiting is %u: give at most %u",
                      static_cast<unsigned>(options->max_waiting), c_api::most_waiting);
    return c_api::guarded_waiting([&] {
        *batcher = new warpseal_kem_batcher{
            {*engine->engine, c_api::options_of(options), container::random_bytes}};
        return WARPSEAL_OK;
    });
}

void warpseal_kem_batcher_destroy(warpseal_kem_batcher* batcher) {
    const CancellationDisabled disabled;
    delete batcher;
}

warpseal_status warpseal_kem_batcher_run(warpseal_kem_batcher* batcher,
                                         const warpseal_kem_request* request) {
    const warpseal_status status = c_api::check(batcher, request);
    if (status != WARPSEAL_OK) return status;
    return c_api::guarded_waiting([&] { return batcher->batcher.run(*request); });
}

warpseal_status warpseal_kem_batcher_submit(warpseal_kem_batcher* batcher,
                                            const warpseal_kem_request* request) {
    const warpseal_status status = c_api::check(batcher, request);
    if (status != WARPSEAL_OK) return status;
    return c_api::guarded_waiting([&] { return batcher->batcher.submit(*request); });
}

warpseal_status warpseal_kem_batcher_counts_read(warpseal_kem_batcher* batcher,
                                                 warpseal_kem_batcher_counts* counts) {
    if (batcher == nullptr) return refuse("batcher is null");
    const warpseal_status status = c_api::check_struct(counts, "counts");
    if (status != WARPSEAL_OK) return status;
    return c_api::guarded_waiting([&] {
        batcher->batcher.read(*counts);
        return WARPSEAL_OK;
    });
}

size_t warpseal_kem_batcher_metrics(warpseal_kem_batcher* batcher, char* out, size_t capacity) {
    size_t bytes = 0;
    if (batcher == nullptr || (out == nullptr && capacity != 0)) return 0;
    (void)c_api::guarded_waiting([&] {
        const std::string text = batcher->batcher.metrics();
        bytes = text.size();
        if (capacity == 0) return WARPSEAL_OK;
        const size_t some = std::min(bytes, capacity - 1);
        std::copy_n(text.data(), some, out);
        out[some] = 0;
        return WARPSEAL_OK;
    });
    return bytes;
}

}  // extern "C"
