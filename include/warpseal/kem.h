/* kem.h: key encapsulation in batches: ML-KEM (FIPS 203), X25519 (RFC 7748), hybrids of both, and
 * NTRU (round-3 submission of September 2020), which is not a NIST standard: docs/kem.md.
 *
 * The rules at the top of warpseal.h hold. The calls leave no copy of the secrets that they
 * compute; what they write belongs to the caller, who wipes it. */
#ifndef WARPSEAL_KEM_H
#define WARPSEAL_KEM_H

#include "warpseal/warpseal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- parameter sets ------------------------------------------------------------------------- */

typedef struct warpseal_kem_info {
    const char* name; /* "ml-kem-768", "ntruhps4096821"; static storage */
    uint32_t public_key_bytes;
    uint32_t secret_key_bytes;
    uint32_t ciphertext_bytes;
    uint32_t shared_secret_bytes; /* 32; x25519mlkem768: 64 */
    /* Coins of one key generation: for sampling, then the 32-byte key of implicit rejection.
     * ML-KEM: d, then z. */
    uint32_t keypair_coins_bytes;
    uint32_t encapsulation_coins_bytes; /* coins of one encapsulation */
} warpseal_kem_info;

/* Describes parameter set number `index`, from 0.
 * WARPSEAL_INVALID_ARGUMENT: index is past the last. */
WARPSEAL_API warpseal_status warpseal_kem_at(size_t index, warpseal_kem_info* info);

/* ---- batches -------------------------------------------------------------------------------- */

/* Item i has its public key at public_keys + i * public_key_stride, and so on for the others.
 *
 * A stride of 0 shares one value between all items. What a call reads may be shared, what it writes
 * may not. What is written overlaps nothing else that the call reads or writes.
 *
 * coins: null, and they are drawn from the operating system by a generator seeded for each call; or
 * the caller's, for tests and for those who have a generator. Coins used twice give secrets away.
 * statuses: receives a warpseal_status for each item; outputs of an item that failed are zero. May
 * be null, but not when encapsulating or decapsulating in device memory.
 * A call ignores the fields that it does not name. */
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

/* Operations in host memory. set: a name of warpseal_kem_at.
 * keypair: writes public_keys and secret_keys.
 * encapsulate: reads public_keys, writes ciphertexts and shared_secrets. Refuses a public key with
 * spare bits set (NTRU), a coefficient out of range (ML-KEM) or a point of low order (X25519).
 * decapsulate: reads ciphertexts and secret_keys, writes shared_secrets. What is not a ciphertext
 * of that key gives another secret, not an error, in the same time (implicit rejection). Refuses a
 * secret key with a wrong hash (ML-KEM) and a ciphertext of low order (X25519).
 * A refused item is WARPSEAL_INVALID_ARGUMENT. WARPSEAL_UNSUPPORTED: there is no such set, or the
 * engine has GPUs alone and no GPU code for the set. Returns WARPSEAL_OK if every item has its
 * result, else the status of the first without. WARPSEAL_NO_RANDOM: no coins, nothing is done. */
WARPSEAL_API warpseal_status warpseal_kem_keypair(warpseal_engine* engine, const char* set,
                                                  const warpseal_kem_batch* batch);
WARPSEAL_API warpseal_status warpseal_kem_encapsulate(warpseal_engine* engine, const char* set,
                                                      const warpseal_kem_batch* batch);
WARPSEAL_API warpseal_status warpseal_kem_decapsulate(warpseal_engine* engine, const char* set,
                                                      const warpseal_kem_batch* batch);

/* The same in device memory, asynchronously on `stream`, on the GPU that holds what is written.
 * Every pointer of the batch, statuses too, is a device pointer of that GPU. The struct itself is
 * read before return. The returned status says whether the work was queued; an item's own status
 * says whether it has a result.
 * In a captured CUDA graph coins must be given: a replay would repeat drawn ones
 * (WARPSEAL_INVALID_ARGUMENT). The first call of each operation waits for its self-test; make one
 * before capturing.
 * WARPSEAL_UNSUPPORTED: no such set, or no GPU code for it.
 * WARPSEAL_NO_DEVICE: the engine has no GPU. */
WARPSEAL_API warpseal_status warpseal_kem_keypair_device(warpseal_engine* engine, const char* set,
                                                         const warpseal_kem_batch* batch,
                                                         void* stream);
WARPSEAL_API warpseal_status warpseal_kem_encapsulate_device(warpseal_engine* engine,
                                                             const char* set,
                                                             const warpseal_kem_batch* batch,
                                                             void* stream);
WARPSEAL_API warpseal_status warpseal_kem_decapsulate_device(warpseal_engine* engine,
                                                             const char* set,
                                                             const warpseal_kem_batch* batch,
                                                             void* stream);

/* ---- keys for many operations --------------------------------------------------------------- */

/* A prepared key: what depends on the key alone is checked and computed once, such as the matrix of
 * ML-KEM, the hash of its public key, and the key pair behind a seed of X-Wing. For keys that serve
 * many operations; preparing one takes about as long as an operation. It holds up to 16 KiB.
 *
 * Keys are immutable: any number of threads may use one, and so may a child of fork, which has its
 * own copy. The engine must outlive them. */
