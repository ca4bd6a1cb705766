/* inner_message.h: one message in pieces of any size, through the uninstalled inner door of the C
 * interface: for faces whose callers give a message so. Never exported from the shared library, as
 * opening in pieces hands out text before its tag is verified. */
#ifndef WARPSEAL_INTERNAL_STREAM_H
#define WARPSEAL_INTERNAL_STREAM_H

#include "warpseal/warpseal.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct warpseal_internal_stream warpseal_internal_stream;

/* ECB, CBC, CFB, OFB, CTR, GCM, XTS. One thread at a time; the key must outlive it.
 * WARPSEAL_WEAK_KEY: encryption under a weak key. What runs small pieces is chosen, and
 * self-tested, here. */
warpseal_status warpseal_internal_stream_create(const warpseal_key* key, warpseal_mode mode,
                                                int32_t decrypt, warpseal_internal_stream** out);
/* The same message from here on, apart. */
warpseal_status warpseal_internal_stream_copy(const warpseal_internal_stream* from,
                                              warpseal_internal_stream** out);
/* From now on under another key of the same engine, cipher and kind; no message is under way then.
 * Unless it is WARPSEAL_OK, the message can only be destroyed. */
warpseal_status warpseal_internal_stream_rekey(warpseal_internal_stream* message,
                                               const warpseal_key* key);
/* Wipes and frees. Null is allowed. */
void warpseal_internal_stream_destroy(warpseal_internal_stream* message);

/* Begins a message, anew if one was under way. iv: block_bytes; ECB: none; GCM: any length but 0.
 * One that is refused leaves none under way: without one, the calls below are
 * WARPSEAL_INVALID_ARGUMENT. */
warpseal_status warpseal_internal_stream_init(warpseal_internal_stream* message, const void* iv,
                                              size_t iv_bytes);
/* GCM: additional data, in any pieces, before any text. */
warpseal_status warpseal_internal_stream_aad(warpseal_internal_stream* message, const void* aad,
                                             size_t bytes);
/* Text: whole blocks in ECB and CBC; in XTS a data unit, each under the number that is the IV; any
 * number of bytes else; as many come out. out == in, or apart. A piece that is refused changes
 * nothing: WARPSEAL_INVALID_ARGUMENT, and WARPSEAL_LIMIT_EXCEEDED past what SP 800-38D allows of
 * all pieces together. Only a large piece can fail otherwise (WARPSEAL_OUT_OF_MEMORY), and ends the
 * message. */
warpseal_status warpseal_internal_stream_update(warpseal_internal_stream* message, const void* in,
                                                void* out, size_t bytes);
/* Up to so many bytes an update needs less than 8 KiB of the stack; 0: any may need more. */
size_t warpseal_internal_stream_shallow_bytes(const warpseal_internal_stream* message);
/* Short pieces of ECB, CBC, CFB, OFB and CTR straight to what runs them, for who checks as update
 * does: run(state, feedback, in, out, bytes) for whole blocks of 16 bytes, one at least and at most
 * most_bytes. It cannot fail, and needs as little of the stack. Holds until any other call with
 * this message, which goes on after what was run (copying it is none). All zero: there is no such
 * way, or not here: no message is under way, or it stands within a block, or keystream is left. */
typedef struct warpseal_internal_block_loop {
    void (*run)(const void* state, uint8_t* feedback, const uint8_t* in, uint8_t* out,
                size_t bytes);
    const void* state;
    uint8_t* feedback;
    size_t most_bytes;
} warpseal_internal_block_loop;
warpseal_internal_block_loop warpseal_internal_stream_loop(warpseal_internal_stream* message);
/* GCM: the end of the message, either way: its tag of 1 to 16 bytes, which who opens compares in
 * constant time; or, opening, the comparison: WARPSEAL_NOT_AUTHENTIC, and all that was opened is
 * worth nothing. */
warpseal_status warpseal_internal_stream_tag(warpseal_internal_stream* message, void* tag,
                                             size_t tag_bytes);
warpseal_status warpseal_internal_stream_verify(warpseal_internal_stream* message, const void* tag,
                                                size_t tag_bytes);

/* From what to go on: how many bytes of its last block the text fills, 0 to block_bytes - 1, and
 * block_bytes of iv. CBC: the last block of ciphertext. CFB: the same, or the block under way:
 * ciphertext, then the keystream that is left. OFB: the last block of the keystream. CTR and GCM:
 * the counter of the block after the last one begun. XTS: the number. ECB, and without a message:
 * zeros. */
void warpseal_internal_stream_position(const warpseal_internal_stream* message, void* iv,
                                       uint32_t* used);

#ifdef __cplusplus
}
#endif
#endif
