/* warpseal.h: the C interface of Warpseal. It encrypts with block ciphers, on cores and GPUs, and
 * seals and opens authenticated files.
 *
 * It is C99 without a CUDA header. A device pointer is a plain pointer. A CUDA stream is a `void*`;
 * null is the default stream.
 *
 * For every function, unless its comment says otherwise:
 *  - Sizes are in bytes.
 *  - It may be called from any thread at any time.
 *  - It never throws, prints or aborts. What can fail returns a warpseal_status.
 *  - A null pointer where one is needed gives WARPSEAL_INVALID_ARGUMENT.
 *  - WARPSEAL_OUT_OF_MEMORY is possible, and the next call may succeed.
 *
 * A struct that may grow begins with `struct_bytes`. The caller sets it to the struct's sizeof.
 * docs/api-conventions.md has what holds for all of it: forks, threads, devices, limits. */
#ifndef WARPSEAL_WARPSEAL_H
#define WARPSEAL_WARPSEAL_H

#include <stddef.h>
#include <stdint.h>

#if defined(WARPSEAL_BUILDING_SHARED)
#define WARPSEAL_API __attribute__((visibility("default")))
#else
#define WARPSEAL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status --------------------------------------------------------------------------------- */

typedef enum warpseal_status {
    WARPSEAL_OK = 0,
    WARPSEAL_INVALID_ARGUMENT = 1, /* a null pointer, a wrong length, an IV that the mode rejects */
    WARPSEAL_UNSUPPORTED = 2,      /* an unknown cipher, mode, file format or version */
    WARPSEAL_LIMIT_EXCEEDED = 3,   /* past what the mode's standard or the file format allows */
    WARPSEAL_WRONG_KEY = 4,        /* no slot of the file opens with the given secrets */
    WARPSEAL_NOT_AUTHENTIC = 5,    /* a tag does not verify; the output is wiped */
    WARPSEAL_TRUNCATED = 6,        /* the file ends too early */
    WARPSEAL_IO = 7,               /* reading or writing failed; the file result has errno */
    WARPSEAL_NO_DEVICE = 8,        /* the named device or target cannot be used here */
    WARPSEAL_SELF_TEST_FAILED = 9, /* known answers came out wrong; the path is closed */
    WARPSEAL_OUT_OF_MEMORY = 10,   /* no memory or no thread could be had */
    WARPSEAL_NO_RANDOM = 11,       /* the operating system's random source failed */
    WARPSEAL_CANCELLED = 12,       /* the progress callback asked to stop */
    WARPSEAL_WEAK_KEY = 13,        /* weak DES key, equal TDEA parts or XTS halves: no encryption */
    WARPSEAL_BAD_PADDING = 14      /* not PKCS#7 padding; the output is wiped */
} warpseal_status;

/* Returns one English sentence for a status: static storage, never null. */
WARPSEAL_API const char* warpseal_status_text(warpseal_status status);

/* Returns "MAJOR.MINOR.PATCH": static storage. */
WARPSEAL_API const char* warpseal_version(void);

/* ---- ciphers, targets, devices -------------------------------------------------------------- */

/* All modes but GCM, CCM and CMAC are unauthenticated: changed ciphertext is not noticed. */
typedef enum warpseal_mode {
    WARPSEAL_ECB = 0,  /* SP 800-38A 6.1; whole blocks */
    WARPSEAL_CTR = 1,  /* SP 800-38A 6.5; the IV is the first counter block, big-endian */
    WARPSEAL_GCM = 2,  /* SP 800-38D */
    WARPSEAL_CBC = 3,  /* SP 800-38A 6.2; whole blocks, or PKCS#7 padding by the _padded calls */
    WARPSEAL_CFB = 4,  /* SP 800-38A 6.3; segments of one block, the last may be short */
    WARPSEAL_OFB = 5,  /* SP 800-38A 6.4 */
    WARPSEAL_XTS = 6,  /* SP 800-38E, IEEE 1619; warpseal_key_create_xts and warpseal_xts_... */
    WARPSEAL_CCM = 7,  /* SP 800-38C */
    WARPSEAL_CMAC = 8, /* SP 800-38B: a tag over a message, no ciphertext */
    WARPSEAL_MODE_COUNT = 9
} warpseal_mode;