typedef struct warpseal_kem_key warpseal_kem_key;

/* Checks and prepares a public key, for encapsulation, or a secret key, for decapsulation. The
 * bytes are copied. set: a name of warpseal_kem_at. key_bytes: exactly the set's.
 * WARPSEAL_INVALID_ARGUMENT: another length, or a key that an operation would refuse.
 * WARPSEAL_UNSUPPORTED: as for the batches.
 * WARPSEAL_SELF_TEST_FAILED: the self-test of prepared keys failed; the batches may still work.
 * After any failure *key is null. */
WARPSEAL_API warpseal_status warpseal_kem_public_key_create(warpseal_engine* engine,
                                                            const char* set,
                                                            const uint8_t* public_key,
                                                            size_t key_bytes,
                                                            warpseal_kem_key** key);
WARPSEAL_API warpseal_status warpseal_kem_secret_key_create(warpseal_engine* engine,
                                                            const char* set,
                                                            const uint8_t* secret_key,
                                                            size_t key_bytes,
                                                            warpseal_kem_key** key);

/* Wipes and frees a key. Null is allowed. Not while calls with the key are in progress. */
WARPSEAL_API void warpseal_kem_key_destroy(warpseal_kem_key* key);

/* warpseal_kem_encapsulate and warpseal_kem_decapsulate with that key for all items: the results
 * and statuses are the same. They ignore public_keys and secret_keys of the batch, and their
 * strides. A batch that a GPU runs takes the key's bytes, and as long as without a prepared key.
 * WARPSEAL_INVALID_ARGUMENT: a secret key cannot encapsulate, nor a public key decapsulate. */
WARPSEAL_API warpseal_status warpseal_kem_key_encapsulate(const warpseal_kem_key* key,
                                                          const warpseal_kem_batch* batch);
WARPSEAL_API warpseal_status warpseal_kem_key_decapsulate(const warpseal_kem_key* key,
                                                          const warpseal_kem_batch* batch);

/* ---- pools of ephemeral key pairs ----------------------------------------------------------- */

/* A pool makes key pairs in batches before they are wanted, each for one use: a server takes one
 * for each client. Secret keys stay in the pool. With a "cuda" device they lie in the memory of its
 * first GPU if that works. Otherwise they lie in host memory, locked if the limit on locked memory
 * allows all of it. If the GPU is lost, so are its keys: their handles become invalid,
 * and the pool continues in host memory. A forked child has none of its parent's pairs and makes
 * its own.
 */
typedef struct warpseal_kem_pool warpseal_kem_pool;

/* Creates a pool. The engine must outlive it. The first calls that want pairs make them.
 * pairs: how many it holds at most, ready and handed out together; at least 1.
 * WARPSEAL_UNSUPPORTED: as for the batches. */
WARPSEAL_API warpseal_status warpseal_kem_pool_create(warpseal_engine* engine, const char* set,
                                                      uint64_t pairs, warpseal_kem_pool** pool);

/* Zeroizes the remaining keys and frees the pool. Null is allowed. No call on it may be in
 * progress. */
WARPSEAL_API void warpseal_kem_pool_destroy(warpseal_kem_pool* pool);

/* Makes pairs until every slot that is not handed out has one. Meant for a thread without other
 * work. After a failure the pairs already made are ready. */
WARPSEAL_API warpseal_status warpseal_kem_pool_fill(warpseal_kem_pool* pool);

/* Hands out `count` pairs, none of them twice; makes more where too few are ready.
 * Item i's public key is written to public_keys + i * public_key_stride. handles[i] names its
 * secret key. WARPSEAL_LIMIT_EXCEEDED: fewer slots are free. After any failure nothing is handed
 * out. */
WARPSEAL_API warpseal_status warpseal_kem_pool_acquire(warpseal_kem_pool* pool, uint64_t count,
                                                       uint8_t* public_keys,
                                                       uint64_t public_key_stride,
                                                       uint64_t* handles);

/* Decapsulates item i under the secret key of handles[i], zeroizes that key and frees its slot.
 * WARPSEAL_INVALID_ARGUMENT for an item: its handle is not of this pool and process, was used or
 * released before, or is in the call twice; or its ciphertext is refused, and the key is gone. Its
 * secret is zero; the others are done. An item that fails otherwise keeps its handle.
 * Returns WARPSEAL_OK if every item has its secret, else the status of the first that has none.
 * statuses: may be null. All in host memory. */
WARPSEAL_API warpseal_status warpseal_kem_pool_decapsulate(
    warpseal_kem_pool* pool, uint64_t count, const uint64_t* handles, const uint8_t* ciphertexts,
    uint64_t ciphertext_stride, uint8_t* shared_secrets, uint64_t shared_secret_stride,
    int32_t* statuses);

/* Zeroizes the secret keys of handles that will not be used. Ignores invalid handles. */
WARPSEAL_API void warpseal_kem_pool_release(warpseal_kem_pool* pool, uint64_t count,
                                            const uint64_t* handles);

#ifdef __cplusplus
}
#endif
#endif
