/* warpseal.h: the C interface of Warpseal: block ciphers in bulk, on cores and GPUs, and authenticated files.
 *
 * C99, no CUDA header: device pointers are plain pointers, a CUDA stream is a `void*` (null: the default stream).
 * Sizes are in bytes unless a name says otherwise. Every function that can fail returns a warpseal_status and is
 * thread-safe unless its comment says otherwise; nothing throws, prints or aborts. Structs that may grow begin with
 * `struct_bytes`, which the caller sets to sizeof the struct it was compiled with. */
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

/* ---- status ------------------------------------------------------------------------------------------------- */

typedef enum warpseal_status {
    WARPSEAL_OK = 0,
    WARPSEAL_INVALID_ARGUMENT = 1, /* a null pointer, a wrong length, an IV that the mode does not take */
    WARPSEAL_UNSUPPORTED = 2,      /* a cipher, mode, file format or version that this library does not have */
    WARPSEAL_LIMIT_EXCEEDED = 3,   /* past what the mode's standard or the file format allows */
    WARPSEAL_WRONG_KEY = 4,        /* no slot of the file opens with the given keys or passphrase */
    WARPSEAL_NOT_AUTHENTIC = 5,    /* a tag does not verify: changed, or another key; outputs are wiped */
    WARPSEAL_TRUNCATED = 6,        /* the file ends too early */
    WARPSEAL_IO = 7,               /* reading or writing failed; the file result carries errno */
    WARPSEAL_NO_DEVICE = 8,        /* the named device or target cannot be used on this machine */
    WARPSEAL_SELF_TEST_FAILED = 9, /* known answers did not come out: that path is closed for this process */
    WARPSEAL_OUT_OF_MEMORY = 10,
    WARPSEAL_NO_RANDOM = 11, /* the operating system's random source failed */
    WARPSEAL_CANCELLED = 12, /* the progress callback asked to stop */
    WARPSEAL_WEAK_KEY = 13,  /* a weak or semi-weak DES key, equal TDEA keys, or equal halves of an XTS key: not for encryption */
    WARPSEAL_BAD_PADDING = 14 /* the padding is not PKCS#7: another key, changed data, or never padded; `out` is wiped */
} warpseal_status;

/* One English sentence for a status. Never null; static storage. */
WARPSEAL_API const char* warpseal_status_text(warpseal_status status);

/* "MAJOR.MINOR.PATCH"; static storage. */
WARPSEAL_API const char* warpseal_version(void);

/* ---- what there is ------------------------------------------------------------------------------------------ */

typedef enum warpseal_mode {
    WARPSEAL_ECB = 0, /* SP 800-38A 6.1; unauthenticated; whole blocks */
    WARPSEAL_CTR = 1, /* SP 800-38A 6.5; unauthenticated; the IV is the whole first counter block, big-endian, mod 2^(block bits) */
    WARPSEAL_GCM = 2, /* SP 800-38D */
    WARPSEAL_CBC = 3, /* SP 800-38A 6.2; unauthenticated; whole blocks, or PKCS#7 padding by the _padded calls */
    WARPSEAL_CFB = 4, /* SP 800-38A 6.3 with segments of a whole block (CFB128, CFB64); the last one may be short; unauthenticated */
    WARPSEAL_OFB = 5, /* SP 800-38A 6.4; unauthenticated */
    WARPSEAL_XTS = 6, /* SP 800-38E, IEEE 1619; unauthenticated; keys by warpseal_key_create_xts, calls warpseal_xts_... */
    WARPSEAL_CCM = 7, /* SP 800-38C */
    WARPSEAL_CMAC = 8, /* SP 800-38B: a tag over a message, no ciphertext */
    WARPSEAL_MODE_COUNT = 9
} warpseal_mode;

/* "ecb", "ctr", "gcm", "cbc", "cfb", "ofb", "xts", "ccm", "cmac"; null for a value out of range. */
WARPSEAL_API const char* warpseal_mode_name(warpseal_mode mode);

typedef struct warpseal_cipher_info {
    const char* name; /* "aes-256" */
    uint32_t key_bytes;
    uint32_t block_bytes;
    uint32_t modes; /* bit (1 << warpseal_mode) for each mode it has */
    int32_t legacy; /* 1: only for data that is already under it */
} warpseal_cipher_info;