/* Returns "ecb", "ctr", "gcm", "cbc", "cfb", "ofb", "xts", "ccm" or "cmac"; null for no mode. */
WARPSEAL_API const char* warpseal_mode_name(warpseal_mode mode);

typedef struct warpseal_cipher_info {
    const char* name; /* "aes-256"; static storage */
    uint32_t key_bytes;
    uint32_t block_bytes;
    uint32_t modes; /* bit (1 << warpseal_mode) for each mode that the cipher has */
    int32_t legacy; /* 1: only for data that is already encrypted with it */
} warpseal_cipher_info;

/* Describes cipher number `index`, from 0.
 * WARPSEAL_INVALID_ARGUMENT: index is past the last. */
WARPSEAL_API warpseal_status warpseal_cipher_at(size_t index, warpseal_cipher_info* info);

typedef struct warpseal_target_info {
    const char* name;          /* "portable", "aesni", "avx2", "vaes256", "vaes512", "cuda" */
    int32_t usable;            /* 1: this machine has it and WARPSEAL_TARGETS does not mask it */
    const char* reason;        /* why it is not usable, or "" */
    const char* side_channels; /* "constant time", or what the target relies on */
} warpseal_target_info;

/* Describes target number `index`, from 0. Strings are static.
 * WARPSEAL_INVALID_ARGUMENT: index is past the last. */
WARPSEAL_API warpseal_status warpseal_target_at(size_t index, warpseal_target_info* info);

typedef struct warpseal_device_info {
    char name[128];
    char driver[32];             /* CUDA driver version, "13.0" */
    uint32_t compute_capability; /* 90 for 9.0 */
    uint32_t multiprocessors;
    uint64_t memory_bytes;
    uint64_t shared_bytes_per_block; /* opt-in shared memory */
} warpseal_device_info;

/* Describes CUDA GPU number `index`, from 0.
 * WARPSEAL_INVALID_ARGUMENT: index is past the last.
 * WARPSEAL_NO_DEVICE: there is no driver, no GPU, or the build has no CUDA. */
WARPSEAL_API warpseal_status warpseal_device_at(size_t index, warpseal_device_info* info);

/* ---- engine and keys ------------------------------------------------------------------------ */

typedef struct warpseal_engine warpseal_engine;
typedef struct warpseal_key warpseal_key;

typedef struct warpseal_engine_options {
    uint32_t struct_bytes;
    /* 0: as many as affinity and cgroup limits allow. 1: the caller's thread alone.
     * At most 4096. */
    uint32_t threads;
    /* Null or "auto": what is fastest, with fallback. "cpu". "cuda", "cuda:N", or several GPUs,
     * "cuda:0,1". One CPU target by name, "vaes256". All but auto never fall back. */
    const char* device;
    /* May be null. Gets one line without newline when a target fails its self-test or a GPU is
     * lost. It is called from any thread and must not call the engine. */
    void (*notice)(void* user, const char* text);
    void* notice_user;
} warpseal_engine_options;

/* Creates an engine. It owns its worker threads; any number of threads may use it.
 * options: null for the defaults.
 * WARPSEAL_NO_DEVICE: the named device cannot be used.
 * WARPSEAL_INVALID_ARGUMENT: there is no such name. */
WARPSEAL_API warpseal_status warpseal_engine_create(const warpseal_engine_options* options,
                                                    warpseal_engine** engine);

/* Destroys an engine. Null is allowed.
 * Not while calls, keys or captured CUDA graphs of the engine are alive. */
WARPSEAL_API void warpseal_engine_destroy(warpseal_engine* engine);

/* Returns the target that a call on `bytes` bytes of host memory would get: "vaes512", "cuda",
 * "cuda+vaes512"; "" if there is none. Static storage. It may open and test a GPU. */
WARPSEAL_API const char* warpseal_engine_pick(warpseal_engine* engine, const char* cipher,
                                              warpseal_mode mode, uint64_t bytes);

