// Batches in host and in device memory, and single messages in device memory.
#include "warpseal/batch.h"

#include "c_api/drawn_ivs.h"
#include "c_api/handles.h"
#include "container/random.h"

namespace warpseal::c_api {
namespace {

// Kind of call that a mode belongs to.
enum class Call : uint8_t { crypt, seal, mac };

warpseal_status check(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch,
                      Call call) {
    warpseal_status status = check_key_and_mode(key, mode);
    if (status == WARPSEAL_OK) status = check_struct(batch, "batch");
    if (status != WARPSEAL_OK) return status;
    const Call due = mode == WARPSEAL_CMAC                          ? Call::mac
                     : mode == WARPSEAL_GCM || mode == WARPSEAL_CCM ? Call::seal
                                                                    : Call::crypt;
    if (call != due)
        return refuse("mode is %s: that mode has calls of its own, for %s",
                      warpseal_mode_name(mode),
                      due == Call::mac    ? "a MAC"
                      : due == Call::seal ? "texts with tags"
                                          : "texts without tags");
    return check_tag_policy(mode, batch->tag_bytes);
}

// Returns the whole struct if the batch is part of one, else null.
const warpseal_scattered_batch* scattered_of(const warpseal_batch* batch) {
    static_assert(offsetof(warpseal_scattered_batch, batch) == 0);
    if (batch->struct_bytes < sizeof(warpseal_scattered_batch)) return nullptr;
    return reinterpret_cast<const warpseal_scattered_batch*>(batch);
}

warpseal_status on_host(const warpseal_key* key, warpseal_mode mode, Direction direction,
                        const warpseal_batch* batch, Call call) {
    const warpseal_status status = check(key, mode, batch, call);
    if (status != WARPSEAL_OK) return status;
    return guarded([&, mode] {
        if (const warpseal_scattered_batch* const scattered = scattered_of(batch))
            return key->engine.scattered_batch(*key->key, mode, direction, *scattered);
        return key->engine.batch(*key->key, mode, direction, *batch);
    });
}

// Seals under IVs that the call draws and writes to `ivs`.
warpseal_status seal_drawn(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch,
                           void* ivs) {
    const warpseal_status status = check(key, mode, batch, Call::seal);
    if (status != WARPSEAL_OK) return status;
    if (batch->ivs != nullptr) return refuse("batch.ivs is not null: the call takes ivs");
    if (batch->iv_bytes != drawn_iv_bytes)
        return refuse("batch.iv_bytes is %u: drawn IVs have 12 bytes",
                      static_cast<unsigned>(batch->iv_bytes));
    const auto draw = [key, batch](void* out, size_t bytes) {
        const uint64_t counted = batch->keys == nullptr ? batch->message_count : 0;
        if (!count_drawn_ivs(*key, counted)) return refuse_drawn_ivs();
        return container::random_bytes(out, bytes) ? WARPSEAL_OK : WARPSEAL_NO_RANDOM;
    };
    warpseal_scattered_batch drawn = {};
    if (const warpseal_scattered_batch* const scattered = scattered_of(batch))
        drawn = *scattered;
    else
        drawn.batch = *batch;
    if (ivs != nullptr && drawn.iv_pointers != nullptr)
        return refuse("ivs is not null: iv_pointers takes its place");
    if (ivs == nullptr && drawn.iv_pointers == nullptr && batch->message_count != 0)
        return refuse("ivs is null: give memory for the IVs that are drawn");
    return guarded([&, mode] {
        drawn.batch.ivs = static_cast<const uint8_t*>(ivs);
        return key->engine.scattered_batch(*key->key, mode, Direction::encrypt, drawn, draw);
    });
}

warpseal_status on_device(const warpseal_key* key, warpseal_mode mode, Direction direction,
                          const warpseal_batch* batch, Call call, void* stream) {
    const warpseal_status status = check(key, mode, batch, call);
    if (status != WARPSEAL_OK) return status;
    if (scattered_of(batch) != nullptr)
        return refuse_as(WARPSEAL_UNSUPPORTED,
                         "batch is a warpseal_scattered_batch: calls for device memory take a "
                         "warpseal_batch alone");
    return guarded_waiting(
        [&, mode] { return key->engine.batch_device(*key->key, mode, direction, *batch, stream); });
}

warpseal_status sweep_device(const warpseal_key* key, warpseal_mode mode, Direction direction,
                             const void* iv, size_t iv_bytes, const void* in, void* out,
                             size_t bytes, void* stream) {
    const warpseal_status status = check_key_and_mode(key, mode);
    if (status != WARPSEAL_OK) return status;
    return guarded_waiting([&, mode] {
        return key->engine.sweep_device(*key->key, mode, direction, span(iv, iv_bytes),
                                        static_cast<const uint8_t*>(in), static_cast<uint8_t*>(out),
                                        bytes, stream);
    });
}

warpseal_status xts_device(const warpseal_key* key, Direction direction, const void* first_unit,
                           uint64_t data_unit_bytes, const void* in, void* out, size_t bytes,
                           void* stream) {
    if (key == nullptr) return refuse("key is null");
    if (first_unit == nullptr) return refuse("first_unit is null");
    return guarded_waiting([&] {
        return key->engine.xts_device(*key->key, direction, units(first_unit, data_unit_bytes),
                                      static_cast<const uint8_t*>(in), static_cast<uint8_t*>(out),
                                      bytes, stream);
    });
}

}  // namespace
}  // namespace warpseal::c_api

