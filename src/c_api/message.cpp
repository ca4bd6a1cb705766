// One message without a tag in host memory: plain modes, padding, XTS.
#include "c_api/handles.h"

namespace warpseal::c_api {
namespace {

warpseal_status plain(const warpseal_key* key, warpseal_mode mode, Direction direction,
                      const void* iv, size_t iv_bytes, const void* in, void* out, size_t bytes) {
    const warpseal_status status = check_key_and_mode(key, mode);
    if (status != WARPSEAL_OK) return status;
    return guarded([&, mode] {
        return key->engine.message(*key->key, mode, direction, span(iv, iv_bytes),
                                   static_cast<const uint8_t*>(in), static_cast<uint8_t*>(out),
                                   bytes);
    });
}

warpseal_status padded(const warpseal_key* key, Direction direction, const void* iv,
                       size_t iv_bytes, const void* in, size_t bytes, void* out,
                       size_t out_capacity, size_t* out_bytes) {
    if (out_bytes == nullptr) return refuse("out_bytes is null");
    *out_bytes = 0;
    if (key == nullptr) return refuse("key is null");
    return guarded([&] {
        return key->engine.padded(*key->key, direction, span(iv, iv_bytes),
                                  static_cast<const uint8_t*>(in), bytes,
                                  static_cast<uint8_t*>(out), out_capacity, out_bytes);
    });
}

warpseal_status xts(const warpseal_key* key, Direction direction, const void* first_unit,
                    uint64_t data_unit_bytes, const void* in, void* out, size_t bytes) {
    if (key == nullptr) return refuse("key is null");
    if (first_unit == nullptr) return refuse("first_unit is null");
    return guarded([&] {
        return key->engine.xts(*key->key, direction, units(first_unit, data_unit_bytes),
                               static_cast<const uint8_t*>(in), static_cast<uint8_t*>(out), bytes);
    });
}

}  // namespace
}  // namespace warpseal::c_api

using namespace warpseal;

extern "C" {

warpseal_status warpseal_encrypt(const warpseal_key* key, warpseal_mode mode, const void* iv,
                                 size_t iv_bytes, const void* in, void* out, size_t bytes) {
    return c_api::plain(key, mode, Direction::encrypt, iv, iv_bytes, in, out, bytes);
}

warpseal_status warpseal_decrypt(const warpseal_key* key, warpseal_mode mode, const void* iv,
                                 size_t iv_bytes, const void* in, void* out, size_t bytes) {
    return c_api::plain(key, mode, Direction::decrypt, iv, iv_bytes, in, out, bytes);
}

warpseal_status warpseal_encrypt_padded(const warpseal_key* key, const void* iv, size_t iv_bytes,
                                        const void* in, size_t bytes, void* out,
                                        size_t out_capacity, size_t* out_bytes) {
    return c_api::padded(key, Direction::encrypt, iv, iv_bytes, in, bytes, out, out_capacity,
                         out_bytes);
}

warpseal_status warpseal_decrypt_padded(const warpseal_key* key, const void* iv, size_t iv_bytes,
                                        const void* in, size_t bytes, void* out,
                                        size_t out_capacity, size_t* out_bytes) {
    return c_api::padded(key, Direction::decrypt, iv, iv_bytes, in, bytes, out, out_capacity,
                         out_bytes);
}

warpseal_status warpseal_xts_encrypt(const warpseal_key* key, const void* first_unit,
                                     uint64_t data_unit_bytes, const void* in, void* out,
                                     size_t bytes) {
    return c_api::xts(key, Direction::encrypt, first_unit, data_unit_bytes, in, out, bytes);
}

warpseal_status warpseal_xts_decrypt(const warpseal_key* key, const void* first_unit,
                                     uint64_t data_unit_bytes, const void* in, void* out,
                                     size_t bytes) {
    return c_api::xts(key, Direction::decrypt, first_unit, data_unit_bytes, in, out, bytes);
}

}  // extern "C"