/* Creates a key for all modes of a cipher but XTS. The engine must outlive it. Keys are immutable:
 * any number of threads may use one.
 * key_bytes: exactly the cipher's. cipher: a name of warpseal_cipher_at.
 * WARPSEAL_UNSUPPORTED: no such cipher. Weak DES keys are created, for decryption. */
WARPSEAL_API warpseal_status warpseal_key_create(warpseal_engine* engine, const char* cipher,
                                                 const void* key, size_t key_bytes,
                                                 warpseal_key** out);

/* Creates a key for WARPSEAL_XTS alone: the data key, then the tweak key.
 * key_bytes: twice the cipher's. WARPSEAL_WEAK_KEY: the halves are equal. */
WARPSEAL_API warpseal_status warpseal_key_create_xts(warpseal_engine* engine, const char* cipher,
                                                     const void* key, size_t key_bytes,
                                                     warpseal_key** out);

/* Wipes and frees a key. Null is allowed. Not while calls with the key are in progress. */
WARPSEAL_API void warpseal_key_destroy(warpseal_key* key);

/* ---- one message in host memory ------------------------------------------------------------- */

/* Encrypt and decrypt in ECB, CTR, CBC, CFB and OFB. Unauthenticated.
 * iv: block_bytes bytes, none for ECB. It is read first and may lie in `out`.
 * out: equal to `in`, or apart from it. ECB and CBC take whole blocks.
 * WARPSEAL_WEAK_KEY: encryption under a weak or semi-weak DES key or TDEA key with equal parts. */
WARPSEAL_API warpseal_status warpseal_encrypt(const warpseal_key* key, warpseal_mode mode,
                                              const void* iv, size_t iv_bytes, const void* in,
                                              void* out, size_t bytes);
WARPSEAL_API warpseal_status warpseal_decrypt(const warpseal_key* key, warpseal_mode mode,
                                              const void* iv, size_t iv_bytes, const void* in,
                                              void* out, size_t bytes);

/* CBC with PKCS#7 padding (RFC 5652 6.3). *out_bytes receives what was written.
 * out_capacity: to encrypt, (bytes / block_bytes + 1) * block_bytes; to decrypt, `bytes`.
 * WARPSEAL_BAD_PADDING: `out` is wiped. The padding is examined in constant time, but this status
 * helps an attacker who sees it. Authenticate the ciphertext first. */
WARPSEAL_API warpseal_status warpseal_encrypt_padded(const warpseal_key* key, const void* iv,
                                                     size_t iv_bytes, const void* in, size_t bytes,
                                                     void* out, size_t out_capacity,
                                                     size_t* out_bytes);
WARPSEAL_API warpseal_status warpseal_decrypt_padded(const warpseal_key* key, const void* iv,
                                                     size_t iv_bytes, const void* in, size_t bytes,
                                                     void* out, size_t out_capacity,
                                                     size_t* out_bytes);

/* XTS over data units of data_unit_bytes each: 16 bytes to 2^20 blocks. Unauthenticated.
 * The last unit may be shorter, but not below 16 bytes. Units of partial blocks steal ciphertext.
 * first_unit: 16 bytes, the number of the first unit, least significant byte first. Each next unit
 * has the next number, modulo 2^128. */
WARPSEAL_API warpseal_status warpseal_xts_encrypt(const warpseal_key* key, const void* first_unit,
                                                  uint64_t data_unit_bytes, const void* in,
                                                  void* out, size_t bytes);
WARPSEAL_API warpseal_status warpseal_xts_decrypt(const warpseal_key* key, const void* first_unit,
                                                  uint64_t data_unit_bytes, const void* in,
                                                  void* out, size_t bytes);

/* Compute and verify a tag in WARPSEAL_CMAC. Comparison takes constant time.
 * tag_bytes: 1 to block_bytes; SP 800-38B appendix A advises at least 8.
 * WARPSEAL_NOT_AUTHENTIC: the tag differs. */
WARPSEAL_API warpseal_status warpseal_mac(const warpseal_key* key, warpseal_mode mode,
                                          const void* in, size_t bytes, void* tag,
                                          size_t tag_bytes);
