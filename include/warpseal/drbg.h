/* drbg.h: random bytes by CTR_DRBG of SP 800-90A Rev. 1 on cores and GPUs, seeded by the operating
 * system (docs/random.md).
 *
 * The rules at the top of warpseal.h hold. A generator in a forked child seeds itself anew before
 * its next output. */
#ifndef WARPSEAL_DRBG_H
#define WARPSEAL_DRBG_H

#include "warpseal/warpseal.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct warpseal_drbg warpseal_drbg;

enum { WARPSEAL_DRBG_INPUT_BYTES = 48 }; /* longest personalization string and additional input */

typedef struct warpseal_drbg_options {
    uint32_t struct_bytes;
    int32_t prediction_resistance; /* 1: new entropy for each 85 MiB, and for each call */
    /* Distinguishes generators, for example by purpose. It needs no entropy. May be null. */
    const void* personalization;
    size_t personalization_bytes;
} warpseal_drbg_options;

/* Creates a generator with 48 bytes from the operating system. The engine must outlive it. Any
 * number of threads may use it; no two calls receive the same bytes.
 * options: null for the defaults.
 * WARPSEAL_LIMIT_EXCEEDED: personalization is longer than WARPSEAL_DRBG_INPUT_BYTES.
 * WARPSEAL_NO_RANDOM: the operating system's random source failed. */
WARPSEAL_API warpseal_status warpseal_drbg_create(warpseal_engine* engine,
                                                  const warpseal_drbg_options* options,
                                                  warpseal_drbg** drbg);

/* Wipes and frees a generator. Null is allowed. Not while calls with it are in progress. */
WARPSEAL_API void warpseal_drbg_destroy(warpseal_drbg* drbg);

/* Adds entropy of the operating system to the generator, and the caller's additional input.
 * additional: may be null. WARPSEAL_LIMIT_EXCEEDED: longer than WARPSEAL_DRBG_INPUT_BYTES. */
WARPSEAL_API warpseal_status warpseal_drbg_reseed(warpseal_drbg* drbg, const void* additional,
                                                  size_t additional_bytes);

/* Fills host memory with random bytes, on the engine's cores and GPUs.
 * After an error `out` is all zero bytes. */
WARPSEAL_API warpseal_status warpseal_drbg_fill(warpseal_drbg* drbg, void* out, size_t bytes);

/* Fills device memory, asynchronously on `stream`, on the GPU that holds it. The first call on a
 * GPU waits for its self-test. After an error the contents of `out` are undefined.
 * WARPSEAL_INVALID_ARGUMENT: also where the stream is being captured in a graph, as each replay
 * would repeat the bytes. WARPSEAL_NO_DEVICE: the engine has no GPU. */
WARPSEAL_API warpseal_status warpseal_drbg_fill_device(warpseal_drbg* drbg, void* out, size_t bytes,
                                                       void* stream);

#ifdef __cplusplus
}
#endif
#endif
