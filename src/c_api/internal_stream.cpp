// Implements internal_stream.h.
#include "c_api/internal_stream.h"

#include "c_api/handles.h"
#include "engine/calls/streaming.h"

struct warpseal_internal_stream {
    std::unique_ptr<warpseal::StreamingContext> message;
};

using namespace warpseal;

extern "C" {

warpseal_status warpseal_internal_stream_create(const warpseal_key* key, warpseal_mode mode,
                                                int32_t decrypt, warpseal_internal_stream** out) {
    if (out == nullptr) return WARPSEAL_INVALID_ARGUMENT;
    *out = nullptr;
    if (key == nullptr || !known(mode)) return WARPSEAL_INVALID_ARGUMENT;
    return c_api::guarded([&, mode] {
        auto made = std::make_unique<warpseal_internal_stream>();
        const Direction direction = decrypt != 0 ? Direction::decrypt : Direction::encrypt;
        const warpseal_status status =
            StreamingContext::create(key->engine, *key->key, mode, direction, made->message);
        if (status == WARPSEAL_OK) *out = made.release();
        return status;
    });
}

warpseal_status warpseal_internal_stream_copy(const warpseal_internal_stream* from,
                                              warpseal_internal_stream** out) {
    if (out == nullptr) return WARPSEAL_INVALID_ARGUMENT;
    *out = nullptr;
    if (from == nullptr) return WARPSEAL_INVALID_ARGUMENT;
    return c_api::guarded([&] {
        auto made = std::make_unique<warpseal_internal_stream>();
        made->message = std::make_unique<StreamingContext>(*from->message);
        *out = made.release();
        return WARPSEAL_OK;
    });
}

warpseal_status warpseal_internal_stream_rekey(warpseal_internal_stream* message,
                                               const warpseal_key* key) {
    if (message == nullptr || key == nullptr) return WARPSEAL_INVALID_ARGUMENT;
    return c_api::guarded([&] { return message->message->rekey(key->engine, *key->key); });
}

void warpseal_internal_stream_destroy(warpseal_internal_stream* message) { delete message; }

warpseal_status warpseal_internal_stream_init(warpseal_internal_stream* message, const void* iv,
                                              size_t iv_bytes) {
    return message == nullptr ? WARPSEAL_INVALID_ARGUMENT
                              : message->message->begin(c_api::span(iv, iv_bytes));
}

warpseal_status warpseal_internal_stream_aad(warpseal_internal_stream* message, const void* aad,
                                             size_t bytes) {
    return message == nullptr ? WARPSEAL_INVALID_ARGUMENT
                              : message->message->aad(c_api::span(aad, bytes));
}

warpseal_status warpseal_internal_stream_update(warpseal_internal_stream* message, const void* in,
                                                void* out, size_t bytes) {
    if (message == nullptr) return WARPSEAL_INVALID_ARGUMENT;
    return c_api::guarded([&] {
        return message->message->update(static_cast<const uint8_t*>(in), static_cast<uint8_t*>(out),
                                        bytes);
    });
}

size_t warpseal_internal_stream_shallow_bytes(const warpseal_internal_stream* message) {
    return message == nullptr ? 0 : message->message->shallow_bytes();
}

warpseal_internal_block_loop warpseal_internal_stream_loop(warpseal_internal_stream* message) {
    if (message == nullptr) return {};
    const auto loop = message->message->loop();
    return loop.run == nullptr ? warpseal_internal_block_loop{}
                               : warpseal_internal_block_loop{loop.run, loop.state, loop.feedback,
                                                              message->message->shallow_bytes()};
}

warpseal_status warpseal_internal_stream_tag(warpseal_internal_stream* message, void* tag,
                                             size_t tag_bytes) {
    return message == nullptr ? WARPSEAL_INVALID_ARGUMENT
                              : message->message->tag(static_cast<uint8_t*>(tag), tag_bytes);
}

warpseal_status warpseal_internal_stream_verify(warpseal_internal_stream* message, const void* tag,
                                                size_t tag_bytes) {
    return message == nullptr
               ? WARPSEAL_INVALID_ARGUMENT
               : message->message->verify(static_cast<const uint8_t*>(tag), tag_bytes);
}

void warpseal_internal_stream_position(const warpseal_internal_stream* message, void* iv,
                                       uint32_t* used) {
    if (message == nullptr || iv == nullptr || used == nullptr) return;
    message->message->position(static_cast<uint8_t*>(iv), used);
}

}  // extern "C"
