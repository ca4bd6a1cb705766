// Implements internal_shards.h.
#include "c_api/internal_shards.h"

#include "c_api/files/file_call.h"
#include "container/shards/part.h"

struct warpseal_internal_plan {
    std::unique_ptr<warpseal::container::Plan> plan;
};

namespace warpseal::c_api {
namespace {

using container::Fault;
using container::Plan;

static_assert(WARPSEAL_INTERNAL_PIN_BYTES == container::pin_bytes);
static_assert(WARPSEAL_INTERNAL_FINGERPRINT_BYTES == container::fingerprint_bytes);
static_assert(WARPSEAL_INTERNAL_PART_HEAD_BYTES == container::part_head_bytes);

// Runs work(Fault&) unless `wrong` is not empty, and reports its fault.
template <class Work>
warpseal_status with_fault(warpseal_file_result* result, const char* wrong, Work work) {
    if (!sized(result)) return refuse("result is null, or its struct_bytes is too small");
    return reported(*result, wrong, [&] {
        Fault fault;
        work(fault);
        result->system_error = fault.system_error;
        std::memcpy(result->message, fault.message, sizeof result->message);
        return fault.status;
    });
}

const char* wrong_in_plan(const warpseal_internal_plan* plan, uint32_t index) {
    if (plan == nullptr) return "the plan is null";
    return index < plan->plan->shard_count() ? "" : "the plan has no shard of that index";
}

const void* pointer(Bytes from, size_t* bytes) {
    *bytes = from.size;
    return from.data;
}

}  // namespace
}  // namespace warpseal::c_api

using namespace warpseal;

extern "C" {

warpseal_status warpseal_internal_plan_create(warpseal_engine* engine,
                                              const warpseal_file_options* options,
                                              uint64_t text_bytes, uint32_t shard_count,
                                              const void* pin, warpseal_internal_plan** out,
                                              warpseal_file_result* result) {
    if (out == nullptr) return refuse("out is null");
    *out = nullptr;
    const char* wrong = c_api::wrong_in_options(options, c_api::SecretTypes::all);
    if (engine == nullptr) wrong = "the engine is null";
    if (pin == nullptr) wrong = "the pin is null";
    return c_api::with_fault(result, wrong, [&](container::Fault& fault) {
        auto made = std::make_unique<warpseal_internal_plan>();
        if (container::Plan::create(*engine->engine, *options, text_bytes, shard_count,
                                    static_cast<const uint8_t*>(pin), made->plan,
                                    fault) == WARPSEAL_OK)
            *out = made.release();
    });
}

warpseal_status warpseal_internal_plan_open(warpseal_engine* engine, const void* data, size_t bytes,
                                            const warpseal_file_options* options,
                                            warpseal_internal_plan** out,
                                            warpseal_file_result* result) {
    if (out == nullptr) return refuse("out is null");
    *out = nullptr;
    const char* wrong = c_api::wrong_in_options(options, c_api::SecretTypes::all);
    if (engine == nullptr) wrong = "the engine is null";
    if (data == nullptr && bytes != 0) wrong = "the data of the plan is null";
    return c_api::with_fault(result, wrong, [&](container::Fault& fault) {
        auto made = std::make_unique<warpseal_internal_plan>();
        if (container::Plan::open(*engine->engine, c_api::span(data, bytes), *options, made->plan,
                                  fault) == WARPSEAL_OK)
            *out = made.release();
    });
}

void warpseal_internal_plan_destroy(warpseal_internal_plan* plan) {
    const CancellationDisabled disabled;
    delete plan;
}

const void* warpseal_internal_plan_data(const warpseal_internal_plan* plan, size_t* bytes) {
    return c_api::pointer(plan->plan->data(), bytes);
}

const void* warpseal_internal_plan_front(const warpseal_internal_plan* plan, size_t* bytes) {
    return c_api::pointer(plan->plan->front(), bytes);
}

const void* warpseal_internal_plan_pin(const warpseal_internal_plan* plan) {
    return plan->plan->pin();
}

uint64_t warpseal_internal_plan_text_bytes(const warpseal_internal_plan* plan) {
    return plan->plan->text_bytes();
}

uint32_t warpseal_internal_plan_shard_count(const warpseal_internal_plan* plan) {
    return plan->plan->shard_count();
}

warpseal_internal_shard warpseal_internal_plan_shard(const warpseal_internal_plan* plan,
                                                     uint32_t index) {
    const container::Shard shard = plan->plan->shard(index);
    return {shard.text_offset, shard.text_bytes, shard.file_offset, shard.file_bytes};
}

warpseal_status warpseal_internal_plan_seal(const warpseal_internal_plan* plan, uint32_t index,
                                            const void* in, void* out, void* fingerprint,
                                            warpseal_file_result* result) {
    const char* wrong = c_api::wrong_in_plan(plan, index);
    if (out == nullptr || fingerprint == nullptr) wrong = "an output is null";
    return c_api::with_fault(result, wrong, [&](container::Fault& fault) {
        plan->plan->seal(index, static_cast<const uint8_t*>(in), static_cast<uint8_t*>(out),
                         static_cast<uint8_t*>(fingerprint), fault);
    });
}

warpseal_status warpseal_internal_pin_file(int fd, void* pin, warpseal_file_result* result) {
    const char* const wrong = fd < 0           ? "fd is no descriptor"
                              : pin == nullptr ? "the pin is null"
                                               : "";
    return c_api::with_fault(result, wrong, [&](container::Fault& fault) {
        container::pin_of_file(fd, static_cast<uint8_t*>(pin), fault);
    });
}

warpseal_status warpseal_internal_plan_seal_part(const warpseal_internal_plan* plan, uint32_t index,
                                                 int in_fd, int out_fd,
                                                 const warpseal_file_options* options,
                                                 warpseal_file_result* result) {
    if (!c_api::sized(result)) return refuse("result is null, or its struct_bytes is too small");
    const char* wrong = c_api::wrong_in_plan(plan, index);
    if (in_fd < 0 || out_fd < 0) wrong = "the input or the output is no descriptor";
    if (!c_api::sized(options)) wrong = "there are no options, or their struct_bytes is too small";
    return c_api::reported(*result, wrong, [&] {
        return container::seal_part(*plan->plan, index, in_fd, out_fd, *options, *result);
    });
}

warpseal_status warpseal_internal_plan_check_part(const warpseal_internal_plan* plan, int fd,
                                                  uint32_t* index, warpseal_file_result* result) {
    const char* wrong = plan == nullptr    ? "the plan is null"
                        : index == nullptr ? "index is null"
                        : fd < 0           ? "fd is no descriptor"
                                           : "";
    return c_api::with_fault(result, wrong, [&](container::Fault& fault) {
        container::check_part(*plan->plan, fd, *index, fault);
    });
}

}  // extern "C"
