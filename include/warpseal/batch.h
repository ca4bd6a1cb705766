/* batch.h: batches whose messages lie anywhere, in host or device memory, and batches that draw
 * their IVs.
 *
 * The rules at the top of warpseal.h hold. */
#ifndef WARPSEAL_BATCH_H
#define WARPSEAL_BATCH_H

#include "warpseal/warpseal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A batch whose parts lie at offsets or pointers: for example records of length, nonce, ciphertext
 * and tag, one after the other, which open in place. The batch calls of warpseal.h take it as
 * `&scattered.batch`.
 *
 * batch.struct_bytes: sizeof(warpseal_scattered_batch). With sizeof(warpseal_batch) the fields
 * below are not read. Zeroed fields change nothing.
 *
 * A part is one of in, out, iv, aad and tag. Its bytes of message i are
 *  - at X_pointers[i], where X_pointers is not null. Then the part's base in `batch` is null, and
 *    so are its offsets. A pointer to 0 bytes may be null.
 *  - at base + X_offsets[i], where X_offsets is not null. The part's stride is not read.
 *  - at base + i * stride, as in every batch.
 * aad_lengths: the bytes of AAD of each message, in place of batch.aad_bytes.
 * X_extent: the bytes of memory at the part's base. A message that ends after them is refused.
 * 0: not checked. A MAC ignores out_extent.
 *
 * A memory range that the call writes must not overlap any other range that it reads or writes.
 * A message's `out` may equal its `in`. Messages encrypted under one key in CTR, OFB, GCM or CCM
 * have IVs that do not overlap. In host memory this is checked, with offsets too, and IVs, AAD and
 * tags to verify are read before anything is written. In device memory every array of the struct is
 * a device pointer. The call cannot read them, so the caller sees to these rules. Extents are
 * checked on the device: a message that breaks one is not processed and has the status
 * WARPSEAL_INVALID_ARGUMENT. Extents need `statuses` there; so do aad_lengths in GCM and CCM.
 *
 * workspace: scratch for calls on device memory, in the memory of the same GPU, 16-byte aligned,
 * of warpseal_batch_device_workspace bytes. Null: the call allocates its scratch in stream order.
 * Calls that may run at the same time need different ones. The calls zeroize what they used.
 * Calls on host memory ignore it.
 * WARPSEAL_INVALID_ARGUMENT: an argument breaks one of these rules. Nothing is written. */
typedef struct warpseal_scattered_batch {
    warpseal_batch batch;
    const uint64_t* iv_offsets;
    const uint64_t* aad_offsets;
    const uint64_t* tag_offsets;
    const uint64_t* aad_lengths;
    const uint8_t* const* in_pointers;
    uint8_t* const* out_pointers;
    uint8_t* const* iv_pointers; /* read; written by warpseal_seal_batch alone */
    const uint8_t* const* aad_pointers;
    uint8_t* const* tag_pointers; /* read to verify, else written */
    uint64_t in_extent;
    uint64_t out_extent;
    uint64_t iv_extent;
    uint64_t aad_extent;
    uint64_t tag_extent;
    void* workspace;
    uint64_t workspace_bytes;
} warpseal_scattered_batch;

/* Seals a batch in host memory in GCM or CCM under IVs that the call draws from the operating
 * system.
 * batch: batch->ivs is null and batch->iv_bytes is 12. It may be the `batch` of a
 * warpseal_scattered_batch; the rules of that struct hold in either case.
 * ivs: the base of the IVs, which are written there: by default that of message i at
 * ivs + i * iv_stride. Null with iv_pointers.
 * WARPSEAL_LIMIT_EXCEEDED: a message is too long, or 2^32 IVs were drawn with this key handle, as
 * for warpseal_seal. Batches with keys of their own do not count.
 * WARPSEAL_NO_RANDOM: the random source failed. After any failure nothing is written. */
WARPSEAL_API warpseal_status warpseal_seal_batch(const warpseal_key* key, warpseal_mode mode,
                                                 const warpseal_batch* batch, void* ivs);

/* Seals a batch in device memory in GCM or CCM under IVs that the GPU draws, asynchronously on
 * `stream`. They count up from a start that the operating system's random source draws once for
 * each process and GPU (SP 800-38D 8.2.2), so no two calls of a process share one. Copies of a
 * process, restored from one checkpoint, draw the same IVs.
 * batch, ivs: as for warpseal_seal_batch, with device pointers.
 * The call may be captured in a CUDA graph: each replay draws new IVs, also after key and engine
 * are destroyed. The first call on a GPU allocates memory and tests the generator; make one before
 * capturing. Replays are not counted: keep to 2^32 messages under a key.
 * WARPSEAL_LIMIT_EXCEEDED: 2^32 IVs were drawn with this key handle by calls.
 * WARPSEAL_NO_RANDOM: the random source failed. WARPSEAL_NO_DEVICE: the engine has no GPU. */
WARPSEAL_API warpseal_status warpseal_seal_batch_device(const warpseal_key* key, warpseal_mode mode,
                                                        const warpseal_batch* batch, void* ivs,
                                                        void* stream);

/* Computes the workspace that calls on device memory use for a batch, in both directions.
 * batch: with pointers, strides, lengths and message_bytes of the calls. Its workspace is not read.
 * bytes: receives the size; 0 if they use none. */
WARPSEAL_API warpseal_status warpseal_batch_device_workspace(const warpseal_key* key,
                                                             warpseal_mode mode,
                                                             const warpseal_batch* batch,
                                                             uint64_t* bytes);

#ifdef __cplusplus
}
#endif
#endif
