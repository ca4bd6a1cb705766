// inner_message.h implemented.
#include "warpseal/inner_message.h"

#include "abi/handles.h"
#include "engine/running_message.h"

struct warpseal_inner_message {
    std::unique_ptr<warpseal::RunningMessage> message;
};

using namespace warpseal;

extern "C" {

warpseal_status warpseal_inner_message_create(const warpseal_key* key, warpseal_mode mode,
                                              int32_t decrypt, warpseal_inner_message** out) {
    if (out == nullptr) return WARPSEAL_INVALID_ARGUMENT;
    *out = nullptr;
    if (key == nullptr || !known(mode)) return WARPSEAL_INVALID_ARGUMENT;
    return abi::guarded([&, mode] {
        auto made = std::make_unique<warpseal_inner_message>();
        const Direction direction = decrypt != 0 ? Direction::decrypt : Direction::encrypt;
        const warpseal_status status =
            RunningMessage::create(key->engine, *key->key, mode, direction, made->message);
        if (status == WARPSEAL_OK) *out = made.release();
        return status;
    });
}

warpseal_status warpseal_inner_message_copy(const warpseal_inner_message* from,
                                            warpseal_inner_message** out) {
    if (out == nullptr) return WARPSEAL_INVALID_ARGUMENT;
    *out = nullptr;
    if (from == nullptr) return WARPSEAL_INVALID_ARGUMENT;
    return abi::guarded([&] {
        auto made = std::make_unique<warpseal_inner_message>();
        made->message = std::make_unique<RunningMessage>(*from->message);
        *out = made.release();
        return WARPSEAL_OK;
    });
}

warpseal_status warpseal_inner_message_rekey(warpseal_inner_message* message,
                                             const warpseal_key* key) {
    if (message == nullptr || key == nullptr) return WARPSEAL_INVALID_ARGUMENT;
    return abi::guarded([&] { return message->message->rekey(key->engine, *key->key); });
}

void warpseal_inner_message_destroy(warpseal_inner_message* message) { delete message; }

warpseal_status warpseal_inner_message_begin(warpseal_inner_message* message, const void* iv,
                                             size_t iv_bytes) {
    return message == nullptr ? WARPSEAL_INVALID_ARGUMENT
                              : message->message->begin(abi::span(iv, iv_bytes));
}

warpseal_status warpseal_inner_message_aad(warpseal_inner_message* message, const void* aad,
                                           size_t bytes) {
    return message == nullptr ? WARPSEAL_INVALID_ARGUMENT
                              : message->message->aad(abi::span(aad, bytes));
}

warpseal_status warpseal_inner_message_update(warpseal_inner_message* message, const void* in,
                                              void* out, size_t bytes) {
    if (message == nullptr) return WARPSEAL_INVALID_ARGUMENT;
    return abi::guarded([&] {
        return message->message->update(static_cast<const uint8_t*>(in), static_cast<uint8_t*>(out),
                                        bytes);
    });
}

size_t warpseal_inner_message_shallow_bytes(const warpseal_inner_message* message) {
    return message == nullptr ? 0 : message->message->shallow_bytes();
}

warpseal_inner_loop warpseal_inner_message_loop(warpseal_inner_message* message) {
    if (message == nullptr) return {};
    const auto loop = message->message->loop();
    return loop.run == nullptr ? warpseal_inner_loop{}
                               : warpseal_inner_loop{loop.run, loop.state, loop.feedback,
                                                     message->message->shallow_bytes()};
}

warpseal_status warpseal_inner_message_tag(warpseal_inner_message* message, void* tag,
                                           size_t tag_bytes) {
    return message == nullptr ? WARPSEAL_INVALID_ARGUMENT
                              : message->message->tag(static_cast<uint8_t*>(tag), tag_bytes);
}

warpseal_status warpseal_inner_message_verify(warpseal_inner_message* message, const void* tag,
                                              size_t tag_bytes) {
    return message == nullptr
               ? WARPSEAL_INVALID_ARGUMENT
               : message->message->verify(static_cast<const uint8_t*>(tag), tag_bytes);
}

void warpseal_inner_message_position(const warpseal_inner_message* message, void* iv,
                                     uint32_t* used) {
    if (message == nullptr || iv == nullptr || used == nullptr) return;
    message->message->position(static_cast<uint8_t*>(iv), used);
}

}  // extern "C"
