/* Internal streaming API: one message in updates of any size, for bindings whose interface is
 * incremental. Not installed, and not exported from the shared library: incremental opening
 * releases text before its tag is verified. */
#ifndef WARPSEAL_INTERNAL_STREAM_H
#define WARPSEAL_INTERNAL_STREAM_H

#include "warpseal/warpseal.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct warpseal_internal_stream warpseal_internal_stream;

/* Creates a streaming context for ECB, CBC, CFB, OFB, CTR, GCM or XTS. Selects and self-tests the
 * functions for small updates.
 * Returns WARPSEAL_WEAK_KEY for encryption under a weak key.
 * The key must outlive the context. Not thread-safe. */
warpseal_status warpseal_internal_stream_create(const warpseal_key* key, warpseal_mode mode,
                                                int32_t decrypt, warpseal_internal_stream** out);
/* Clones the context; the two are independent. */
warpseal_status warpseal_internal_stream_copy(const warpseal_internal_stream* from,
                                              warpseal_internal_stream** out);
/* Switches to another key of the same engine, cipher and kind, and ends the message. After an error
 * the context can only be destroyed. */
warpseal_status warpseal_internal_stream_rekey(warpseal_internal_stream* message,
                                               const warpseal_key* key);
/* Zeroizes and frees the context. Null is allowed. */
void warpseal_internal_stream_destroy(warpseal_internal_stream* message);

/* Begins a message and ends the previous one. iv: block_bytes bytes; none in ECB; any length but 0
 * in GCM. An invalid IV also ends the previous message. Without a message, the calls below return
 * WARPSEAL_INVALID_ARGUMENT. */
warpseal_status warpseal_internal_stream_init(warpseal_internal_stream* message, const void* iv,
                                              size_t iv_bytes);
/* GCM: adds AAD, in any number of calls, before any text. */
warpseal_status warpseal_internal_stream_aad(warpseal_internal_stream* message, const void* aad,
                                             size_t bytes);
/* Processes text and writes as many bytes. bytes: a multiple of a block in ECB and CBC; one data
 * unit in XTS, whose number is the IV; any number otherwise. `out` equals `in` or is disjoint.
 * WARPSEAL_INVALID_ARGUMENT and WARPSEAL_LIMIT_EXCEEDED (the message exceeds the limit of SP
 * 800-38D) leave the context unchanged. Other errors (WARPSEAL_OUT_OF_MEMORY) occur only in large
 * updates, and end the message. */
warpseal_status warpseal_internal_stream_update(warpseal_internal_stream* message, const void* in,
                                                void* out, size_t bytes);
/* Returns the maximum bytes of an update that needs less than 8 KiB of stack; 0 if any may need
 * more. */
size_t warpseal_internal_stream_shallow_bytes(const warpseal_internal_stream* message);
/* Direct access to the block loop of ECB, CBC, CFB, OFB and CTR, for callers that make the checks
 * of update themselves: run(state, feedback, in, out, bytes).
 * bytes: a multiple of 16, from 16 to most_bytes. run() cannot fail, and needs less than 8 KiB of
 * stack.
 * Valid until any other call on this context except copy; the message continues after the blocks
 * that were run.
 * All fields are zero if the mode has no loop, there is no message, the message is within a block,
 * or keystream is left. */
typedef struct warpseal_internal_block_loop {
    void (*run)(const void* state, uint8_t* feedback, const uint8_t* in, uint8_t* out,
                size_t bytes);
    const void* state;
    uint8_t* feedback;
    size_t most_bytes;
} warpseal_internal_block_loop;
warpseal_internal_block_loop warpseal_internal_stream_loop(warpseal_internal_stream* message);
/* GCM: end the message. tag writes a tag of 1 to 16 bytes; when opening, the caller must compare it
 * in constant time. verify, for opening, compares it: after WARPSEAL_NOT_AUTHENTIC the caller must
 * discard all opened text. */
warpseal_status warpseal_internal_stream_tag(warpseal_internal_stream* message, void* tag,
                                             size_t tag_bytes);
warpseal_status warpseal_internal_stream_verify(warpseal_internal_stream* message, const void* tag,
                                                size_t tag_bytes);

/* Returns the state from which the message continues.
 * used: number of text bytes in the last block, 0 to block_bytes - 1.
 * iv: receives block_bytes bytes. CBC: the last ciphertext block. CFB: the same, or within a block,
 * its ciphertext so far followed by the remaining keystream. OFB: the last keystream block. CTR and
 * GCM: the counter block after the last block begun. XTS: the data unit number. ECB, or without a
 * message: zeros. */
void warpseal_internal_stream_position(const warpseal_internal_stream* message, void* iv,
                                       uint32_t* used);

#ifdef __cplusplus
}
#endif
#endif
