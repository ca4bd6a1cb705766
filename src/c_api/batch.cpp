// Batches in host and in device memory, and single messages in device memory.
#include "warpseal/batch.h"

#include "backends/batch_message.h"
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

// Sets `whole` to the struct that the batch is part of, or to one that adds nothing to it.
warpseal_status read_struct(const warpseal_batch* batch, warpseal_scattered_batch& whole) {
    static_assert(offsetof(warpseal_scattered_batch, batch) == 0);
    if (batch->struct_bytes >= sizeof whole) {
        whole = *reinterpret_cast<const warpseal_scattered_batch*>(batch);
        return WARPSEAL_OK;
    }
    // Between the two sizes, fields would be ignored that the caller may have set.
    if (batch->struct_bytes != sizeof *batch)
        return refuse("the struct_bytes of batch is %u: set it to sizeof, %zu or %zu",
                      static_cast<unsigned>(batch->struct_bytes), sizeof *batch, sizeof whole);
    whole = as_scattered(*batch);
    return WARPSEAL_OK;
}

warpseal_status on_host(const warpseal_key* key, warpseal_mode mode, Direction direction,
                        const warpseal_batch* batch, Call call) {
    warpseal_scattered_batch whole = {};
    warpseal_status status = check(key, mode, batch, call);
    if (status == WARPSEAL_OK) status = read_struct(batch, whole);
    if (status != WARPSEAL_OK) return status;
    const bool scattered = batch->struct_bytes >= sizeof whole;
    return guarded([&, mode] {
        return scattered ? key->engine.scattered_batch(*key->key, mode, direction, whole)
                         : key->engine.batch(*key->key, mode, direction, *batch);
    });
}

// Checks a call that draws its IVs and writes them to `ivs`.
warpseal_status check_drawing(const warpseal_key* key, warpseal_mode mode,
                              const warpseal_batch* batch, void* ivs,
                              warpseal_scattered_batch& whole) {
    warpseal_status status = check(key, mode, batch, Call::seal);
    if (status == WARPSEAL_OK) status = read_struct(batch, whole);
    if (status != WARPSEAL_OK) return status;
    if (batch->ivs != nullptr) return refuse("batch.ivs is not null: the call takes ivs");
    if (batch->iv_bytes != drawn_iv_bytes)
        return refuse("batch.iv_bytes is %u: drawn IVs have 12 bytes",
                      static_cast<unsigned>(batch->iv_bytes));
    if (ivs != nullptr && whole.iv_pointers != nullptr)
        return refuse("ivs is not null: iv_pointers takes its place");
    if (ivs == nullptr && whole.iv_pointers == nullptr && batch->message_count != 0)
        return refuse("ivs is null: give memory for the IVs that are drawn");
    whole.batch.ivs = static_cast<const uint8_t*>(ivs);
    return WARPSEAL_OK;
}

// Counts the IVs of a batch under its key.
warpseal_status count_ivs(const warpseal_key& key, const warpseal_batch& batch) {
    const uint64_t counted = batch.keys == nullptr ? batch.message_count : 0;
    return count_drawn_ivs(key, counted) ? WARPSEAL_OK : refuse_drawn_ivs();
}

warpseal_status seal_drawn(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch,
                           void* ivs) {
    warpseal_scattered_batch whole = {};
    const warpseal_status status = check_drawing(key, mode, batch, ivs, whole);
    if (status != WARPSEAL_OK) return status;
    const auto draw = [key, batch](void* out, size_t bytes) {
        const warpseal_status counted = count_ivs(*key, *batch);
        if (counted != WARPSEAL_OK) return counted;
        return container::random_bytes(out, bytes) ? WARPSEAL_OK : WARPSEAL_NO_RANDOM;
    };
    return guarded([&, mode] {
        return key->engine.scattered_batch(*key->key, mode, Direction::encrypt, whole, draw);
    });
}

warpseal_status seal_drawn_device(const warpseal_key* key, warpseal_mode mode,
                                  const warpseal_batch* batch, void* ivs, void* stream) {
    warpseal_scattered_batch whole = {};
    const warpseal_status status = check_drawing(key, mode, batch, ivs, whole);
    if (status != WARPSEAL_OK) return status;
    return guarded_waiting([&, mode] {
        return key->engine.seal_batch_device(
            *key->key, mode, whole, container::random_bytes,
            [&] { return count_ivs(*key, *batch); }, stream);
    });
}

warpseal_status on_device(const warpseal_key* key, warpseal_mode mode, Direction direction,
                          const warpseal_batch* batch, Call call, void* stream) {
    warpseal_scattered_batch whole = {};
    warpseal_status status = check(key, mode, batch, call);
    if (status == WARPSEAL_OK) status = read_struct(batch, whole);
    if (status != WARPSEAL_OK) return status;
    return guarded_waiting(
        [&, mode] { return key->engine.batch_device(*key->key, mode, direction, whole, stream); });
}

warpseal_status workspace(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch,
                          uint64_t* bytes) {
    warpseal_scattered_batch whole = {};
    warpseal_status status = check_pointer(bytes, "bytes");
    if (status == WARPSEAL_OK) status = check_key_and_mode(key, mode);
    if (status == WARPSEAL_OK) status = check_struct(batch, "batch");
    if (status == WARPSEAL_OK) status = read_struct(batch, whole);
    if (status != WARPSEAL_OK) return status;
    return guarded_waiting(
        [&, mode] { return key->engine.batch_device_workspace(*key->key, mode, whole, bytes); });
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

warpseal_status warpseal_seal_batch_device(const warpseal_key* key, warpseal_mode mode,
                                           const warpseal_batch* batch, void* ivs, void* stream) {
    return c_api::seal_drawn_device(key, mode, batch, ivs, stream);
}

warpseal_status warpseal_batch_device_workspace(const warpseal_key* key, warpseal_mode mode,
                                                const warpseal_batch* batch, uint64_t* bytes) {
    return c_api::workspace(key, mode, batch, bytes);
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
