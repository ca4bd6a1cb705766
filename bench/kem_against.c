/* Runs key encapsulation of this library and of another in turn, from the same coins.
 * bench/kem_against_submission and bench/kem_against_mlkem_native build and run it.
 *
 *   PROGRAM YARDSTICK.so|- SET BATCH SECONDS DEVICE:THREADS[+1]...
 *
 * Prints one JSON object a line: implementation, operation, and operations per second in each of
 * seven repetitions. With +1 a second, independent engine of the same kind runs at the same
 * time, to show what the machine gives to both. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "warpseal/kem.h"

enum { repetitions = 7, operation_count = 3, max_implementations = 8 };
static const char* const operation_names[operation_count] = {"keygen", "encapsulate",
                                                             "decapsulate"};

/* Coins of the yardstick's next call, which draws them through randombytes. NTRU's submission
 * ignores the result. */
static const unsigned char* next_coins;
int randombytes(unsigned char* out, unsigned long long bytes);
int randombytes(unsigned char* out, unsigned long long bytes) {
    memcpy(out, next_coins, bytes);
    next_coins += bytes;
    return 0;
}

struct values {
    uint8_t *public_keys, *secret_keys, *ciphertexts, *shared_secrets;
};

static struct {
    warpseal_kem_info set;
    uint64_t count;
    uint8_t *keypair_coins, *encapsulation_coins;
} work;

struct implementation {
    const char* name;             /* "avx2:1", or "yardstick" */
    struct implementation* other; /* works at the same time */
    warpseal_engine* engine;
    int (*keypair)(unsigned char*, unsigned char*);
    int (*encapsulate)(unsigned char*, unsigned char*, const unsigned char*);
    int (*decapsulate)(unsigned char*, const unsigned char*, const unsigned char*);
    struct values values;
    double rates[operation_count][repetitions];
};

static void require(int condition, const char* what) {
    if (condition) return;
    fprintf(stderr, "kem_against: %s\n", what);
    exit(1);
}

