// Library calls of the measurements, one for each mode and memory kind.
#include "bench/bulk/reference_output.h"

namespace warpseal::bench {

warpseal_status bench_call_one(const BenchCase& what, const warpseal_key* key, const uint8_t* iv,
                               const uint8_t* in, uint8_t* out, size_t bytes, uint8_t* tag) {
    const size_t iv_bytes = bench_iv_bytes(what), tag_bytes = what.tag_bytes();
    if (what.mac() && what.encrypt) return warpseal_mac(key, what.mode, in, bytes, tag, tag_bytes);
    if (what.mac()) return warpseal_mac_verify(key, what.mode, in, bytes, tag, tag_bytes);
    if (what.aead() && what.encrypt)
        return warpseal_seal_unsafe_iv(key, what.mode, iv, iv_bytes, nullptr, 0, in, out, bytes,
                                       tag, tag_bytes);
    if (what.aead())
        return warpseal_open(key, what.mode, iv, iv_bytes, nullptr, 0, in, out, bytes, tag,
                             tag_bytes);
    if (what.mode == WARPSEAL_XTS)
        return (what.encrypt ? warpseal_xts_encrypt : warpseal_xts_decrypt)(
            key, iv, what.unit_bytes, in, out, bytes);
    return (what.encrypt ? warpseal_encrypt : warpseal_decrypt)(key, what.mode, iv, iv_bytes, in,
                                                                out, bytes);
}

warpseal_status bench_call_device(const BenchCase& what, const warpseal_key* key, const uint8_t* iv,
                                  const uint8_t* in, uint8_t* out, size_t bytes, void* stream) {
    if (what.mode == WARPSEAL_XTS)
        return (what.encrypt ? warpseal_xts_encrypt_device : warpseal_xts_decrypt_device)(
            key, iv, what.unit_bytes, in, out, bytes, stream);
    return (what.encrypt ? warpseal_encrypt_device : warpseal_decrypt_device)(
        key, what.mode, iv, bench_iv_bytes(what), in, out, bytes, stream);
}

warpseal_batch bench_batch(const BenchCase& what, const BatchMemory& memory, uint64_t bytes,
                           uint64_t message_bytes) {
    warpseal_batch batch{};
    batch.struct_bytes = sizeof batch;
    batch.iv_bytes = static_cast<uint32_t>(bench_iv_bytes(what));
    batch.tag_bytes = static_cast<uint32_t>(what.tag_bytes());
    batch.message_count = (bytes + message_bytes - 1) / message_bytes;
    batch.message_bytes = message_bytes;
    batch.keys = memory.keys;
    batch.ivs = batch.iv_bytes ? memory.ivs : nullptr;
    batch.iv_stride = batch.iv_bytes;
    batch.in = memory.in;
    batch.in_stride = message_bytes;
    batch.out = what.mac() ? nullptr : memory.out;
    batch.out_stride = what.mac() ? 0 : message_bytes;
    batch.tags = what.tagged() ? memory.tags : nullptr;
    batch.tag_stride = what.tagged() ? bench_tag_stride : 0;
    batch.statuses = memory.statuses;
    return batch;
}

warpseal_status bench_call_batch(const BenchCase& what, const warpseal_key* key,
                                 const warpseal_batch& batch) {
    if (what.mac())
        return (what.encrypt ? warpseal_mac_batch : warpseal_mac_verify_batch)(key, what.mode,
                                                                               &batch);
    if (what.aead())
        return (what.encrypt ? warpseal_seal_batch_unsafe_iv : warpseal_open_batch)(key, what.mode,
                                                                                    &batch);
    return (what.encrypt ? warpseal_encrypt_batch : warpseal_decrypt_batch)(key, what.mode, &batch);
}

warpseal_status bench_call_batch_device(const BenchCase& what, const warpseal_key* key,
                                        const warpseal_batch& batch, void* stream) {
    if (what.mac())
        return (what.encrypt ? warpseal_mac_batch_device : warpseal_mac_verify_batch_device)(
            key, what.mode, &batch, stream);
    if (what.aead())
        return (what.encrypt ? warpseal_seal_batch_device_unsafe_iv : warpseal_open_batch_device)(
            key, what.mode, &batch, stream);
    return (what.encrypt ? warpseal_encrypt_batch_device : warpseal_decrypt_batch_device)(
        key, what.mode, &batch, stream);
}

}  // namespace warpseal::bench
