// Text and wrapped file keys of recipients, for files of age.
#include "c_api/internal.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "c_api/handles.h"
#include "container/derive.h"
#include "container/recipients/bech32.h"
#include "container/recipients/stanza.h"

using namespace warpseal;

namespace {

constexpr auto hybrid = container::RecipientType::mlkem768_x25519;

const uint8_t* in(const void* bytes) { return static_cast<const uint8_t*>(bytes); }
uint8_t* out(void* bytes) { return static_cast<uint8_t*>(bytes); }

constexpr size_t age_chunk_bytes = 65536;

// Fails only when opening.
bool age_chunk(bool opening, const uint8_t* key, uint64_t number, bool last, const uint8_t* from,
               size_t bytes, uint8_t* to) {
    uint8_t nonce[container::chacha_nonce_bytes] = {};
    for (size_t i = 0; i < 8; ++i) nonce[10 - i] = static_cast<uint8_t>(number >> 8 * i);
    nonce[11] = last ? 1 : 0;
    if (opening) return container::chacha_open(key, nonce, from, bytes, to);
    container::chacha_seal(key, nonce, from, bytes, to);
    return true;
}

warpseal_status age_chunks(Engine& engine, bool opening, const uint8_t* key, uint64_t first,
                           bool ends, const uint8_t* from, size_t bytes, uint8_t* to) {
    const size_t sealed = age_chunk_bytes + container::chacha_tag_bytes;
    const size_t step = opening ? sealed : age_chunk_bytes;
    const size_t out_step = opening ? age_chunk_bytes : sealed;
    const size_t chunks = bytes / step + (bytes % step != 0 || bytes == 0 ? 1 : 0);
    if (opening && bytes - (chunks - 1) * step < container::chacha_tag_bytes)
        return WARPSEAL_TRUNCATED;
    std::atomic<bool> verified{true};
    engine.parallel(chunks, [&](size_t i) {
        if (!age_chunk(opening, key, first + i, ends && i + 1 == chunks, from + i * step,
                       std::min(step, bytes - i * step), to + i * out_step))
            verified = false;
    });
    if (verified) return WARPSEAL_OK;
    wipe(to, bytes - chunks * container::chacha_tag_bytes);
    return WARPSEAL_NOT_AUTHENTIC;
}

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

warpseal_status warpseal_internal_ntru_public_key(warpseal_engine* engine, const void* secret_key,
                                                  void* public_key) {
    return c_api::guarded_waiting([&] {
        return container::recipient_public_key(*engine->engine,
                                               container::RecipientType::ntru_x25519,
                                               in(secret_key), out(public_key));
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

warpseal_status warpseal_internal_chacha20_poly1305(int32_t opening, const void* key,
                                                    const void* nonce, const void* from,
                                                    size_t bytes, void* to) {
    return c_api::guarded([&] {
        if (!container::start_sodium()) return WARPSEAL_NO_RANDOM;
        if (opening == 0) {
            container::chacha_seal(in(key), in(nonce), in(from), bytes, out(to));
            return WARPSEAL_OK;
        }
        const bool opened = bytes >= container::chacha_tag_bytes &&
                            container::chacha_open(in(key), in(nonce), in(from), bytes, out(to));
        return opened ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC;
    });
}

warpseal_status warpseal_internal_age_chunks(warpseal_engine* engine, int32_t opening,
                                             const void* key, uint64_t first, int32_t ends,
                                             const void* from, size_t bytes, void* to) {
    return c_api::guarded_waiting([&] {
        if (!container::start_sodium()) return WARPSEAL_NO_RANDOM;
        return age_chunks(*engine->engine, opening != 0, in(key), first, ends != 0, in(from), bytes,
                          out(to));
    });
}

}  // extern "C"