WARPSEAL_API warpseal_status warpseal_mac_verify(const warpseal_key* key, warpseal_mode mode,
                                                 const void* in, size_t bytes, const void* tag,
                                                 size_t tag_bytes);

/* Seals a message in GCM or CCM under an IV that the call draws.
 * iv: receives 12 random bytes. It must be apart from `in` and `aad`.
 * out: equal to `in`, or apart from it; apart from the IV, the AAD and the tag in any case.
 * tag_bytes: GCM 12 to 16; CCM 4, 6, ... 16.
 * WARPSEAL_LIMIT_EXCEEDED: GCM messages over 2^36 - 32 bytes (SP 800-38D 5.2.1.1), CCM messages of
 * 16 MiB or more (SP 800-38C A.1), or 2^32 calls with this key handle (SP 800-38D 8.3). Messages
 * sealed otherwise, or under another handle of the same key bytes, are for the caller to count. */
WARPSEAL_API warpseal_status warpseal_seal(const warpseal_key* key, warpseal_mode mode, void* iv,
                                           const void* aad, size_t aad_bytes, const void* in,
                                           void* out, size_t bytes, void* tag, size_t tag_bytes);

/* Seals under the caller's IV. Unsafe: an IV used twice with a key reveals the XOR of the texts.
 * iv_bytes: GCM any but 0; CCM n = 7 to 13, for messages below 2^(8 (15 - n)) bytes. */
WARPSEAL_API warpseal_status warpseal_seal_unsafe_iv(const warpseal_key* key, warpseal_mode mode,
                                                     const void* iv, size_t iv_bytes,
                                                     const void* aad, size_t aad_bytes,
                                                     const void* in, void* out, size_t bytes,
                                                     void* tag, size_t tag_bytes);

/* Opens a message in GCM or CCM.
 * out: equal to `in`, or apart from it; apart from the IV, the AAD and the tag in any case.
 * WARPSEAL_NOT_AUTHENTIC: the tag does not verify; `out` is all zero bytes.
 * WARPSEAL_OUT_OF_MEMORY: `out` may have been wiped. Where it is also `in`, the ciphertext is lost
 * then: keep a copy if the call is to be repeated. */
WARPSEAL_API warpseal_status warpseal_open(const warpseal_key* key, warpseal_mode mode,
                                           const void* iv, size_t iv_bytes, const void* aad,
                                           size_t aad_bytes, const void* in, void* out,
                                           size_t bytes, const void* tag, size_t tag_bytes);

/* ---- many messages -------------------------------------------------------------------------- */

/* Message i
 *  - has lengths ? lengths[i] : message_bytes bytes,
 *  - reads in + (in_offsets ? in_offsets[i] : i * in_stride), and writes out likewise,
 *  - has its IV at ivs + i * iv_stride, its AAD at aad + i * aad_stride, its tag at
 *    tags + i * tag_stride. A stride of 0 shares one value between all messages.
 *
 * message_bytes: with lengths, their mean, or 0 if unknown. A GPU chooses its kernels by it.
 * keys: null for the call's key, or message_count keys of key_bytes each, expanded where they run.
 * iv_stride: under one key, at least iv_bytes when encrypting in CTR, OFB, GCM or CCM.
 * in, out: may be null in host memory where every message is empty.
 * statuses: receives a warpseal_status for each message. May be null, but not when opening or
 * verifying, nor in device memory with lengths in CBC, GCM or CCM.
 *
 * Messages run at once and in any order. A message's out equals its in or is apart from it. What is
 * written for a message overlaps nothing else that the batch reads or writes.
 * WARPSEAL_INVALID_ARGUMENT: strides without offsets break this for in and out. They may be one
 * memory with one stride, slots side by side of one stride, or wholly apart. With offsets, only a
 * message's own in and out are compared. */