/* Ciphers are numbered from 0; WARPSEAL_INVALID_ARGUMENT past the last. Strings are static. */
WARPSEAL_API warpseal_status warpseal_cipher_at(size_t index, warpseal_cipher_info* info);

typedef struct warpseal_target_info {
    const char* name;   /* "portable", "aesni", "avx2", "vaes256", "vaes512", "cuda" */
    int32_t usable;     /* 1: this machine has it and WARPSEAL_TARGETS does not mask it */
    const char* reason; /* why not, or "" */
    const char* side_channels; /* "constant time", or in a few words what is relied upon */
} warpseal_target_info;

WARPSEAL_API warpseal_status warpseal_target_at(size_t index, warpseal_target_info* info);

typedef struct warpseal_device_info {
    char name[128];
    char driver[32];         /* CUDA driver version, "13.0" */
    uint32_t compute_capability; /* 90 for 9.0 */
    uint32_t multiprocessors;
    uint64_t memory_bytes;
    uint64_t shared_bytes_per_block; /* opt-in shared memory */
} warpseal_device_info;

/* CUDA GPUs from 0; WARPSEAL_INVALID_ARGUMENT past the last, WARPSEAL_NO_DEVICE where there is no driver or none built in. */
WARPSEAL_API warpseal_status warpseal_device_at(size_t index, warpseal_device_info* info);

/* ---- engine and keys ---------------------------------------------------------------------------------------- */

typedef struct warpseal_engine warpseal_engine;
typedef struct warpseal_key warpseal_key;

typedef struct warpseal_engine_options {
    uint32_t struct_bytes;
    uint32_t threads;   /* 0: as many as affinity and cgroup limits allow; 1: the caller's thread alone; at most 4096 */
    const char* device; /* null or "auto"; "cpu"; "cuda", "cuda:N", or several GPUs, "cuda:0,1"; or one target: "portable", "aesni", "avx2",
                           "vaes256", "vaes512". Anything but auto never falls back: WARPSEAL_NO_DEVICE if one of it cannot be used. */
    void (*notice)(void* user, const char* text); /* one line, no newline: a target failed its self-test, a GPU was lost; may be null */
    void* notice_user;
} warpseal_engine_options;

/* options may be null. The engine owns its threads; one engine serves any number of threads. */
WARPSEAL_API warpseal_status warpseal_engine_create(const warpseal_engine_options* options, warpseal_engine** engine);
/* Not while calls, keys or captured graphs of this engine are alive. Null is allowed. */
WARPSEAL_API void warpseal_engine_destroy(warpseal_engine* engine);

/* The target that `auto` would pick for that much data in host memory ("vaes512", "cuda", "cuda+vaes512"), decided as a call would. */
WARPSEAL_API const char* warpseal_engine_pick(warpseal_engine* engine, const char* cipher, warpseal_mode mode, uint64_t bytes);

/* A key of a cipher by name (warpseal_cipher_at), for all its modes but XTS. key_bytes must be exact. Immutable, shareable between threads. */
WARPSEAL_API warpseal_status warpseal_key_create(warpseal_engine* engine, const char* cipher, const void* key, size_t key_bytes,
                                                 warpseal_key** out);
/* A key for WARPSEAL_XTS alone: data key, then tweak key, 2 * key_bytes of the cipher in all. WARPSEAL_WEAK_KEY if the halves are equal. */
WARPSEAL_API warpseal_status warpseal_key_create_xts(warpseal_engine* engine, const char* cipher, const void* key, size_t key_bytes,
                                                     warpseal_key** out);
/* Wipes and frees. Null is allowed. */
WARPSEAL_API void warpseal_key_destroy(warpseal_key* key);

/* ---- one message in host memory ----------------------------------------------------------------------------- */

/* Modes without a tag: ECB, CTR, CBC, CFB, OFB. `out` may equal `in`; otherwise the two must not overlap. iv: block_bytes, none for ECB;
 * never padded or cut; it is read first, so it may lie in out. ECB and CBC take whole blocks. Unauthenticated: whoever can change the output
 * can change the message.
 * A key that is weak (or semi-weak) for DES, or TDEA's with equal parts, is made, and decrypts and verifies what there is of old data;
 * each call that would encrypt, seal or authenticate under it is WARPSEAL_WEAK_KEY. */
