/* Warpseal's key encapsulation: NTRU of the round-3 submission (September 2020), in batches. Not a NIST standard: docs/kem.md.
 *
 * Sizes are in bytes. Safe to call from many threads on one engine. Every call returns a warpseal_status. Secrets that these calls compute
 * leave no copy behind; what they write belongs to the caller, who wipes it. */
#ifndef WARPSEAL_KEM_H
#define WARPSEAL_KEM_H

#include "warpseal/warpseal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The names are those of the submission; "ntruhps4096821". */
typedef struct warpseal_kem_info {
    const char* name;
    uint32_t public_key_bytes;
    uint32_t secret_key_bytes;
    uint32_t ciphertext_bytes;
    uint32_t shared_secret_bytes;       /* 32 */
    uint32_t keypair_coins_bytes;       /* what the derandomised key generation reads for each pair: sampling coins, then the 32-byte key of
                                           implicit rejection */
    uint32_t encapsulation_coins_bytes; /* and encapsulation for each ciphertext */
} warpseal_kem_info;

/* Sets are numbered from 0; WARPSEAL_INVALID_ARGUMENT past the last. Strings are static. */
WARPSEAL_API warpseal_status warpseal_kem_at(size_t index, warpseal_kem_info* info);

/* Item i has its public key at public_keys + i * public_key_stride, and so on for the others. A stride of 0 shares one value between all
 * items: allowed for what a call reads, never for what it writes. What is written overlaps nothing else that the call reads or writes.
 * coins: null, and they are drawn from the operating system, through a generator seeded for each call; or the caller's, for tests
 * and for those who have a generator of their own: coins that are used twice give secrets away.
 * statuses[i] receives a warpseal_status, WARPSEAL_OK or why item i has no result (its outputs are then zero); may be null.
 * Not every call uses every field: what it does not name is ignored. */
typedef struct warpseal_kem_batch {
    uint32_t struct_bytes;
    uint32_t reserved; /* 0 */
    uint64_t count;    /* 0: nothing is done, WARPSEAL_OK */
    uint8_t* public_keys;
    uint64_t public_key_stride;
    uint8_t* secret_keys;
    uint64_t secret_key_stride;
    uint8_t* ciphertexts;
    uint64_t ciphertext_stride;
    uint8_t* shared_secrets;
    uint64_t shared_secret_stride;
    const uint8_t* coins;
    uint64_t coins_stride;
    int32_t* statuses;
} warpseal_kem_batch;

/* Host memory. keypair writes public_keys and secret_keys. encapsulate reads public_keys, writes ciphertexts and shared_secrets;
 * WARPSEAL_INVALID_ARGUMENT for an item whose public key has spare bits set. decapsulate reads ciphertexts and secret_keys, writes
 * shared_secrets: what is not a ciphertext of that key gives another secret, not an error (implicit rejection), in the same time. Returns
 * WARPSEAL_OK if every item has its result, else the status of the first that has none. set: a name, or WARPSEAL_UNSUPPORTED. If the random
 * source fails nothing is written: WARPSEAL_NO_RANDOM. */
WARPSEAL_API warpseal_status warpseal_kem_keypair(warpseal_engine* engine, const char* set, const warpseal_kem_batch* batch);
WARPSEAL_API warpseal_status warpseal_kem_encapsulate(warpseal_engine* engine, const char* set, const warpseal_kem_batch* batch);
WARPSEAL_API warpseal_status warpseal_kem_decapsulate(warpseal_engine* engine, const char* set, const warpseal_kem_batch* batch);

/* The same in device memory: asynchronous on `stream`, on the engine's GPU that holds what is written; no hidden synchronisation. Every
 * pointer of the batch is a device pointer, statuses' too, on that one GPU; the struct itself is read before return. What is returned says
 * whether the work was queued; whether an item has its result, its status says alone. Coins that are drawn come from the same generator,
 * whose seed is part of what is queued: a call without coins that is captured in a CUDA graph is refused, as its replay would repeat them
 * (WARPSEAL_INVALID_ARGUMENT). WARPSEAL_NO_DEVICE unless the engine has a GPU, or there is no item. The first call of each operation waits
 * for its self-test: make one before capturing. */
