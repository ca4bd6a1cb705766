// Many messages, in host and in device memory, and sweeps of device memory.
#include "abi/handles.h"

namespace warpseal::abi {
namespace {

constexpr uint32_t least_tag_bytes = 12;  // as for one message

// Sealing and opening are for modes with a tag, encryption and decryption for the others.
bool fits(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch, bool tagged) {
    if (key == nullptr || !sized(batch) || (mode == WARPSEAL_GCM) != tagged) return false;
    return !tagged || batch->tag_bytes >= least_tag_bytes;
}

warpseal_status on_host(const warpseal_key* key, warpseal_mode mode, Direction direction, const warpseal_batch* batch, bool tagged) {
    if (!fits(key, mode, batch, tagged)) return WARPSEAL_INVALID_ARGUMENT;
    return guarded([&] { return key->engine.batch(*key->key, mode, direction, *batch); });
}

warpseal_status on_device(const warpseal_key* key, warpseal_mode mode, Direction direction, const warpseal_batch* batch, bool tagged,
                          void* stream) {
    if (!fits(key, mode, batch, tagged)) return WARPSEAL_INVALID_ARGUMENT;
    return guarded([&] { return key->engine.batch_device(*key->key, mode, direction, *batch, stream); });
}

warpseal_status sweep_device(const warpseal_key* key, warpseal_mode mode, Direction direction, const void* iv, size_t iv_bytes,
                             const void* in, void* out, size_t bytes, void* stream) {
    if (key == nullptr) return WARPSEAL_INVALID_ARGUMENT;
    return guarded([&] {
        return key->engine.sweep_device(*key->key, mode, direction, span(iv, iv_bytes), static_cast<const uint8_t*>(in),
                                        static_cast<uint8_t*>(out), bytes, stream);
    });
}

}  // namespace
}  // namespace warpseal::abi

using namespace warpseal;

extern "C" {

warpseal_status warpseal_encrypt_batch(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch) {
    return abi::on_host(key, mode, Direction::encrypt, batch, false);
}

warpseal_status warpseal_decrypt_batch(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch) {
    return abi::on_host(key, mode, Direction::decrypt, batch, false);
}

warpseal_status warpseal_seal_batch_unsafe_iv(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch) {
    return abi::on_host(key, mode, Direction::encrypt, batch, true);
}

warpseal_status warpseal_open_batch(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch) {
    return abi::on_host(key, mode, Direction::decrypt, batch, true);
}

warpseal_status warpseal_encrypt_device(const warpseal_key* key, warpseal_mode mode, const void* iv, size_t iv_bytes, const void* in,
                                        void* out, size_t bytes, void* stream) {
    return abi::sweep_device(key, mode, Direction::encrypt, iv, iv_bytes, in, out, bytes, stream);
}

warpseal_status warpseal_decrypt_device(const warpseal_key* key, warpseal_mode mode, const void* iv, size_t iv_bytes, const void* in,
                                        void* out, size_t bytes, void* stream) {
    return abi::sweep_device(key, mode, Direction::decrypt, iv, iv_bytes, in, out, bytes, stream);
}

warpseal_status warpseal_encrypt_batch_device(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch, void* stream) {
    return abi::on_device(key, mode, Direction::encrypt, batch, false, stream);
}

warpseal_status warpseal_decrypt_batch_device(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch, void* stream) {
    return abi::on_device(key, mode, Direction::decrypt, batch, false, stream);
}

warpseal_status warpseal_seal_batch_device_unsafe_iv(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch,
                                                     void* stream) {
    return abi::on_device(key, mode, Direction::encrypt, batch, true, stream);
}

warpseal_status warpseal_open_batch_device(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch, void* stream) {
    return abi::on_device(key, mode, Direction::decrypt, batch, true, stream);
}

}  // extern "C"