typedef struct warpseal_batch {
    uint32_t struct_bytes;
    uint32_t iv_bytes;
    uint32_t tag_bytes;
    uint32_t reserved; /* 0 */
    uint64_t message_count;
    uint64_t message_bytes;
    const uint64_t* lengths;
    const uint8_t* keys;
    const uint8_t* ivs;
    uint64_t iv_stride;
    const uint8_t* aad;
    uint64_t aad_bytes;
    uint64_t aad_stride;
    const uint8_t* in;
    const uint64_t* in_offsets;
    uint64_t in_stride;
    uint8_t* out;
    const uint64_t* out_offsets;
    uint64_t out_stride;
    uint8_t* tags;
    uint64_t tag_stride;
    int32_t* statuses;
} warpseal_batch;

/* Batches in host memory. encrypt, decrypt: CTR, CBC, CFB, OFB. seal, open: GCM, CCM. mac,
 * mac_verify: CMAC, with no IV and `out` null.
 * WARPSEAL_NOT_AUTHENTIC: some messages do not verify; statuses say which, and only their outputs
 * are wiped. WARPSEAL_WEAK_KEY: one key of the batch may not encrypt; then nothing is encrypted.
 * Unsafe IVs: as warpseal_seal_unsafe_iv. batch.h: drawn IVs, and messages that lie anywhere. */
WARPSEAL_API warpseal_status warpseal_encrypt_batch(const warpseal_key* key, warpseal_mode mode,
                                                    const warpseal_batch* batch);
WARPSEAL_API warpseal_status warpseal_decrypt_batch(const warpseal_key* key, warpseal_mode mode,
                                                    const warpseal_batch* batch);
WARPSEAL_API warpseal_status warpseal_seal_batch_unsafe_iv(const warpseal_key* key,
                                                           warpseal_mode mode,
                                                           const warpseal_batch* batch);
WARPSEAL_API warpseal_status warpseal_open_batch(const warpseal_key* key, warpseal_mode mode,
                                                 const warpseal_batch* batch);
WARPSEAL_API warpseal_status warpseal_mac_batch(const warpseal_key* key, warpseal_mode mode,
                                                const warpseal_batch* batch);
WARPSEAL_API warpseal_status warpseal_mac_verify_batch(const warpseal_key* key, warpseal_mode mode,
                                                       const warpseal_batch* batch);

/* ---- data in device memory ------------------------------------------------------------------ */

/* One message in device memory: ECB, CTR, and decryption in CBC and CFB. Serial modes are batches.
 * Asynchronous on `stream`, on the GPU that holds the data, without hidden synchronisation.
 * in, out: device pointers, 16-byte aligned for full speed. iv: in host memory, read before return.
 * The call may be captured in a CUDA graph. A replay repeats its IVs. With device "auto" the first
 * call waits for a self-test; make one before capturing.
 * WARPSEAL_NO_DEVICE: the engine has no GPU. WARPSEAL_UNSUPPORTED: a serial mode. */
WARPSEAL_API warpseal_status warpseal_encrypt_device(const warpseal_key* key, warpseal_mode mode,
                                                     const void* iv, size_t iv_bytes,
                                                     const void* in, void* out, size_t bytes,
                                                     void* stream);
WARPSEAL_API warpseal_status warpseal_decrypt_device(const warpseal_key* key, warpseal_mode mode,
                                                     const void* iv, size_t iv_bytes,
                                                     const void* in, void* out, size_t bytes,
                                                     void* stream);
WARPSEAL_API warpseal_status warpseal_xts_encrypt_device(const warpseal_key* key,
                                                         const void* first_unit,
                                                         uint64_t data_unit_bytes, const void* in,
                                                         void* out, size_t bytes, void* stream);
WARPSEAL_API warpseal_status warpseal_xts_decrypt_device(const warpseal_key* key,
                                                         const void* first_unit,
                                                         uint64_t data_unit_bytes, const void* in,
                                                         void* out, size_t bytes, void* stream);

/* Batches in device memory. Every pointer in the batch is a device pointer. The struct itself is
 * read before return. Asynchronous and capturable as above. If a call fails, `out` is not
 * authentic. Data in device memory is not read beforehand. The caller sees to it that offsets do
 * not overlap and that no key is weak. A message of a length that the mode does not take is not
 * processed: its status is WARPSEAL_LIMIT_EXCEEDED, or WARPSEAL_INVALID_ARGUMENT for a partial
 * block in CBC. A message that does not verify is wiped before anything queued later on the stream
 * runs. */