WARPSEAL_API warpseal_status warpseal_kem_keypair_device(warpseal_engine* engine, const char* set, const warpseal_kem_batch* batch,
                                                         void* stream);
WARPSEAL_API warpseal_status warpseal_kem_encapsulate_device(warpseal_engine* engine, const char* set, const warpseal_kem_batch* batch,
                                                             void* stream);
WARPSEAL_API warpseal_status warpseal_kem_decapsulate_device(warpseal_engine* engine, const char* set, const warpseal_kem_batch* batch,
                                                             void* stream);

/* A pool of key pairs, made in batches before they are wanted, each for one use: a server's, with a pair for each client. Their secret keys
 * stay in the pool: with a "cuda" device in the memory of its first GPU if that works, else (with "auto", too) in the
 * memory of the host, locked if the limit on locked memory allows all of it. If the GPU is lost, so are they: their tickets name no key any
 * more, and the pool goes on in the host's memory. Safe to call from many threads. A forked child has none of its parent's pairs, and makes
 * its own. */
typedef struct warpseal_kem_pool warpseal_kem_pool;

/* pairs: how many it holds at most, ready and taken together; at least 1. They are made by the first calls that want some. The engine must
 * outlive the pool. set: a name, or WARPSEAL_UNSUPPORTED. */
WARPSEAL_API warpseal_status warpseal_kem_pool_create(warpseal_engine* engine, const char* set, uint64_t pairs, warpseal_kem_pool** pool);
/* Wipes what is left. Not while calls on it are under way. Null is allowed. */
WARPSEAL_API void warpseal_kem_pool_destroy(warpseal_kem_pool* pool);
/* Makes key pairs until every place that is not taken has one: for a thread that has time before others ask. If it fails, those that were
 * made are ready. */
WARPSEAL_API warpseal_status warpseal_kem_pool_fill(warpseal_kem_pool* pool);
/* Hands out `count` pairs, none of them twice: item i's public key is written to public_keys + i * public_key_stride, and tickets[i] names
 * its secret key. Makes more, in batches, where too few are ready. If it fails nothing is handed out and nothing written:
 * WARPSEAL_LIMIT_EXCEEDED if fewer places than that are not taken. */
WARPSEAL_API warpseal_status warpseal_kem_pool_take(warpseal_kem_pool* pool, uint64_t count, uint8_t* public_keys,
                                                    uint64_t public_key_stride, uint64_t* tickets);
/* Decapsulates item i under the secret key of tickets[i], which is then wiped: a ticket is good for one ciphertext, and its place is free
 * again. A ticket that is not of this pool and process, was dropped or used before, or stands in the call a second time names no key: that
 * item's status is WARPSEAL_INVALID_ARGUMENT, its secret is zero, the others are done. An item that fails otherwise keeps its ticket.
 * Returns WARPSEAL_OK if every item has its secret, else the status of the first that has none. statuses may be null. All in host memory.
 */
WARPSEAL_API warpseal_status warpseal_kem_pool_decapsulate(warpseal_kem_pool* pool, uint64_t count, const uint64_t* tickets,
                                                           const uint8_t* ciphertexts, uint64_t ciphertext_stride, uint8_t* shared_secrets,
                                                           uint64_t shared_secret_stride, int32_t* statuses);
/* Wipes the secret keys of tickets that will not be used. Tickets that name none are passed over. Null is allowed. */
WARPSEAL_API void warpseal_kem_pool_drop(warpseal_kem_pool* pool, uint64_t count, const uint64_t* tickets);

#ifdef __cplusplus
}
#endif
#endif
