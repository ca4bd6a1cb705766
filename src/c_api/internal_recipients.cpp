// Text and wrapped file keys of recipients, for files of age.
#include "c_api/internal.h"

#include <cstring>

#include "c_api/handles.h"
#include "container/recipients/bech32.h"
#include "container/recipients/stanza.h"

using namespace warpseal;

namespace {

constexpr auto hybrid = container::RecipientType::mlkem768_x25519;

const uint8_t* in(const void* bytes) { return static_cast<const uint8_t*>(bytes); }
uint8_t* out(void* bytes) { return static_cast<uint8_t*>(bytes); }

}  // namespace

extern "C" {

int32_t warpseal_internal_bech32_decode(const char* text, size_t characters,
                                        size_t* prefix_characters, int32_t* upper_case, void* data,
                                        size_t* bytes) {
    container::Bech32 found;
    if (!container::decode_bech32({text, characters}, found, out(data))) return 0;
    *prefix_characters = found.prefix_characters;
    *upper_case = found.upper_case ? 1 : 0;
    *bytes = found.bytes;
    return 1;
}

size_t warpseal_internal_bech32_encode(const char* prefix, const void* data, size_t bytes,
                                       char* text) {
    if (text != nullptr) container::encode_bech32(prefix, in(data), bytes, text);
    return container::bech32_characters(strlen(prefix), bytes);
}

warpseal_status warpseal_internal_hybrid_public_key(warpseal_engine* engine, const void* secret_key,
                                                    void* public_key) {
    return c_api::guarded_waiting([&] {
        return container::recipient_public_key(*engine->engine, hybrid, in(secret_key),
                                               out(public_key));
    });
}

warpseal_status warpseal_internal_hybrid_wrap(warpseal_engine* engine, const void* public_key,
                                              const void* file_key, void* share, void* wrapped) {
    return c_api::guarded_waiting([&] {
        Secret<container::file_key_bytes> key;
        memcpy(key.data(), file_key, key.size());
        return container::wrap_file_key(*engine->engine, hybrid, in(public_key), key, out(share),
                                        out(wrapped));
    });
}

warpseal_status warpseal_internal_hybrid_unwrap(warpseal_engine* engine, const void* secret_key,
                                                const void* share, const void* wrapped,
                                                void* file_key) {
    return c_api::guarded_waiting([&] {
        Secret<container::file_key_bytes> key;
        const warpseal_status status = container::unwrap_file_key(
            *engine->engine, hybrid, in(secret_key), in(share), in(wrapped), key);
        if (status == WARPSEAL_OK) memcpy(file_key, key.data(), key.size());
        return status;
    });
}

}  // extern "C"