WARPSEAL_API warpseal_status warpseal_encrypt_batch_device(const warpseal_key* key,
                                                           warpseal_mode mode,
                                                           const warpseal_batch* batch,
                                                           void* stream);
WARPSEAL_API warpseal_status warpseal_decrypt_batch_device(const warpseal_key* key,
                                                           warpseal_mode mode,
                                                           const warpseal_batch* batch,
                                                           void* stream);
WARPSEAL_API warpseal_status warpseal_seal_batch_device_unsafe_iv(const warpseal_key* key,
                                                                  warpseal_mode mode,
                                                                  const warpseal_batch* batch,
                                                                  void* stream);
WARPSEAL_API warpseal_status warpseal_open_batch_device(const warpseal_key* key, warpseal_mode mode,
                                                        const warpseal_batch* batch, void* stream);
WARPSEAL_API warpseal_status warpseal_mac_batch_device(const warpseal_key* key, warpseal_mode mode,
                                                       const warpseal_batch* batch, void* stream);
WARPSEAL_API warpseal_status warpseal_mac_verify_batch_device(const warpseal_key* key,
                                                              warpseal_mode mode,
                                                              const warpseal_batch* batch,
                                                              void* stream);

/* Allocates memory of the engine's first GPU, for callers without CUDA.
 * WARPSEAL_NO_DEVICE: the engine has no GPU. */
WARPSEAL_API warpseal_status warpseal_device_alloc(warpseal_engine* engine, size_t bytes,
                                                   void** out);

/* Wipes and frees memory of warpseal_device_alloc. Null and other memory are left alone. */
WARPSEAL_API void warpseal_device_free(warpseal_engine* engine, void* memory);

/* Copy between host and device memory, synchronously. WARPSEAL_NO_DEVICE: no GPU, or it is lost. */
WARPSEAL_API warpseal_status warpseal_device_upload(warpseal_engine* engine, void* to_device,
                                                    const void* from_host, size_t bytes);
WARPSEAL_API warpseal_status warpseal_device_download(warpseal_engine* engine, void* to_host,
                                                      const void* from_device, size_t bytes);

/* Waits for all work on the stream; null: on the default stream of each open GPU. */
WARPSEAL_API warpseal_status warpseal_device_synchronize(warpseal_engine* engine, void* stream);

/* Allocates page-aligned host memory. It is pinned if the engine has a GPU: calls on pinned memory
 * need no staging copy. */
WARPSEAL_API warpseal_status warpseal_host_alloc(warpseal_engine* engine, size_t bytes, void** out);

/* Wipes and frees memory of warpseal_host_alloc. Null and other memory are left alone. */
WARPSEAL_API void warpseal_host_free(warpseal_engine* engine, void* memory);

/* ---- files: docs/file-format.md ------------------------------------------------------------- */

typedef enum warpseal_format {
    WARPSEAL_FORMAT_WARPSEAL = 0,   /* a header with key slots, then the Cobblestone payload */
    WARPSEAL_FORMAT_COBBLESTONE = 1 /* a C2SP chunked-encryption message under a raw input key */
} warpseal_format;

typedef enum warpseal_secret_type {
    WARPSEAL_SECRET_KEY = 1,        /* the 32 bytes of a key file; Cobblestone: 16 or 32 bytes */
    WARPSEAL_SECRET_PASSPHRASE = 2, /* UTF-8 as typed, without the newline; not empty */
    /* Text as age writes it, without the newline. A recipient is public and seals: "age1…" or
     * "age1pq1…", or as we do: "warpntru1…". An identity opens: "AGE-SECRET-KEY-1…",
     * "AGE-SECRET-KEY-PQ-1…" or "WARPNTRU-SECRET-KEY-1…". */
    WARPSEAL_SECRET_RECIPIENT = 101,
    WARPSEAL_SECRET_IDENTITY = 102
} warpseal_secret_type;

typedef struct warpseal_secret {
    warpseal_secret_type type;
    const void* bytes;
    size_t byte_count;
} warpseal_secret;