using namespace warpseal;

extern "C" {

warpseal_status warpseal_encrypt_batch(const warpseal_key* key, warpseal_mode mode,
                                       const warpseal_batch* batch) {
    return c_api::on_host(key, mode, Direction::encrypt, batch, c_api::Call::crypt);
}

warpseal_status warpseal_decrypt_batch(const warpseal_key* key, warpseal_mode mode,
                                       const warpseal_batch* batch) {
    return c_api::on_host(key, mode, Direction::decrypt, batch, c_api::Call::crypt);
}

warpseal_status warpseal_seal_batch_unsafe_iv(const warpseal_key* key, warpseal_mode mode,
                                              const warpseal_batch* batch) {
    return c_api::on_host(key, mode, Direction::encrypt, batch, c_api::Call::seal);
}

warpseal_status warpseal_seal_batch(const warpseal_key* key, warpseal_mode mode,
                                    const warpseal_batch* batch, void* ivs) {
    return c_api::seal_drawn(key, mode, batch, ivs);
}

warpseal_status warpseal_open_batch(const warpseal_key* key, warpseal_mode mode,
                                    const warpseal_batch* batch) {
    return c_api::on_host(key, mode, Direction::decrypt, batch, c_api::Call::seal);
}

warpseal_status warpseal_mac_batch(const warpseal_key* key, warpseal_mode mode,
                                   const warpseal_batch* batch) {
    return c_api::on_host(key, mode, Direction::encrypt, batch, c_api::Call::mac);
}

warpseal_status warpseal_mac_verify_batch(const warpseal_key* key, warpseal_mode mode,
                                          const warpseal_batch* batch) {
    return c_api::on_host(key, mode, Direction::decrypt, batch, c_api::Call::mac);
}

warpseal_status warpseal_encrypt_device(const warpseal_key* key, warpseal_mode mode, const void* iv,
                                        size_t iv_bytes, const void* in, void* out, size_t bytes,
                                        void* stream) {
    return c_api::sweep_device(key, mode, Direction::encrypt, iv, iv_bytes, in, out, bytes, stream);
}

warpseal_status warpseal_decrypt_device(const warpseal_key* key, warpseal_mode mode, const void* iv,
                                        size_t iv_bytes, const void* in, void* out, size_t bytes,
                                        void* stream) {
    return c_api::sweep_device(key, mode, Direction::decrypt, iv, iv_bytes, in, out, bytes, stream);
}

warpseal_status warpseal_xts_encrypt_device(const warpseal_key* key, const void* first_unit,
                                            uint64_t data_unit_bytes, const void* in, void* out,
                                            size_t bytes, void* stream) {
    return c_api::xts_device(key, Direction::encrypt, first_unit, data_unit_bytes, in, out, bytes,
                             stream);
}

warpseal_status warpseal_xts_decrypt_device(const warpseal_key* key, const void* first_unit,
                                            uint64_t data_unit_bytes, const void* in, void* out,
                                            size_t bytes, void* stream) {
    return c_api::xts_device(key, Direction::decrypt, first_unit, data_unit_bytes, in, out, bytes,
                             stream);
}

warpseal_status warpseal_encrypt_batch_device(const warpseal_key* key, warpseal_mode mode,
                                              const warpseal_batch* batch, void* stream) {
    return c_api::on_device(key, mode, Direction::encrypt, batch, c_api::Call::crypt, stream);
}

warpseal_status warpseal_decrypt_batch_device(const warpseal_key* key, warpseal_mode mode,
                                              const warpseal_batch* batch, void* stream) {
    return c_api::on_device(key, mode, Direction::decrypt, batch, c_api::Call::crypt, stream);
}

warpseal_status warpseal_seal_batch_device_unsafe_iv(const warpseal_key* key, warpseal_mode mode,
                                                     const warpseal_batch* batch, void* stream) {
    return c_api::on_device(key, mode, Direction::encrypt, batch, c_api::Call::seal, stream);
}

warpseal_status warpseal_open_batch_device(const warpseal_key* key, warpseal_mode mode,
                                           const warpseal_batch* batch, void* stream) {
    return c_api::on_device(key, mode, Direction::decrypt, batch, c_api::Call::seal, stream);
}

warpseal_status warpseal_mac_batch_device(const warpseal_key* key, warpseal_mode mode,
                                          const warpseal_batch* batch, void* stream) {
    return c_api::on_device(key, mode, Direction::encrypt, batch, c_api::Call::mac, stream);
}

warpseal_status warpseal_mac_verify_batch_device(const warpseal_key* key, warpseal_mode mode,
                                                 const warpseal_batch* batch, void* stream) {
    return c_api::on_device(key, mode, Direction::decrypt, batch, c_api::Call::mac, stream);
}

}  // extern "C"
