/* cobblestone.h: seals and opens a C2SP chunked-encryption message (c2sp.org/chunked-encryption) in
 * updates of any size, in memory (docs/file-format.md, "Payload").
 *
 * The rules at the top of warpseal.h hold. Only text that was authenticated is written. */
#ifndef WARPSEAL_COBBLESTONE_H
#define WARPSEAL_COBBLESTONE_H

#include "warpseal/warpseal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One message that is sealed or opened. Calls with one handle must not run at the same time.
 * In a forked child only warpseal_cobblestone_destroy may be called with a handle of its parent,
 * because two processes must not seal under one nonce: WARPSEAL_INVALID_ARGUMENT. */
typedef struct warpseal_cobblestone warpseal_cobblestone;

/* Begins to seal a message under a salt of the operating system.
 * engine: must outlive the handle. key: the input key; it and the context are not used later.
 * key_bytes: 16 for AEAD_AES_128_GCM, 32 for AEAD_AES_256_GCM. context: may be null if it is empty.
 * out: receives the handle; null after a failure.
 * WARPSEAL_INVALID_ARGUMENT: another key_bytes. WARPSEAL_NO_RANDOM: no salt could be drawn. */
WARPSEAL_API warpseal_status warpseal_cobblestone_create_seal(warpseal_engine* engine,
                                                              const void* key, size_t key_bytes,
                                                              const void* context,
                                                              size_t context_bytes,
                                                              warpseal_cobblestone** out);

/* Begins to open a message. Parameters and errors: as warpseal_cobblestone_create_seal. */
WARPSEAL_API warpseal_status warpseal_cobblestone_create_open(warpseal_engine* engine,
                                                              const void* key, size_t key_bytes,
                                                              const void* context,
                                                              size_t context_bytes,
                                                              warpseal_cobblestone** out);

/* Wipes and frees a message, finished or not. Null is allowed. Not while a call with it is in
 * progress. */
WARPSEAL_API void warpseal_cobblestone_destroy(warpseal_cobblestone* message);

/* Returns how many bytes the next warpseal_cobblestone_update with `bytes` bytes will write if it
 * succeeds. SIZE_MAX: more than memory has. 0 for null. */
WARPSEAL_API size_t warpseal_cobblestone_update_bytes(const warpseal_cobblestone* message,
                                                      size_t bytes);

/* Adds text when sealing, or part of the sealed message when opening. Writes salt and commitment
 * with the first update, and each chunk of 16 KiB that is complete. Large updates use all cores or
 * GPUs of the engine.
 * in: `bytes` bytes; may be null if there are none. out: apart from `in`. It may be null if nothing
 * will be written.
 * out_capacity: at least warpseal_cobblestone_update_bytes. out_bytes: receives what was written.
 * WARPSEAL_INVALID_ARGUMENT: out_capacity is too small, out overlaps in, or the message is finished
 * or has failed. Nothing was taken.
 * After any other error *out_bytes is 0, `out` is wiped, and the message can only be destroyed:
 * WARPSEAL_WRONG_KEY: the commitment does not match. WARPSEAL_NOT_AUTHENTIC: a chunk was changed.
 * WARPSEAL_LIMIT_EXCEEDED: more than 2^38 chunks. */
WARPSEAL_API warpseal_status warpseal_cobblestone_update(warpseal_cobblestone* message,
                                                         const void* in, size_t bytes, void* out,
                                                         size_t out_capacity, size_t* out_bytes);

/* Returns how many bytes warpseal_cobblestone_finish will write if it succeeds: at most 16455 when
 * sealing, 16383 when opening. 0 for null. */
WARPSEAL_API size_t warpseal_cobblestone_finish_bytes(const warpseal_cobblestone* message);

/* Ends the message: writes the last chunk, or its text once it is verified as the last.
 * out_capacity: at least warpseal_cobblestone_finish_bytes.
 * WARPSEAL_TRUNCATED: the sealed message ends before its last chunk can end.
 * WARPSEAL_NOT_AUTHENTIC: the last chunk was changed or cut.
 * Other parameters and errors: as warpseal_cobblestone_update. */
WARPSEAL_API warpseal_status warpseal_cobblestone_finish(warpseal_cobblestone* message, void* out,
                                                         size_t out_capacity, size_t* out_bytes);

#ifdef __cplusplus
}
#endif
#endif