typedef struct warpseal_file_options {
    uint32_t struct_bytes;
    warpseal_format format;
    /* Sealing: "aes-256-gcm" (also null), "aes-128-gcm", "aria-256-gcm" or "camellia-256-gcm".
     * Opening: null. */
    const char* suite;
    /* Sealing: one slot for each, not for an identity. Recipients that are post-quantum (age1pq1,
     * warpntru1) and others (age1) do not mix.
     * Opening: each is tried; no recipients. Cobblestone: exactly one key. */
    const warpseal_secret* secrets;
    size_t secret_count;
    const void* context; /* for WARPSEAL_FORMAT_COBBLESTONE alone */
    size_t context_bytes;
    uint32_t argon2_passes;     /* sealing with a passphrase: 0 for the default of 3 */
    uint32_t argon2_memory_kib; /* 0 for the default of 256 MiB; at most 1 GiB */
    /* May be null. Called now and then, from one thread at a time, with the plaintext bytes done
     * and expected (UINT64_MAX: unknown). Non-zero cancels the call. */
    int (*progress)(void* user, uint64_t done_bytes, uint64_t total_bytes);
    void* progress_user;
    /* 0: out_fd is written strictly in order, and after a failure holds an exact prefix.
     * 1: a regular file is written by position, from several threads. After a failure it may have
     * holes. For callers that discard it then. */
    int32_t any_order;
    /* May be null. Called once, on the calling thread, as soon as the secrets are no longer needed.
     * The caller may then wipe and free them. Not called where the call fails before. */
    void (*secrets_used)(void* user);
    void* secrets_user;
} warpseal_file_options;

typedef struct warpseal_file_result {
    uint32_t struct_bytes;
    int32_t system_error;         /* errno behind WARPSEAL_IO, else 0 */
    uint64_t plaintext_bytes;     /* sealed, or authenticated */
    uint64_t file_bytes;          /* written when sealing, read when opening */
    uint64_t output_bytes;        /* written to out_fd, also where the call failed */
    const char* target;           /* what ran: "vaes512", "cuda"; static storage; "" for nothing */
    int32_t header_copies_differ; /* opening: 1 if one header copy is damaged or outdated */
    char message[240];            /* what failed and why, without secrets; "" on success */
} warpseal_file_result;

/* Seals everything that can be read from in_fd to out_fd, from their current positions. Regular
 * files are read in parallel. Memory is bounded, whatever the size.
 * The descriptors are neither closed nor synced. After a failure the output is a prefix of a file
 * and must be dropped.
 * WARPSEAL_IO: also where a regular input's length or times changed meanwhile. */
WARPSEAL_API warpseal_status warpseal_file_seal(warpseal_engine* engine, int in_fd, int out_fd,
                                                const warpseal_file_options* options,
                                                warpseal_file_result* result);

/* Opens a sealed file. Only chunks whose tags verified are written, strictly in order. After a
 * failure out_fd holds an exact prefix of the plaintext, output_bytes long.
 * out_fd: -1 verifies without writing.
 * WARPSEAL_OK: the file is whole and nothing follows it.
 * WARPSEAL_LIMIT_EXCEEDED: no slot opens within the Argon2id budget. All passphrases together cost
 * at most 2^26 passes times KiB: 85 slots at the default cost. */
WARPSEAL_API warpseal_status warpseal_file_open(warpseal_engine* engine, int in_fd, int out_fd,
                                                const warpseal_file_options* options,
                                                warpseal_file_result* result);

typedef enum warpseal_hole_reason {
    WARPSEAL_HOLE_NOT_AUTHENTIC = 1, /* whole chunks that do not verify */
    WARPSEAL_HOLE_CUT_OR_CHANGED = 2 /* what the file ends with: too short for a whole chunk */
} warpseal_hole_reason;

/* A range of the plaintext that could not be authenticated and is filled with zeros. */
typedef struct warpseal_file_hole {
    uint64_t offset; /* in the plaintext and in the output */
    uint64_t bytes;  /* not 0 */
    warpseal_hole_reason reason;
} warpseal_file_hole;