WARPSEAL_API warpseal_status warpseal_encrypt(const warpseal_key* key, warpseal_mode mode, const void* iv, size_t iv_bytes,
                                              const void* in, void* out, size_t bytes);
WARPSEAL_API warpseal_status warpseal_decrypt(const warpseal_key* key, warpseal_mode mode, const void* iv, size_t iv_bytes,
                                              const void* in, void* out, size_t bytes);

/* CBC with PKCS#7 padding (RFC 5652 6.3): 1 to block_bytes bytes more, so out needs (bytes / block_bytes + 1) * block_bytes. Written bytes
 * in *out_bytes. Decryption needs `bytes` of room, looks at the padding in constant time, and on WARPSEAL_BAD_PADDING wipes out: telling
 * an attacker of it, also by time, gives plaintext away: authenticate first. in and out as for warpseal_encrypt. */
WARPSEAL_API warpseal_status warpseal_encrypt_padded(const warpseal_key* key, const void* iv, size_t iv_bytes, const void* in, size_t bytes,
                                                     void* out, size_t out_room, size_t* out_bytes);
WARPSEAL_API warpseal_status warpseal_decrypt_padded(const warpseal_key* key, const void* iv, size_t iv_bytes, const void* in, size_t bytes,
                                                     void* out, size_t out_room, size_t* out_bytes);

/* XTS over data units of data_unit_bytes (16 bytes to 2^20 blocks) each, but for the last, which may be shorter, though never than 16 bytes;
 * a unit that is not whole blocks steals ciphertext. first_unit: 16 bytes, the number of the first unit, least significant byte first; each
 * next unit has the next number, modulo 2^128. Unauthenticated. */
WARPSEAL_API warpseal_status warpseal_xts_encrypt(const warpseal_key* key, const void* first_unit, uint64_t data_unit_bytes, const void* in,
                                                  void* out, size_t bytes);
WARPSEAL_API warpseal_status warpseal_xts_decrypt(const warpseal_key* key, const void* first_unit, uint64_t data_unit_bytes, const void* in,
                                                  void* out, size_t bytes);

/* CMAC: tag_bytes of 1 to block_bytes (SP 800-38B appendix A: fewer than 8 only after thought). warpseal_mac_verify compares in constant
 * time: WARPSEAL_NOT_AUTHENTIC if it differs. mode: WARPSEAL_CMAC. */
WARPSEAL_API warpseal_status warpseal_mac(const warpseal_key* key, warpseal_mode mode, const void* in, size_t bytes, void* tag,
                                          size_t tag_bytes);
WARPSEAL_API warpseal_status warpseal_mac_verify(const warpseal_key* key, warpseal_mode mode, const void* in, size_t bytes, const void* tag,
                                                 size_t tag_bytes);

/* AEAD: GCM and CCM. Draws a random IV of 12 bytes and writes it to iv, then writes the ciphertext and the tag. GCM: tags of 12 to 16 bytes, at
 * most 2^36 - 32 bytes a message and 2^32 calls a key handle (SP 800-38D 5.2.1.1, 8.3); messages sealed otherwise, and under another handle of
 * the same key bytes, are for the caller to count. CCM: tags of 4, 6, ..., 16 bytes, IVs of n = 7 to 13, and
 * less than 2^(8 (15 - n)) bytes a message: 16 MiB under a drawn IV (SP 800-38C A.1). in and out as for warpseal_encrypt. That out overlaps
 * the IV, the AAD or the tag, or the tag the IV, is WARPSEAL_INVALID_ARGUMENT; that a drawn IV does not overwrite in or aad is the caller's part. */
WARPSEAL_API warpseal_status warpseal_seal(const warpseal_key* key, warpseal_mode mode, void* iv, const void* aad, size_t aad_bytes,
                                           const void* in, void* out, size_t bytes, void* tag, size_t tag_bytes);
/* The same with the caller's IV: of any length but 0 for GCM, of 7 to 13 bytes for CCM. Unsafe: two messages under one key and IV give
 * both away. */
