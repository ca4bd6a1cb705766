// Implements cobblestone.h.
#include "warpseal/cobblestone.h"

#include "c_api/handles.h"
#include "container/pipeline/streaming_payload.h"

struct warpseal_cobblestone {
    std::unique_ptr<warpseal::container::StreamingPayload> payload;
};

namespace warpseal::c_api {
namespace {

using container::Fault;
using container::StreamingPayload;

// Runs work(Fault&). Every failure leaves a message for warpseal_last_error_message().
template <class Work>
warpseal_status told(Work work) {
    Fault fault;
    const warpseal_status status = guarded_waiting([&] { return work(fault); });
    if (status != WARPSEAL_OK)
        set_refusal_text(fault.message[0] != 0 ? fault.message : warpseal_status_text(status));
    return status;
}

warpseal_status create(Direction direction, warpseal_engine* engine, const void* key,
                       size_t key_bytes, const void* context, size_t context_bytes,
                       warpseal_cobblestone** out) {
    if (out == nullptr) return refuse("out is null");
    *out = nullptr;
    if (engine == nullptr) return refuse("engine is null");
    if (key == nullptr) return refuse("key is null");
    if (context == nullptr && context_bytes != 0) return refuse("context is null");
    return told([&](Fault& fault) {
        auto made = std::make_unique<warpseal_cobblestone>();
        if (StreamingPayload::create(*engine->engine, direction, span(key, key_bytes),
                                     span(context, context_bytes), made->payload,
                                     fault) != WARPSEAL_OK)
            return fault.status;
        *out = made.release();
        return WARPSEAL_OK;
    });
}

bool overlap(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
    const auto first = reinterpret_cast<uintptr_t>(a), second = reinterpret_cast<uintptr_t>(b);
    return a_bytes != 0 && b_bytes != 0 && first < second + b_bytes && second < first + a_bytes;
}

// Checks what update and finish have in common. `wanted`: the bytes that will be written.
warpseal_status check(const StreamingPayload& payload, size_t wanted, const void* out,
                      size_t out_capacity) {
    if (payload.is_of_parent())
        return refuse("the message was begun before a fork: only the parent may continue it");
    if (payload.state() == StreamingPayload::State::finished)
        return refuse("the message is finished: create another one");
    if (payload.state() == StreamingPayload::State::failed)
        return refuse("the message has failed: destroy it");
    if (out_capacity < wanted)
        return refuse("out_capacity is %zu: give at least %zu bytes", out_capacity, wanted);
    return out == nullptr && wanted != 0 ? refuse("out is null") : WARPSEAL_OK;
}

}  // namespace
}  // namespace warpseal::c_api

using namespace warpseal;

extern "C" {

warpseal_status warpseal_cobblestone_create_seal(warpseal_engine* engine, const void* key,
                                                 size_t key_bytes, const void* context,
                                                 size_t context_bytes, warpseal_cobblestone** out) {
    return c_api::create(Direction::encrypt, engine, key, key_bytes, context, context_bytes, out);
}

warpseal_status warpseal_cobblestone_create_open(warpseal_engine* engine, const void* key,
                                                 size_t key_bytes, const void* context,
                                                 size_t context_bytes, warpseal_cobblestone** out) {
    return c_api::create(Direction::decrypt, engine, key, key_bytes, context, context_bytes, out);
}

void warpseal_cobblestone_destroy(warpseal_cobblestone* message) {
    const CancellationDisabled disabled;
    delete message;
}

size_t warpseal_cobblestone_update_bytes(const warpseal_cobblestone* message, size_t bytes) {
    return message == nullptr ? 0 : message->payload->update_bytes(bytes);
}

warpseal_status warpseal_cobblestone_update(warpseal_cobblestone* message, const void* in,
                                            size_t bytes, void* out, size_t out_capacity,
                                            size_t* out_bytes) {
    if (out_bytes == nullptr) return refuse("out_bytes is null");
    *out_bytes = 0;
    if (message == nullptr) return refuse("message is null");
    if (in == nullptr && bytes != 0) return refuse("in is null");
    const size_t wanted = message->payload->update_bytes(bytes);
    if (c_api::check(*message->payload, wanted, out, out_capacity) != WARPSEAL_OK)
        return WARPSEAL_INVALID_ARGUMENT;
    if (c_api::overlap(in, bytes, out, wanted)) return refuse("out overlaps in");
    return c_api::told([&](container::Fault& fault) {
        return message->payload->update(static_cast<const uint8_t*>(in), bytes,
                                        static_cast<uint8_t*>(out), *out_bytes, fault);
    });
}

size_t warpseal_cobblestone_finish_bytes(const warpseal_cobblestone* message) {
    return message == nullptr ? 0 : message->payload->finish_bytes();
}

warpseal_status warpseal_cobblestone_finish(warpseal_cobblestone* message, void* out,
                                            size_t out_capacity, size_t* out_bytes) {
    if (out_bytes == nullptr) return refuse("out_bytes is null");
    *out_bytes = 0;
    if (message == nullptr) return refuse("message is null");
    const size_t wanted = message->payload->finish_bytes();
    if (c_api::check(*message->payload, wanted, out, out_capacity) != WARPSEAL_OK)
        return WARPSEAL_INVALID_ARGUMENT;
    return c_api::told([&](container::Fault& fault) {
        return message->payload->finish(static_cast<uint8_t*>(out), *out_bytes, fault);
    });
}

}  // extern "C"