static uint8_t* allocate(uint64_t each) {
    uint8_t* const memory = aligned_alloc(64, (work.count * each + 63) / 64 * 64);
    require(memory != NULL, "out of memory");
    memset(memory, 0, work.count * each);
    return memory;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* All items once. */
static void run_ours(struct implementation* implementation, int operation) {
    warpseal_kem_batch batch;
    memset(&batch, 0, sizeof batch);
    batch.struct_bytes = sizeof batch;
    batch.count = work.count;
    batch.public_keys = implementation->values.public_keys;
    batch.public_key_stride = work.set.public_key_bytes;
    batch.secret_keys = implementation->values.secret_keys;
    batch.secret_key_stride = work.set.secret_key_bytes;
    batch.ciphertexts = implementation->values.ciphertexts;
    batch.ciphertext_stride = work.set.ciphertext_bytes;
    batch.shared_secrets = implementation->values.shared_secrets;
    batch.shared_secret_stride = work.set.shared_secret_bytes;
    batch.coins = operation == 0 ? work.keypair_coins : work.encapsulation_coins;
    batch.coins_stride =
        operation == 0 ? work.set.keypair_coins_bytes : work.set.encapsulation_coins_bytes;
    if (operation == 0)
        require(warpseal_kem_keypair(implementation->engine, work.set.name, &batch) == WARPSEAL_OK,
                "a keypair call failed");
    if (operation == 1)
        require(
            warpseal_kem_encapsulate(implementation->engine, work.set.name, &batch) == WARPSEAL_OK,
            "an encapsulate call failed");
    if (operation == 2)
        require(
            warpseal_kem_decapsulate(implementation->engine, work.set.name, &batch) == WARPSEAL_OK,
            "a decapsulate call failed");
}

static void run_theirs(struct implementation* implementation, int operation) {
    int failed = 0;
    for (uint64_t i = 0; i < work.count; ++i) {
        uint8_t *const pk = implementation->values.public_keys + i * work.set.public_key_bytes,
                       *const sk =
                           implementation->values.secret_keys + i * work.set.secret_key_bytes,
                       *const ct =
                           implementation->values.ciphertexts + i * work.set.ciphertext_bytes,
                       *const ss =
                           implementation->values.shared_secrets + i * work.set.shared_secret_bytes;
        next_coins = operation == 0
                         ? work.keypair_coins + i * work.set.keypair_coins_bytes
                         : work.encapsulation_coins + i * work.set.encapsulation_coins_bytes;
        if (operation == 0) failed |= implementation->keypair(pk, sk);
        if (operation == 1) failed |= implementation->encapsulate(ct, ss, pk);
        if (operation == 2) failed |= implementation->decapsulate(ss, ct, sk);
    }
    require(!failed, "a call of the yardstick failed");
}

static void run(struct implementation* implementation, int operation) {
    if (implementation->engine != NULL)
        run_ours(implementation, operation);
    else
        run_theirs(implementation, operation);
}

static void open_implementation(struct implementation* implementation, const char* name) {
    memset(implementation, 0, sizeof *implementation);
    implementation->name = name;
    implementation->values.public_keys = allocate(work.set.public_key_bytes);
    implementation->values.secret_keys = allocate(work.set.secret_key_bytes);
    implementation->values.ciphertexts = allocate(work.set.ciphertext_bytes);
    implementation->values.shared_secrets = allocate(work.set.shared_secret_bytes);
}

static void open_theirs(struct implementation* implementation, const char* path) {
    open_implementation(implementation, "yardstick");
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    require(library != NULL, "the library of the yardstick cannot be loaded");
    *(void**)&implementation->keypair = dlsym(library, "yardstick_keypair");
    *(void**)&implementation->encapsulate = dlsym(library, "yardstick_enc");
    *(void**)&implementation->decapsulate = dlsym(library, "yardstick_dec");
    require(implementation->keypair && implementation->encapsulate && implementation->decapsulate,
            "the library of the yardstick lacks a function");
}

static void open_ours(struct implementation* implementation, const char* name) {
    open_implementation(implementation, name);
    char device[32] = "";
    const char* const colon = strrchr(name, ':');
    require(colon != NULL && (size_t)(colon - name) < sizeof device,
            "an implementation is DEVICE:THREADS");
    memcpy(device, name, (size_t)(colon - name));
    warpseal_engine_options options;
    memset(&options, 0, sizeof options);
    options.struct_bytes = sizeof options;
    options.device = device;
    options.threads = (uint32_t)strtoul(colon + 1, NULL, 10);
    require(warpseal_engine_create(&options, &implementation->engine) == WARPSEAL_OK,
            "a device is not usable");
    if (strchr(colon, '+') == NULL) return;
    static struct implementation others[max_implementations];
    static int used;
    implementation->other = &others[used++];
    open_implementation(implementation->other, name);
    require(warpseal_engine_create(&options, &implementation->other->engine) == WARPSEAL_OK,
            "a device is not usable");
}

struct interval {
    struct implementation* implementation;
    int operation;
    double seconds, rate;
};

/* Processes all items repeatedly for the given time. */
static void* measure(void* interval_) {
    struct interval* const interval = interval_;
    const double start = now();
    uint64_t done = 0;
    double end;
    do {
        run(interval->implementation, interval->operation);
        done += work.count;
        end = now();
    } while (end - start < interval->seconds);
    interval->rate = (double)done / (end - start);
    return NULL;
}

static double rate(struct implementation* implementation, int operation, double seconds) {
    struct interval own = {implementation, operation, seconds, 0},
                    others = {implementation->other, operation, seconds, 0};
    pthread_t thread;
    if (implementation->other != NULL)
        require(pthread_create(&thread, NULL, measure, &others) == 0, "no thread can be had");
    measure(&own);
    if (implementation->other != NULL) require(pthread_join(thread, NULL) == 0, "a thread is lost");
    return own.rate + others.rate;
}

static int same(const struct values* a, const struct values* b) {
    return memcmp(a->public_keys, b->public_keys, work.count * work.set.public_key_bytes) == 0 &&
           memcmp(a->secret_keys, b->secret_keys, work.count * work.set.secret_key_bytes) == 0 &&
           memcmp(a->ciphertexts, b->ciphertexts, work.count * work.set.ciphertext_bytes) == 0 &&
           memcmp(a->shared_secrets, b->shared_secrets,
                  work.count * work.set.shared_secret_bytes) == 0;
}

/* Checks that equal coins give equal bytes, and that decapsulation returns the encapsulated
 * secrets. */
static void check(struct implementation* implementations, int implementation_count) {
    uint8_t* const sent = allocate(work.set.shared_secret_bytes);
    for (int s = 0; s < implementation_count; ++s)
        for (struct implementation* implementation = &implementations[s]; implementation != NULL;
             implementation = implementation->other) {
            run(implementation, 0);
            run(implementation, 1);
            memcpy(sent, implementation->values.shared_secrets,
                   work.count * work.set.shared_secret_bytes);
            memset(implementation->values.shared_secrets, 0,
                   work.count * work.set.shared_secret_bytes);
            run(implementation, 2);
            require(memcmp(sent, implementation->values.shared_secrets,
                           work.count * work.set.shared_secret_bytes) == 0,
                    "a secret did not arrive");
            require(same(&implementation->values, &implementations[0].values),
                    "two implementations made different bytes of the same coins");
        }
    free(sent);
}

int main(int argument_count, char** arguments) {
    require(argument_count >= 6 && argument_count - 4 <= max_implementations, "wrong arguments");
    for (size_t i = 0;
         warpseal_kem_at(i, &work.set) == WARPSEAL_OK && strcmp(work.set.name, arguments[2]) != 0;
         ++i) {
    }
    require(strcmp(work.set.name, arguments[2]) == 0, "there is no such set");
    work.count = strtoull(arguments[3], NULL, 10);
    const double seconds = strtod(arguments[4], NULL) / repetitions;
    work.keypair_coins = allocate(work.set.keypair_coins_bytes);
    work.encapsulation_coins = allocate(work.set.encapsulation_coins_bytes);
    require(warpseal_random(work.keypair_coins, work.count * work.set.keypair_coins_bytes) ==
                WARPSEAL_OK,
            "no random bytes");
    require(warpseal_random(work.encapsulation_coins,
                            work.count * work.set.encapsulation_coins_bytes) == WARPSEAL_OK,
            "no random bytes");

    static struct implementation implementations[max_implementations];
    int implementation_count = 0;
    if (strcmp(arguments[1], "-") != 0)
        open_theirs(&implementations[implementation_count++], arguments[1]);
    for (int i = 5; i < argument_count; ++i)
        open_ours(&implementations[implementation_count++], arguments[i]);
    check(implementations, implementation_count);
    for (int repetition = 0; repetition < repetitions; ++repetition)
        for (int operation = 0; operation < operation_count; ++operation)
            for (int s = 0; s < implementation_count; ++s)
                implementations[s].rates[operation][repetition] =
                    rate(&implementations[s], operation, seconds);
    check(implementations, implementation_count);
    for (int s = 0; s < implementation_count; ++s)
        for (int operation = 0; operation < operation_count; ++operation) {
            printf("{\"set\": \"%s\", \"operation\": \"%s\", \"who\": \"%s\", \"repetitions\": [",
                   work.set.name, operation_names[operation], implementations[s].name);
            for (int i = 0; i < repetitions; ++i)
                printf("%s%.0f", i ? ", " : "", implementations[s].rates[operation][i]);
            printf("]}\n");
        }
    return 0;
}