WARPSEAL_API warpseal_status warpseal_seal_unsafe_iv(const warpseal_key* key, warpseal_mode mode, const void* iv, size_t iv_bytes,
                                                     const void* aad, size_t aad_bytes, const void* in, void* out, size_t bytes,
                                                     void* tag, size_t tag_bytes);
/* WARPSEAL_NOT_AUTHENTIC leaves `out` wiped (all zero bytes). */
WARPSEAL_API warpseal_status warpseal_open(const warpseal_key* key, warpseal_mode mode, const void* iv, size_t iv_bytes, const void* aad,
                                           size_t aad_bytes, const void* in, void* out, size_t bytes, const void* tag, size_t tag_bytes);

/* ---- many messages ------------------------------------------------------------------------------------------ */

/* Message i reads in + (in_offsets ? in_offsets[i] : i * in_stride), writes out + the same for out, has
 * lengths ? lengths[i] : message_bytes bytes, IV ivs + i * iv_stride, AAD aad + i * aad_stride, tag tags + i * tag_stride.
 * A stride of 0 shares one value between all messages. Under one key no two messages that are encrypted in CTR, OFB, GCM or CCM may have one
 * IV: iv_stride below iv_bytes is then WARPSEAL_INVALID_ARGUMENT. in and out may be null in host memory where every message is empty. keys: null for the key of the call, else message_count keys of key_bytes each,
 * one after the other, expanded where the batch runs. statuses[i] receives a warpseal_status; may be null but for
 * warpseal_open_batch, warpseal_mac_verify_batch and their _device forms.
 * Messages run at once and in any order: a message's out equals its in or is apart from it, and what is written for a message (out, tag,
 * status) overlaps nothing else that the batch reads or writes. WARPSEAL_INVALID_ARGUMENT where strides without offsets break this for in and
 * out: they may be one memory with one stride, or in slots side by side of one stride, or wholly apart. Under offsets each message's in and
 * out are compared with each other alone; that different messages' do not overlap is then the caller's part. */
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

/* Modes: CTR, CBC, CFB, OFB; GCM and CCM; CMAC, which reads messages and writes or compares tags, with no IV and out null. With
 * batch->keys set, `key` gives the cipher and engine and its own key is not used; WARPSEAL_WEAK_KEY if one of them may not encrypt: then
 * nothing is. Returns WARPSEAL_OK if every message succeeded, WARPSEAL_NOT_AUTHENTIC if some did not (see statuses; only those outputs are wiped). */
WARPSEAL_API warpseal_status warpseal_encrypt_batch(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch);
WARPSEAL_API warpseal_status warpseal_decrypt_batch(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch);
WARPSEAL_API warpseal_status warpseal_seal_batch_unsafe_iv(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch);
WARPSEAL_API warpseal_status warpseal_open_batch(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch);
WARPSEAL_API warpseal_status warpseal_mac_batch(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch);
WARPSEAL_API warpseal_status warpseal_mac_verify_batch(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch);

/* ---- data in device memory ---------------------------------------------------------------------------------- */

/* Asynchronous on `stream`, on the engine's GPU that holds out (a batch: in): no hidden synchronisation, may be captured in a CUDA graph
 * (whose replay repeats IVs: is that what you want?). in and out are device pointers, 16-byte aligned for full speed; iv, of the host, is read
 * before return. WARPSEAL_NO_DEVICE unless the engine has a GPU. `auto`: the first call waits for its self-test: make one before capturing. */
WARPSEAL_API warpseal_status warpseal_encrypt_device(const warpseal_key* key, warpseal_mode mode, const void* iv, size_t iv_bytes,
                                                     const void* in, void* out, size_t bytes, void* stream);
WARPSEAL_API warpseal_status warpseal_decrypt_device(const warpseal_key* key, warpseal_mode mode, const void* iv, size_t iv_bytes,
                                                     const void* in, void* out, size_t bytes, void* stream);
WARPSEAL_API warpseal_status warpseal_xts_encrypt_device(const warpseal_key* key, const void* first_unit, uint64_t data_unit_bytes,
                                                         const void* in, void* out, size_t bytes, void* stream);
WARPSEAL_API warpseal_status warpseal_xts_decrypt_device(const warpseal_key* key, const void* first_unit, uint64_t data_unit_bytes,
                                                         const void* in, void* out, size_t bytes, void* stream);
