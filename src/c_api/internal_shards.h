/* Internal functions of the C API for one file that several processes seal in shards
 * (docs/shards.md), for our program and the Python package. Not installed, and not exported from
 * the shared library. */
#ifndef WARPSEAL_INTERNAL_SHARDS_H
#define WARPSEAL_INTERNAL_SHARDS_H

#include "warpseal/warpseal.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WARPSEAL_INTERNAL_PIN_BYTES 32
#define WARPSEAL_INTERNAL_FINGERPRINT_BYTES 32
#define WARPSEAL_INTERNAL_PART_HEAD_BYTES 4096

/* A plan. Calls with it may run at the same time. It holds keys: destroy it before its engine. */
typedef struct warpseal_internal_plan warpseal_internal_plan;

/* The place of a shard in the text and in the sealed file. */
typedef struct warpseal_internal_shard {
    uint64_t text_offset, text_bytes;
    uint64_t file_offset, file_bytes;
} warpseal_internal_shard;

/* Draws the keys of a new file. pin: what its text is recognized by, as in the calls below.
 * options: as for warpseal_file_seal, of the format warpseal; secrets_used is called.
 * out: receives the plan; null after a failure. Errors: also WARPSEAL_INVALID_ARGUMENT for more
 * shards than the text has chunks. */
warpseal_status warpseal_internal_plan_create(warpseal_engine* engine,
                                              const warpseal_file_options* options,
                                              uint64_t text_bytes, uint32_t shard_count,
                                              const void* pin, warpseal_internal_plan** out,
                                              warpseal_file_result* result);
/* Opens and verifies a plan. options: as for warpseal_file_open. */
warpseal_status warpseal_internal_plan_open(warpseal_engine* engine, const void* data, size_t bytes,
                                            const warpseal_file_options* options,
                                            warpseal_internal_plan** out,
                                            warpseal_file_result* result);
/* Null is allowed. Not while calls with it are in progress. */
void warpseal_internal_plan_destroy(warpseal_internal_plan* plan);

/* The encoded plan; the bytes of the sealed file before its first chunk; the pin. They live as long
 * as the plan. */
const void* warpseal_internal_plan_data(const warpseal_internal_plan* plan, size_t* bytes);
const void* warpseal_internal_plan_front(const warpseal_internal_plan* plan, size_t* bytes);
const void* warpseal_internal_plan_pin(const warpseal_internal_plan* plan);
uint64_t warpseal_internal_plan_text_bytes(const warpseal_internal_plan* plan);
uint32_t warpseal_internal_plan_shard_count(const warpseal_internal_plan* plan);
/* index: below the number of shards. */
warpseal_internal_shard warpseal_internal_plan_shard(const warpseal_internal_plan* plan,
                                                     uint32_t index);

/* Seals a shard from memory to memory; the two do not overlap. A second text of a shard is refused
 * with WARPSEAL_INVALID_ARGUMENT, and `out` is zeroized after any failure. Other handles and
 * processes cannot know of the first text: compare fingerprints before `out` goes anywhere.
 * fingerprint: identifies the text, under the keys of the plan. */
warpseal_status warpseal_internal_plan_seal(const warpseal_internal_plan* plan, uint32_t index,
                                            const void* in, void* out, void* fingerprint,
                                            warpseal_file_result* result);

/* The pin of a regular file: its times of modification and change. */
warpseal_status warpseal_internal_pin_file(int fd, void* pin, warpseal_file_result* result);
/* Seals a shard of the file that begins at in_fd's position to a part: a head of 4096 bytes, then
 * the chunks. Refuses a file whose pin or length is not the plan's with WARPSEAL_IO.
 * options: progress alone. After a failure the output must be dropped. */
warpseal_status warpseal_internal_plan_seal_part(const warpseal_internal_plan* plan, uint32_t index,
                                                 int in_fd, int out_fd,
                                                 const warpseal_file_options* options,
                                                 warpseal_file_result* result);
/* Checks head and length of a part that begins at the start of fd, and finds its shard.
 * WARPSEAL_INVALID_ARGUMENT: it is of another plan. */
warpseal_status warpseal_internal_plan_check_part(const warpseal_internal_plan* plan, int fd,
                                                  uint32_t* index, warpseal_file_result* result);

#ifdef __cplusplus
}
#endif
#endif
