// One message with a tag in host memory, under the policy of the public calls: GCM tags of 12 to 16
// bytes, and random IVs up to the standard's limit.
#include "c_api/drawn_ivs.h"
#include "c_api/handles.h"
#include "c_api/internal.h"
#include "container/random.h"

using namespace warpseal;

extern "C" {

warpseal_status warpseal_internal_seal(const warpseal_key* key, warpseal_mode mode, const void* iv,
                                       size_t iv_bytes, const void* aad, size_t aad_bytes,
                                       const void* in, void* out, size_t bytes, void* tag,
                                       size_t tag_bytes) {
    const warpseal_status status = c_api::check_key_and_mode(key, mode);
    if (status != WARPSEAL_OK) return status;
    return c_api::guarded([&, mode] {
        return key->engine.seal(*key->key, mode, c_api::span(iv, iv_bytes),
                                c_api::span(aad, aad_bytes), static_cast<const uint8_t*>(in),
                                static_cast<uint8_t*>(out), bytes, static_cast<uint8_t*>(tag),
                                tag_bytes);
    });
}

warpseal_status warpseal_internal_open(const warpseal_key* key, warpseal_mode mode, const void* iv,
                                       size_t iv_bytes, const void* aad, size_t aad_bytes,
                                       const void* in, void* out, size_t bytes, const void* tag,
                                       size_t tag_bytes) {
    const warpseal_status status = c_api::check_key_and_mode(key, mode);
    if (status != WARPSEAL_OK) return status;
    return c_api::guarded([&, mode] {
        return key->engine.open(*key->key, mode, c_api::span(iv, iv_bytes),
                                c_api::span(aad, aad_bytes), static_cast<const uint8_t*>(in),
                                static_cast<uint8_t*>(out), bytes, static_cast<const uint8_t*>(tag),
                                tag_bytes);
    });
}

warpseal_status warpseal_seal(const warpseal_key* key, warpseal_mode mode, void* iv,
                              const void* aad, size_t aad_bytes, const void* in, void* out,
                              size_t bytes, void* tag, size_t tag_bytes) {
    if (key == nullptr) return refuse("key is null");
    if (iv == nullptr) return refuse("iv is null");
    if (!c_api::count_drawn_ivs(*key, 1)) return c_api::refuse_drawn_ivs();
    if (!container::random_bytes(iv, c_api::drawn_iv_bytes))
        return c_api::ended(WARPSEAL_NO_RANDOM);
    const warpseal_status status = warpseal_seal_unsafe_iv(
        key, mode, iv, c_api::drawn_iv_bytes, aad, aad_bytes, in, out, bytes, tag, tag_bytes);
    if (status != WARPSEAL_OK) warpseal_wipe(iv, c_api::drawn_iv_bytes);
    return status;
}

warpseal_status warpseal_seal_unsafe_iv(const warpseal_key* key, warpseal_mode mode, const void* iv,
                                        size_t iv_bytes, const void* aad, size_t aad_bytes,
                                        const void* in, void* out, size_t bytes, void* tag,
                                        size_t tag_bytes) {
    const warpseal_status status = c_api::check_tag_policy(mode, tag_bytes);
    if (status != WARPSEAL_OK) return status;
    return warpseal_internal_seal(key, mode, iv, iv_bytes, aad, aad_bytes, in, out, bytes, tag,
                                  tag_bytes);
}

warpseal_status warpseal_open(const warpseal_key* key, warpseal_mode mode, const void* iv,
                              size_t iv_bytes, const void* aad, size_t aad_bytes, const void* in,
                              void* out, size_t bytes, const void* tag, size_t tag_bytes) {
    const warpseal_status status = c_api::check_tag_policy(mode, tag_bytes);
    if (status != WARPSEAL_OK) return status;
    return warpseal_internal_open(key, mode, iv, iv_bytes, aad, aad_bytes, in, out, bytes, tag,
                                  tag_bytes);
}

warpseal_status warpseal_mac(const warpseal_key* key, warpseal_mode mode, const void* in,
                             size_t bytes, void* tag, size_t tag_bytes) {
    const warpseal_status status = c_api::check_key_and_mode(key, mode);
    if (status != WARPSEAL_OK) return status;
    return c_api::guarded([&, mode] {
        return key->engine.mac(*key->key, mode, Direction::encrypt, c_api::span(in, bytes),
                               static_cast<uint8_t*>(tag), tag_bytes);
    });
}

warpseal_status warpseal_mac_verify(const warpseal_key* key, warpseal_mode mode, const void* in,
                                    size_t bytes, const void* tag, size_t tag_bytes) {
    const warpseal_status status = c_api::check_key_and_mode(key, mode);
    if (status != WARPSEAL_OK) return status;
    return c_api::guarded([&, mode] {  // a tag to verify is only read
        return key->engine.mac(*key->key, mode, Direction::decrypt, c_api::span(in, bytes),
                               const_cast<uint8_t*>(static_cast<const uint8_t*>(tag)), tag_bytes);
    });
}

}  // extern "C"
