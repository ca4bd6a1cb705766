/* Internal functions of the C API, for the project's program and tests: parameters that the public
 * calls refuse by policy, and device timing. Not installed, and not exported from the shared
 * library. */
#ifndef WARPSEAL_INTERNAL_H
#define WARPSEAL_INTERNAL_H

#include "warpseal/warpseal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Like warpseal_key_create and warpseal_key_create_xts, but a weak key may encrypt. */
warpseal_status warpseal_internal_key_create(warpseal_engine* engine, const char* cipher,
                                             const void* key, size_t key_bytes, warpseal_key** out);
warpseal_status warpseal_internal_key_create_xts(warpseal_engine* engine, const char* cipher,
                                                 const void* key, size_t key_bytes,
                                                 warpseal_key** out);

/* Creates another key of the same engine, cipher, kind and length as `like`. Refuses the same keys
 * as warpseal_key_create and warpseal_key_create_xts. Reuses the selected and self-tested targets
 * of `like`. */
warpseal_status warpseal_internal_key_create_like(const warpseal_key* like, const void* key,
                                                  warpseal_key** out);

/* Returns 1 if the key was made from these bytes, which have the length of the cipher's key (XTS:
 * of both keys). Constant time. */
int32_t warpseal_internal_key_made_of(const warpseal_key* key, const void* bytes);

/* Memory for secrets: initially zero, locked as far as the limit on locked memory allows, excluded
 * from core dumps, and zeroized when destroyed. Returns null if out of memory or `bytes` is 0. */
typedef struct warpseal_internal_secret warpseal_internal_secret;
warpseal_internal_secret* warpseal_internal_secret_create(size_t bytes);
void* warpseal_internal_secret_data(warpseal_internal_secret* secret);
/* Null is allowed. */
void warpseal_internal_secret_destroy(warpseal_internal_secret* secret);

/* Draws random bytes from the operating system. Returns 0, with zeros in `out`, if it has none. */
int32_t warpseal_internal_random(void* out, size_t bytes);

/* Returns 1 if `device` is valid for warpseal_engine_options, even if this machine lacks it. */
int32_t warpseal_internal_device_known(const char* device);

/* Returns the representation of a cipher on a target: "instructions", "byte-sliced",
 * "word-sliced", "bitsliced" or "table-based"; static storage. Null if a name is unknown or the
 * target lacks the cipher. */
const char* warpseal_internal_representation(const char* cipher, const char* target);
/* Describes what makes the cipher resistant to timing attacks on the target, for example "constant
 * time". Returns null like warpseal_internal_representation. */
const char* warpseal_internal_side_channels(const char* cipher, const char* target);

/* Like warpseal_seal_unsafe_iv and warpseal_open, but without policy checks; GCM tags may have 1 to
 * 16 bytes. */
warpseal_status warpseal_internal_seal(const warpseal_key* key, warpseal_mode mode, const void* iv,
                                       size_t iv_bytes, const void* aad, size_t aad_bytes,
                                       const void* in, void* out, size_t bytes, void* tag,
                                       size_t tag_bytes);
warpseal_status warpseal_internal_open(const warpseal_key* key, warpseal_mode mode, const void* iv,
                                       size_t iv_bytes, const void* aad, size_t aad_bytes,
                                       const void* in, void* out, size_t bytes, const void* tag,
                                       size_t tag_bytes);

/* Measures the milliseconds of GPU time of what `work` queues on its stream, between two events. */
warpseal_status warpseal_internal_time_device(warpseal_engine* engine,
                                              warpseal_status (*work)(void* user, void* stream),
                                              void* user, float* milliseconds);

/* Like warpseal_engine_pick, for a call from `in` to `out`. */
const char* warpseal_internal_pick(warpseal_engine* engine, const char* cipher, warpseal_mode mode,
                                   const void* in, const void* out, uint64_t bytes);
/* Calls work(user, gpu) for each GPU of the engine in order. `work` queues on the default stream
 * without waiting. Measures milliseconds of the host's clock from the first call until all queued
 * work is done. */
warpseal_status warpseal_internal_time_all(warpseal_engine* engine,
                                           warpseal_status (*work)(void* user, size_t gpu),
                                           void* user, float* milliseconds);
/* Measures the link: milliseconds for copying `bytes` bytes from `in` to the engine's first GPU and
 * as many to `out` at the same time. Both must be pinned. The contents of `out` are undefined. */
warpseal_status warpseal_internal_time_link(warpseal_engine* engine, const void* in, void* out,
                                            size_t bytes, float* milliseconds);

/* For files of age, whose recipients are those of our key slots.
 * Decodes Bech32 text to `data`, which has room for 5 bits a character. Returns 0 if it is none. */
int32_t warpseal_internal_bech32_decode(const char* text, size_t characters,
                                        size_t* prefix_characters, int32_t* upper_case, void* data,
                                        size_t* bytes);
/* Returns the length of the text, and writes it if `text` is not null: in lower case, without a
 * terminating zero. */
size_t warpseal_internal_bech32_encode(const char* prefix, const void* data, size_t bytes,
                                       char* text);

/* The rest of a recipient mlkem768x25519. Share: 1120 bytes; public key: 1216; secret key, wrapped
 * file key: 32; file key: 16.
 * WARPSEAL_INVALID_ARGUMENT: the public key is refused. */
warpseal_status warpseal_internal_hybrid_public_key(warpseal_engine* engine, const void* secret_key,
                                                    void* public_key);
warpseal_status warpseal_internal_hybrid_wrap(warpseal_engine* engine, const void* public_key,
                                              const void* file_key, void* share, void* wrapped);
/* The public key, 1262 bytes, of a recipient of NTRU with X25519. Secret key: 32 bytes. */
warpseal_status warpseal_internal_ntru_public_key(warpseal_engine* engine, const void* secret_key,
                                                  void* public_key);
/* WARPSEAL_WRONG_KEY: it is wrapped for another recipient. WARPSEAL_NOT_AUTHENTIC: the share has
 * low order. */
warpseal_status warpseal_internal_hybrid_unwrap(warpseal_engine* engine, const void* secret_key,
                                                const void* share, const void* wrapped,
                                                void* file_key);

/* ChaCha20-Poly1305 (RFC 8439) without associated data. The tag of 16 bytes follows the text.
 * Opening: WARPSEAL_NOT_AUTHENTIC, with zeros in `out`. */
warpseal_status warpseal_internal_chacha20_poly1305(int32_t opening, const void* key,
                                                    const void* nonce, const void* in, size_t bytes,
                                                    void* out);
/* Seals or opens the chunks of an age file from number `first` on, which lie side by side, on all
 * threads of the engine. `in` has whole chunks, and may have a shorter one after them. ends: the
 * last of them is the last of the file. WARPSEAL_TRUNCATED: it has no whole tag.
 * WARPSEAL_NOT_AUTHENTIC: a chunk does not verify, and `out` is zeroized. */
warpseal_status warpseal_internal_age_chunks(warpseal_engine* engine, int32_t opening,
                                             const void* key, uint64_t first, int32_t ends,
                                             const void* in, size_t bytes, void* out);

#ifdef __cplusplus
}
#endif
#endif
