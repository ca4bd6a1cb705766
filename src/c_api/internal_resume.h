/* Internal: seals and opens files into an output that a later call can continue.
 * Not installed, and not exported from the shared library. */
#ifndef WARPSEAL_INTERNAL_RESUME_H
#define WARPSEAL_INTERNAL_RESUME_H

#include "c_api/internal_slot_keys.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Facts about the unfinished output of an earlier call. */
typedef struct warpseal_internal_resumption {
    uint32_t struct_bytes;
    /* 1 if it was continued. */
    int32_t continued;
    /* 1 if the output is neither empty nor an unfinished one. It is then unchanged. */
    int32_t other_file;
    /* Bytes of plaintext that were there already. They were verified. */
    uint64_t kept_bytes;
    /* After success: length of the output. The caller syncs, and cuts off what lies behind it. */
    uint64_t output_bytes;
    /* Why it was not continued and is begun anew; empty if it was continued, or was empty. */
    char not_continued[240];
} warpseal_internal_resumption;

/* Like warpseal_internal_file_seal and warpseal_internal_file_open. out_fd is a regular file, open
 * for reading and writing, at its beginning, which may have the unfinished output of an earlier
 * call. The caller has locked it, and gives it its name after success. in_fd is a regular file that
 * is not empty.
 * Sealing needs a secret that opens too. No nonce is used for two texts: docs/decisions/0013 says
 * how. After a failure the output is kept for a later call. After WARPSEAL_IO it may be empty,
 * because the input was changed. */
warpseal_status warpseal_internal_file_seal_resumable(warpseal_engine* engine, int in_fd,
                                                      int out_fd,
                                                      const warpseal_file_options* options,
                                                      warpseal_internal_slot_keys* keys,
                                                      warpseal_internal_resumption* resumption,
                                                      warpseal_file_result* result);
warpseal_status warpseal_internal_file_open_resumable(warpseal_engine* engine, int in_fd,
                                                      int out_fd,
                                                      const warpseal_file_options* options,
                                                      warpseal_internal_slot_keys* keys,
                                                      warpseal_internal_resumption* resumption,
                                                      warpseal_file_result* result);

#ifdef __cplusplus
}
#endif
#endif