/* The _device calls take ECB, CTR, and the decryption of CBC and CFB; what is serial in one message is a batch there.
 * Every pointer inside the batch is a device pointer; the struct itself is read before return. statuses must not be null when opening.
 * What lies in device memory is not looked at beforehand: that lengths keep to the mode's limits, that offsets do not overlap and that
 * no key is weak is the caller's part.
 * A message that does not verify is wiped on the device, in stream order, before anything queued later on the stream runs. */
WARPSEAL_API warpseal_status warpseal_encrypt_batch_device(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch,
                                                           void* stream);
WARPSEAL_API warpseal_status warpseal_decrypt_batch_device(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch,
                                                           void* stream);
WARPSEAL_API warpseal_status warpseal_seal_batch_device_unsafe_iv(const warpseal_key* key, warpseal_mode mode,
                                                                  const warpseal_batch* batch, void* stream);
WARPSEAL_API warpseal_status warpseal_open_batch_device(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch,
                                                        void* stream);
WARPSEAL_API warpseal_status warpseal_mac_batch_device(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch, void* stream);
WARPSEAL_API warpseal_status warpseal_mac_verify_batch_device(const warpseal_key* key, warpseal_mode mode, const warpseal_batch* batch,
                                                              void* stream);

/* Device memory of the engine's GPU (`cuda:0,1`: of the first), for callers without CUDA headers. Copies are synchronous. Free wipes all of it
 * first. It leaves null and memory that warpseal_device_alloc of this engine did not give alone. */
WARPSEAL_API warpseal_status warpseal_device_alloc(warpseal_engine* engine, size_t bytes, void** out);
WARPSEAL_API void warpseal_device_free(warpseal_engine* engine, void* memory);
WARPSEAL_API warpseal_status warpseal_device_upload(warpseal_engine* engine, void* to_device, const void* from_host, size_t bytes);
WARPSEAL_API warpseal_status warpseal_device_download(warpseal_engine* engine, void* to_host, const void* from_device, size_t bytes);
WARPSEAL_API warpseal_status warpseal_device_synchronize(warpseal_engine* engine, void* stream);
/* Pinned if the engine has a GPU (then host-to-host calls on it need no staging copy), ordinary page-aligned memory otherwise. Free wipes and
 * skips as above. */
WARPSEAL_API warpseal_status warpseal_host_alloc(warpseal_engine* engine, size_t bytes, void** out);
WARPSEAL_API void warpseal_host_free(warpseal_engine* engine, void* memory);

/* ---- files: docs/file-format.md ----------------------------------------------------------------------------- */

typedef enum warpseal_format {
    WARPSEAL_FORMAT_WARPSEAL = 0,   /* envelope with key slots, then the Cobblestone payload */
    WARPSEAL_FORMAT_COBBLESTONE = 1 /* the C2SP chunked-encryption message alone, under a raw input key */
} warpseal_format;

typedef enum warpseal_secret_type {
    WARPSEAL_SECRET_KEY = 1,       /* the 32 bytes of a key file; with WARPSEAL_FORMAT_COBBLESTONE the 16- or 32-byte input key */
    WARPSEAL_SECRET_PASSPHRASE = 2 /* UTF-8 as typed, without the newline; not empty */
} warpseal_secret_type;

typedef struct warpseal_secret {
    warpseal_secret_type type;
    const void* bytes;
    size_t byte_count;
} warpseal_secret;

typedef struct warpseal_file_options {
    uint32_t struct_bytes;
    warpseal_format format;
    const char* suite; /* sealing: "aes-256-gcm" (null: this one), "aes-128-gcm", "aria-256-gcm", "camellia-256-gcm"; opening: null */
    const warpseal_secret* secrets; /* sealing: one slot each (Cobblestone: exactly one key); opening: each is tried */
    size_t secret_count;
    const void* context; /* WARPSEAL_FORMAT_COBBLESTONE only */
    size_t context_bytes;
    uint32_t argon2_passes;     /* sealing with a passphrase: 0 for the default of 3 */
    uint32_t argon2_memory_kib; /* 0 for the default of 256 MiB; at most 1 GiB */
    /* Called now and then from one thread at a time with plaintext bytes done and expected (UINT64_MAX: unknown); non-zero cancels. */
    int (*progress)(void* user, uint64_t done_bytes, uint64_t total_bytes);
    void* progress_user;
    /* 0: out_fd is written strictly in order, and after a failure holds an exact prefix. 1: a regular file is written by position, from
     * several threads: after a failure the output may contain holes; for callers that discard it then. */
    int32_t any_order;
    /* Called once, on the thread of the call, as soon as the call needs the secrets no more: the caller may wipe and free them. Not
     * called where the call fails before. May be null. */
    void (*secrets_used)(void* user);
    void* secrets_user;
} warpseal_file_options;