typedef struct warpseal_rescue {
    uint32_t struct_bytes;
    /* May be null. Called for each hole in the order of the offsets, from one thread at a time.
     * Adjacent holes of one reason are one. Non-zero cancels the call. */
    int (*hole)(void* user, const warpseal_file_hole* hole);
    void* hole_user;
    /* Set by the call. The hole fields count the calls of `hole` and their bytes. */
    int32_t finished; /* 1: the output is finished. It has holes or no end unless WARPSEAL_OK. */
    uint64_t hole_count;
    uint64_t hole_bytes;
    int32_t end_found;        /* 1: the last chunk verified, so nothing is missing after it */
    uint64_t bytes_after_end; /* that follow the last chunk in the file; 0 if there is no end */
} warpseal_rescue;

/* Opens a damaged file. Writes each chunk that verifies at its offset, and zeros in place of the
 * others. No unauthenticated byte is written. out_fd is written in order; -1: lists holes only.
 * in_fd: a regular file. Its start must be intact but for one header copy (docs/file-format.md).
 * WARPSEAL_OK: the text is whole.
 * WARPSEAL_NOT_AUTHENTIC: the text has holes. WARPSEAL_TRUNCATED: it has none, but no end either.
 * With these two the output may be kept if rescue->finished is 1. Otherwise nothing was rescued.
 * Any other status: the output must be dropped.
 * result->plaintext_bytes: the bytes that were authenticated, without holes. */
WARPSEAL_API warpseal_status warpseal_file_rescue(warpseal_engine* engine, int in_fd, int out_fd,
                                                  const warpseal_file_options* options,
                                                  warpseal_rescue* rescue,
                                                  warpseal_file_result* result);

#define WARPSEAL_MAX_SLOTS 32

typedef enum warpseal_slot_type {
    WARPSEAL_SLOT_KEY = 1,
    WARPSEAL_SLOT_PASSPHRASE = 2,
    WARPSEAL_SLOT_X25519 = 3,          /* an age1 recipient */
    WARPSEAL_SLOT_MLKEM768_X25519 = 4, /* an age1pq1 recipient */
    WARPSEAL_SLOT_SSH_ED25519 = 5,     /* an SSH key, for the program `warpseal` alone */
    WARPSEAL_SLOT_SSH_RSA = 6,
    WARPSEAL_SLOT_NTRU_X25519 = 9, /* a warpntru1 recipient: NTRU-HPS-4096-821 with X25519 */
    WARPSEAL_SLOT_STANZA = 16      /* recipients of an age plugin, for the program alone */
} warpseal_slot_type;

typedef struct warpseal_slot_info {
    uint32_t type; /* a warpseal_slot_type, or one of a later version */
    uint32_t argon2_passes;
    uint32_t argon2_memory_kib;
} warpseal_slot_info;

typedef struct warpseal_file_info {
    uint32_t struct_bytes;
    uint32_t version;
    char suite[32]; /* "aes-256-gcm" */
    uint8_t file_id[16];
    uint32_t header_bytes;    /* offset of the payload */
    uint64_t generation;      /* of the header copy in force */
    uint64_t file_bytes;      /* UINT64_MAX if the input is not a regular file */
    uint64_t plaintext_bytes; /* computed from the length; UINT64_MAX likewise */
    uint32_t slot_count;
    warpseal_slot_info slots[WARPSEAL_MAX_SLOTS];
} warpseal_file_info;

/* Reads a file's header without a key. Nothing in it is authenticated.
 * WARPSEAL_UNSUPPORTED: not a Warpseal file, or a newer version. */
WARPSEAL_API warpseal_status warpseal_file_info_read(int in_fd, warpseal_file_info* info,
                                                     warpseal_file_result* result);

/* Fills memory from the operating system's random source, for key files.
 * WARPSEAL_NO_RANDOM: the source failed; the memory is wiped. */
WARPSEAL_API warpseal_status warpseal_random(void* out, size_t bytes);

/* Overwrites memory with zeros in a way that the compiler keeps. Null is allowed. */
WARPSEAL_API void warpseal_wipe(void* memory, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
