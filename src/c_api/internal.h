/* inner.h: the uninstalled inner door of the C interface, for our own program and tests: parameters
 * that the public calls refuse by policy, and device timing. Never exported from the shared
 * library. */
#ifndef WARPSEAL_INTERNAL_H
#define WARPSEAL_INTERNAL_H

#include "warpseal/warpseal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As warpseal_key_create and warpseal_key_create_xts, but encryption under a weak key goes through.
 */
warpseal_status warpseal_internal_key_create(warpseal_engine* engine, const char* cipher,
                                             const void* key, size_t key_bytes, warpseal_key** out);
warpseal_status warpseal_internal_key_create_xts(warpseal_engine* engine, const char* cipher,
                                                 const void* key, size_t key_bytes,
                                                 warpseal_key** out);

/* Another key of the same engine, cipher and kind, of as many bytes; refused as by
 * warpseal_key_create and warpseal_key_create_xts. What was chosen and proved for the first holds
 * for the other. */
warpseal_status warpseal_internal_key_create_like(const warpseal_key* like, const void* key,
                                                  warpseal_key** out);

/* 1 if the key was made of these bytes, as many as its cipher's keys have (XTS: both); compared in
 * constant time. */
int32_t warpseal_internal_key_made_of(const warpseal_key* key, const void* bytes);

/* Memory for secrets: zeroed, locked where the limit on locked memory allows, left out of core
 * dumps, wiped when it is destroyed. Null: there is no memory, or `bytes` is 0. */
typedef struct warpseal_internal_secret warpseal_internal_secret;
warpseal_internal_secret* warpseal_internal_secret_create(size_t bytes);
void* warpseal_internal_secret_data(warpseal_internal_secret* secret);
/* Null is allowed. */
void warpseal_internal_secret_destroy(warpseal_internal_secret* secret);

/* 1 if `device` is spelled as warpseal_engine_options takes it, whether or not this machine has it.
 */
int32_t warpseal_internal_device_known(const char* device);

/* What runs a cipher on a target: "instructions", "bytes", "words", "planes" or "tables"; static
 * storage. Null: nothing, or no such name. */
const char* warpseal_internal_representation(const char* cipher, const char* target);
/* What its resistance to timing attacks relies on there: "constant time", or a few words. Null as
 * above. */
const char* warpseal_internal_side_channels(const char* cipher, const char* target);

/* As warpseal_seal_unsafe_iv and warpseal_open, for tags of 1 to 16 bytes and without the policy
 * checks. */
warpseal_status warpseal_internal_seal(const warpseal_key* key, warpseal_mode mode, const void* iv,
                                       size_t iv_bytes, const void* aad, size_t aad_bytes,
                                       const void* in, void* out, size_t bytes, void* tag,
                                       size_t tag_bytes);
warpseal_status warpseal_internal_open(const warpseal_key* key, warpseal_mode mode, const void* iv,
                                       size_t iv_bytes, const void* aad, size_t aad_bytes,
                                       const void* in, void* out, size_t bytes, const void* tag,
                                       size_t tag_bytes);

/* Milliseconds of GPU time between two events around whatever `work` queues on the stream it is
 * given. */
warpseal_status warpseal_internal_time_device(warpseal_engine* engine,
                                              warpseal_status (*work)(void* user, void* stream),
                                              void* user, float* milliseconds);

/* As warpseal_engine_pick, for a call from `in` to `out`. */
const char* warpseal_internal_pick(warpseal_engine* engine, const char* cipher, warpseal_mode mode,
                                   const void* in, const void* out, uint64_t bytes);
/* Milliseconds of the host's clock from the first call of work(user, gpu), once for each GPU of the
 * engine in order, which queues on the default streams and does not wait, until all that is done.
 */
warpseal_status warpseal_internal_time_all(warpseal_engine* engine,
                                           warpseal_status (*work)(void* user, size_t gpu),
                                           void* user, float* milliseconds);
/* Milliseconds for copying as much from `in` as to `out`, both pinned, to and from the engine's
 * first GPU, both ways at once and without any work on it: what the link gives. `out` then holds
 * nothing of use. */
warpseal_status warpseal_internal_time_link(warpseal_engine* engine, const void* in, void* out,
                                            size_t bytes, float* milliseconds);

#ifdef __cplusplus
}
#endif
#endif