typedef struct warpseal_file_result {
    uint32_t struct_bytes;
    int32_t system_error;     /* errno behind WARPSEAL_IO, else 0 */
    uint64_t plaintext_bytes; /* sealed, or authenticated */
    uint64_t file_bytes;      /* written when sealing, read when opening */
    uint64_t output_bytes;    /* written to out_fd, also where the call failed; 0: nothing was */
    const char* target;       /* what ran: "vaes512", "cuda"; static storage; "" before anything ran */
    int32_t header_copies_differ; /* opening: 1 if one copy of the header is damaged, or a change of keys was not finished */
    char message[240];        /* what failed and why, never a secret or plaintext; "" on success */
} warpseal_file_result;

/* Seal everything readable from in_fd to out_fd, from their current positions; regular files are read in parallel, and written in
 * parallel with any_order. Memory is bounded whatever the size. On failure what was written to out_fd is useless and must be dropped: it
 * is a prefix of a file, which does not open as a whole one. The input is read once; if it is a regular file whose length, or time of
 * modification or change, is another one in the end, WARPSEAL_IO. Neither descriptor is closed or synced. */
WARPSEAL_API warpseal_status warpseal_file_seal(warpseal_engine* engine, int in_fd, int out_fd, const warpseal_file_options* options,
                                                warpseal_file_result* result);
/* Open: only chunks whose tag verified are written. They are written strictly in order, whatever out_fd is: after a failure it holds an
 * exact prefix of the verified plaintext, output_bytes long, and its position is behind that. With any_order a regular file may then
 * contain holes: zeros in place of chunks that were not written. out_fd -1 verifies without writing.
 * WARPSEAL_OK only if the file is whole and nothing follows it. All passphrases together cost at most 2^26 passes times KiB of Argon2id
 * (85 slots at the default cost), whatever the file asks for: slots beyond that are not tried, WARPSEAL_LIMIT_EXCEEDED if none opens. */
WARPSEAL_API warpseal_status warpseal_file_open(warpseal_engine* engine, int in_fd, int out_fd, const warpseal_file_options* options,
                                                warpseal_file_result* result);

#define WARPSEAL_MAX_SLOTS 32

typedef struct warpseal_slot_info {
    uint32_t type; /* a warpseal_secret_type */
    uint32_t argon2_passes;
    uint32_t argon2_memory_kib;
} warpseal_slot_info;

typedef struct warpseal_file_info {
    uint32_t struct_bytes;
    uint32_t version;
    char suite[32]; /* "aes-256-gcm" */
    uint8_t file_id[16];
    uint32_t header_bytes;   /* offset of the payload */
    uint64_t generation;     /* of the header copy in force */
    uint64_t file_bytes;     /* UINT64_MAX if the input is not a regular file */
    uint64_t plaintext_bytes; /* from the length, unauthenticated; UINT64_MAX likewise */
    uint32_t slot_count;
    warpseal_slot_info slots[WARPSEAL_MAX_SLOTS];
} warpseal_file_info;

/* What a file's header says, without a key and so unauthenticated. WARPSEAL_UNSUPPORTED: not a file of ours, or a newer version. */
WARPSEAL_API warpseal_status warpseal_file_info_read(int in_fd, warpseal_file_info* info, warpseal_file_result* result);

/* Fills `bytes` bytes from the operating system's random source: for key files. */
WARPSEAL_API warpseal_status warpseal_random(void* out, size_t bytes);
/* Overwrites in a way that the compiler keeps. */
WARPSEAL_API void warpseal_wipe(void* memory, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
