/* batcher.h: gathers key encapsulation requests from many threads and event loops into batches
 * (docs/kem.md, "The batcher").
 *
 * The rules at the top of warpseal.h hold. In a forked child a batcher begins with an empty queue,
 * threads and counts of its own. What its parent has queued is completed in the parent alone. */
#ifndef WARPSEAL_BATCHER_H
#define WARPSEAL_BATCHER_H

#include "warpseal/kem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct warpseal_kem_batcher warpseal_kem_batcher;

/* A batch starts when it has max_batch requests or as many as take 5 ms, when its first request has
 * waited max_delay_us, or at once where no other request is to be expected by then. */
typedef struct warpseal_kem_batcher_options {
    uint32_t struct_bytes;
    uint32_t max_batch;    /* 0: 4,096 */
    uint32_t max_delay_us; /* 0: 2,000 */
    uint32_t max_waiting;  /* requests in the queue at most; 0: 4,096; at most 2^30 */
    /* Null: no metrics file. Otherwise Prometheus text in warpseal-PID.prom there, replaced whole
     * at most once a second and at the end. */
    const char* metrics_directory;
} warpseal_kem_batcher_options;

/* Creates a batcher and returns at once.
 * engine: must outlive the batcher. With "auto" or "cuda" a thread opens the GPU, pins memory, and
 * tests and times each operation that is requested. Meanwhile an engine with cores serves on them,
 * and requests to an engine of GPUs alone wait. Afterwards each batch runs where it finishes first,
 * by measured times, or on both. If the preparation fails, or the GPU is lost, the cores serve.
 * options: null for the defaults.
 * Errors: WARPSEAL_INVALID_ARGUMENT, WARPSEAL_OUT_OF_MEMORY. What the preparation cannot get is no
 * error. A process that creates a batcher on a machine with a GPU has used CUDA: children that it
 * forks later cannot.
 * Thread-safe. The first request that needs threads starts them. */
WARPSEAL_API warpseal_status
warpseal_kem_batcher_create(warpseal_engine* engine, const warpseal_kem_batcher_options* options,
                            warpseal_kem_batcher** batcher);

/* Completes what is queued and frees the batcher. Waits for the step of the preparation that is in
 * progress, such as opening the GPU, and skips the others. Null is allowed.
 * Not while calls on it are in progress, and not from `done`. */
WARPSEAL_API void warpseal_kem_batcher_destroy(warpseal_kem_batcher* batcher);

typedef enum warpseal_kem_operation {
    WARPSEAL_KEM_KEYPAIR = 0,
    WARPSEAL_KEM_ENCAPSULATE = 1,
    WARPSEAL_KEM_DECAPSULATE = 2
} warpseal_kem_operation;

/* One item of one operation. It reads, writes and fails as an item of a warpseal_kem_batch. */
typedef struct warpseal_kem_request {
    uint32_t struct_bytes;
    int32_t operation; /* a warpseal_kem_operation */
    const char* set;
    uint8_t* public_key;
    uint8_t* secret_key;
    uint8_t* ciphertext;
    uint8_t* shared_secret;
    /* For submit: called once, when the outputs are written, on a thread that others wait for. It
     * must be short and must not throw. It may call submit and run. */
    void (*done)(void* user, warpseal_status status);
    void* user;
} warpseal_kem_request;

/* Runs a request and waits for its result. It runs alone on the calling thread where that is
 * quicker than waiting for others, or where the queue is full. */
WARPSEAL_API warpseal_status warpseal_kem_batcher_run(warpseal_kem_batcher* batcher,
                                                      const warpseal_kem_request* request);

/* Queues a request and returns at once. The struct is copied. The memory that it names must stay as
 * it is until `done` is called, which may be before this call returns.
 * WARPSEAL_LIMIT_EXCEEDED: the queue is full, no thread can be had, or the batcher is being
 * destroyed. Call run, or come back later.
 * After any error nothing is queued and `done` is not called. */
WARPSEAL_API warpseal_status warpseal_kem_batcher_submit(warpseal_kem_batcher* batcher,
                                                         const warpseal_kem_request* request);

enum { WARPSEAL_KEM_BATCH_SIZES = 18, WARPSEAL_KEM_WAITS = 16 };

/* Counts of this process, since the batcher was made or, in a child, since its first call. */
typedef struct warpseal_kem_batcher_counts {
    uint32_t struct_bytes;
    uint32_t waiting;          /* requests in the queue now */
    uint64_t requests;         /* completed: inline_requests + batched_requests */
    uint64_t inline_requests;  /* of run, on the thread that called it */
    uint64_t batched_requests; /* through the queue */
    uint64_t batches;
    uint64_t largest_batch;
    uint64_t failures;       /* completed with another status than WARPSEAL_OK */
    uint64_t full_queue;     /* refused by submit, or inline in run, as the queue was full */
    uint64_t no_thread;      /* the same, as no thread could be had */
    uint64_t redone;         /* one by one, after their batch failed as a whole */
    double wait_seconds_sum; /* in the queue, of all batched requests together */
    /* [i]: batches of at most 2^i requests and more than 2^(i-1); the last: more. */
    uint64_t batch_size_buckets[WARPSEAL_KEM_BATCH_SIZES];
    /* [i]: requests that waited at most 10 us * 2^i; the last: longer. */
    uint64_t wait_buckets[WARPSEAL_KEM_WAITS];
} warpseal_kem_batcher_counts;

/* Reads the counts. */
WARPSEAL_API warpseal_status warpseal_kem_batcher_counts_read(warpseal_kem_batcher* batcher,
                                                              warpseal_kem_batcher_counts* counts);

/* Writes the counts as Prometheus text, with a final zero, to at most `capacity` bytes.
 * Returns the length of the whole text without the zero; 0 where it failed. */
WARPSEAL_API size_t warpseal_kem_batcher_metrics(warpseal_kem_batcher* batcher, char* out,
                                                 size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
