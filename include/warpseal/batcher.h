/* Requests for key encapsulation from many threads and event loops, gathered into batches: docs/kem.md, "The batcher".
 *
 * Every call may be made from any thread at once, and in a child of fork, which begins with an empty queue, threads and counts of its own:
 * what its parent has queued is completed in the parent alone. */
#ifndef WARPSEAL_BATCHER_H
#define WARPSEAL_BATCHER_H

#include "warpseal/kem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct warpseal_kem_batcher warpseal_kem_batcher;

typedef struct warpseal_kem_batcher_options {
    uint32_t struct_bytes;
    uint32_t max_batch;            /* 0: 4,096. A batch starts when it has so many requests, or as many as take 5 ms, */
    uint32_t max_delay_us;         /* 0: 2,000. when its first has waited so long, or at once where no other is to be expected by then */
    uint32_t max_waiting;          /* 0: 4,096. What waits in the queue at most: see run and submit. At most 2^30 */
    const char* metrics_directory; /* null: none. Prometheus text in warpseal-PID.prom there, replaced whole, at most once a second and at
                                      the end */
} warpseal_kem_batcher_options;

/* options may be null. The engine must outlive the batcher. Threads begin with the first request that needs one. */
WARPSEAL_API warpseal_status warpseal_kem_batcher_create(warpseal_engine* engine, const warpseal_kem_batcher_options* options,
                                                         warpseal_kem_batcher** batcher);
/* Completes what is queued. Not while calls are under way, and not from `done`. Null is allowed. */
WARPSEAL_API void warpseal_kem_batcher_destroy(warpseal_kem_batcher* batcher);

typedef enum warpseal_kem_operation {
    WARPSEAL_KEM_KEYPAIR = 0,
    WARPSEAL_KEM_ENCAPSULATE = 1,
    WARPSEAL_KEM_DECAPSULATE = 2
} warpseal_kem_operation;

/* One item of one operation: reads and writes what that operation does of a warpseal_kem_batch of one, and its status says as much. */
typedef struct warpseal_kem_request {
    uint32_t struct_bytes;
    int32_t operation; /* a warpseal_kem_operation */
    const char* set;
    uint8_t* public_key;
    uint8_t* secret_key;
    uint8_t* ciphertext;
    uint8_t* shared_secret;
    /* submit: called once, when the outputs are written, on a thread that others wait for: it is short, does not throw, and may call submit
     * and run. */
    void (*done)(void* user, warpseal_status status);
    void* user;
} warpseal_kem_request;

/* Waits for the result. On the calling thread, alone, where that is quicker than to wait for others, or where the queue is at its bound. */
WARPSEAL_API warpseal_status warpseal_kem_batcher_run(warpseal_kem_batcher* batcher, const warpseal_kem_request* request);
/* Returns at once. The struct is copied; the memory that it names stays as it is until `done` is called, which may be before submit
 * returns. WARPSEAL_LIMIT_EXCEEDED: the queue is at its bound, no thread can be had, or the batcher is being destroyed: call run, or come
 * back later. After any error nothing is queued, and `done` is not called. */
WARPSEAL_API warpseal_status warpseal_kem_batcher_submit(warpseal_kem_batcher* batcher, const warpseal_kem_request* request);

enum { WARPSEAL_KEM_BATCH_SIZES = 18, WARPSEAL_KEM_WAITS = 16 };

/* Of this process, since the batcher was made or, in a child, since its first call. */
typedef struct warpseal_kem_batcher_counts {
    uint32_t struct_bytes;
    uint32_t waiting;          /* now in the queue */
    uint64_t requests;         /* completed: inline_requests + batched_requests */
    uint64_t inline_requests;  /* of run, on the thread that called it */
    uint64_t batched_requests; /* that went through the queue */
    uint64_t batches;
    uint64_t largest_batch;
    uint64_t failures;                                     /* completed with another status than WARPSEAL_OK */
    uint64_t full_queue;                                   /* found the queue at its bound: refused by submit, or inline */
    uint64_t no_thread;                                    /* found no thread to be had: the same */
    uint64_t redone;                                       /* one by one, after the batch that they were in had failed as a whole */
    double wait_seconds_sum;                               /* in the queue, of all batched requests together */
    uint64_t batch_size_buckets[WARPSEAL_KEM_BATCH_SIZES]; /* [i]: batches of at most 2^i requests and more than 2^(i-1); the last: more */
    uint64_t wait_buckets[WARPSEAL_KEM_WAITS];             /* [i]: requests that waited at most 10 us * 2^i; the last: longer */
} warpseal_kem_batcher_counts;

WARPSEAL_API warpseal_status warpseal_kem_batcher_counts_read(warpseal_kem_batcher* batcher, warpseal_kem_batcher_counts* counts);
/* The same as Prometheus text. Returns how many bytes it has without the final zero; writes at most `room`, the final zero among them. */
WARPSEAL_API size_t warpseal_kem_batcher_metrics(warpseal_kem_batcher* batcher, char* out, size_t room);

#ifdef __cplusplus
}
#endif
#endif
