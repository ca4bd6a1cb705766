/* inner.h: the uninstalled inner door of the C interface, for our own program and tests: parameters that the public calls refuse
 * by policy, and device timing. Never exported from the shared library. */
#ifndef WARPSEAL_INNER_H
#define WARPSEAL_INNER_H

#include "warpseal/warpseal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As warpseal_key_create and warpseal_key_create_xts, but encryption under a weak key goes through. */
warpseal_status warpseal_inner_key_create(warpseal_engine* engine, const char* cipher, const void* key, size_t key_bytes,
                                          warpseal_key** out);
warpseal_status warpseal_inner_key_create_xts(warpseal_engine* engine, const char* cipher, const void* key, size_t key_bytes,
                                              warpseal_key** out);

/* What runs a cipher on a target: "instructions", "bytes", "words", "planes" or "tables"; static storage. Null: nothing, or no
 * such name. */
const char* warpseal_inner_form(const char* cipher, const char* target);
/* What its resistance to timing attacks relies on there: "constant time", or a few words. Null as above. */
const char* warpseal_inner_side_channels(const char* cipher, const char* target);

/* As warpseal_seal_unsafe_iv and warpseal_open, for tags of 1 to 16 bytes and without the policy checks. */
warpseal_status warpseal_inner_seal(const warpseal_key* key, warpseal_mode mode, const void* iv, size_t iv_bytes, const void* aad,
                                    size_t aad_bytes, const void* in, void* out, size_t bytes, void* tag, size_t tag_bytes);
warpseal_status warpseal_inner_open(const warpseal_key* key, warpseal_mode mode, const void* iv, size_t iv_bytes, const void* aad,
                                    size_t aad_bytes, const void* in, void* out, size_t bytes, const void* tag, size_t tag_bytes);

/* Milliseconds of GPU time between two events around whatever `work` queues on the stream it is given. */
warpseal_status warpseal_inner_time_device(warpseal_engine* engine, warpseal_status (*work)(void* user, void* stream), void* user,
                                           float* milliseconds);

#ifdef __cplusplus
}
#endif
#endif
