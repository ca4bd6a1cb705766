// The door: what the engine may ask of a backend, as plain structs of function pointers crossed
// once per piece of work.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/known_block.h"
#include "warpseal/warpseal.h"  // warpseal_status, warpseal_mode, warpseal_batch: the words both sides speak

namespace warpseal {

enum class Direction : uint8_t { encrypt = 0, decrypt = 1 };
inline constexpr int direction_count = 2;

enum class Target : uint8_t {
    portable = 0,
    aesni = 1,
    avx2 = 2,
    vaes256 = 3,
    vaes512 = 4,
    cuda = 5
};
inline constexpr int cpu_target_count = 5;
inline constexpr int target_count = 6;

// One GCM message in progress: pre-counter block J0 and the running GHASH sum (SP 800-38D 7.1).
struct GcmRun {
    uint8_t counter0[16];
    uint8_t sum[16];
};

// XTS (IEEE 1619): data units of unit_bytes each, of which the last may be shorter, but never than
// a block. The tweak of the first is a number, least significant byte first, and each next unit has
// the next number.
struct XtsUnits {
    uint8_t first[16];
    uint64_t unit_bytes;
};

// What a cipher is, the same on every target.
struct CipherFacts {
    const char* name;  // "aes-256"
    uint32_t key_bytes;
    uint32_t block_bytes;
    uint32_t modes;  // bit (1 << warpseal_mode)
    bool legacy;     // for old data alone: the faces ask for a word of consent
    // Keys that encryption refuses (weak and semi-weak, equal parts); null: none. In constant time.
    bool (*weak)(const uint8_t* key);
};

// A cipher with one key size on one CPU target. All functions are pure: no allocation, no lock, no
// failure. `state` is state_bytes of 64-byte-aligned memory that `expand` filled; it holds secrets
// and its owner wipes it.
struct CpuCipher : CipherFacts {
    uint32_t state_bytes;
    const char* form;  // what runs it here: "instructions", "bytes", "words" or "planes"

    void (*expand)(void* state, const uint8_t* key);

    // Sweep: `bytes` bytes that begin at block `first_block` of a message; null where the mode is
    // not a sweep: ECB, CTR, and CBC and CFB decryption. iv: block_bytes (null for ECB); for CBC
    // and CFB the ciphertext block before these, and first_block does not matter. CTR and CFB take
    // a last block that is not whole. in == out or disjoint.
    using Sweep = void (*)(const void* state, const uint8_t* iv, uint64_t first_block,
                           const uint8_t* in, uint8_t* out, size_t bytes);
    Sweep sweep[WARPSEAL_MODE_COUNT][direction_count];

    // XTS, with ciphertext stealing in a unit that is not whole blocks; `tweak_state` is the
    // expanded second half of the key.
    using Xts = void (*)(const void* state, const void* tweak_state, const XtsUnits& units,
                         const uint8_t* in, uint8_t* out, size_t bytes);
    Xts xts[direction_count];

    // GCM of one message in pieces: begin; pieces in order on one run, or each on a run of its own
    // whose sum began as zero, then combine in order; finish. Only the last piece may end within a
    // block. first_block counts from the message's start.
    void (*gcm_begin)(const void* state, const uint8_t* iv, size_t iv_bytes, const uint8_t* aad,
                      size_t aad_bytes, GcmRun* run);
    using GcmPiece = void (*)(const void* state, GcmRun* run, uint64_t first_block,
                              const uint8_t* in, uint8_t* out, size_t bytes);
    GcmPiece gcm_piece[direction_count];
    // sum = sum * H^block_count + part
    void (*gcm_combine)(const void* state, uint8_t sum[16], const uint8_t part[16],
                        uint64_t block_count);
    void (*gcm_finish)(const void* state, const GcmRun* run, uint64_t aad_bytes,
                       uint64_t text_bytes, uint8_t tag[16]);

    // Batch: messages [first, first + count), whole, each in this call: CTR, CBC, CFB, OFB, GCM,
    // CCM, CMAC. A message of a mode that is serial within it (CBC and CFB encryption, OFB, CCM,
    // CMAC) is a batch of one. CMAC reads `in` and writes or compares `tags` alone. state null:
    // batch.keys are expanded here, on the stack, and wiped. Writes a status per message where
    // batch.statuses is set; a message that does not verify is wiped (CMAC: has no output). Returns
    // how many did not verify. Arguments were checked by the engine. Verification compares in
    // constant time. Null where the mode has no batch.
    using Batch = uint64_t (*)(const void* state, const warpseal_batch& batch, uint64_t first,
                               uint64_t count);
    Batch batch[WARPSEAL_MODE_COUNT][direction_count];

    KnownBlock known = {};  // of the cipher header: what the self-test holds ECB to
};

// What one object file (one cipher header, one target) exports: its ciphers, one per key size.
struct CpuCipherSet {
    const CpuCipher* ciphers;
    uint32_t count;
};

// The CPU backend: the cipher by name on that target; null if the target has no form of it. Says
// nothing about this machine.
const CpuCipher* cpu_cipher(Target target, const char* name);
// The ciphers of the portable target, which has all of them, from 0; null past the last.
const CpuCipher* cpu_cipher_at(size_t index);
// Whether this machine's CPU (and the operating system's saved registers) can run the target.
bool cpu_has(Target target);

// ---- CUDA
// ------------------------------------------------------------------------------------------------------

// A cipher with one key size on a GPU. Calls are asynchronous on `stream` of the current device and
// capturable.
struct CudaCipher : CipherFacts {
    uint32_t state_bytes;  // of host memory; passed to kernels by value, so no device memory holds
                           // the key
    const char* form;      // what runs it there: "tables", "words", "bytes" or "planes"

    void (*expand)(void* state, const uint8_t* key);  // on the host, constant time
    using Sweep = warpseal_status (*)(const void* state, const uint8_t* iv, uint64_t first_block,
                                      const uint8_t* in, uint8_t* out, size_t bytes, void* stream);
    Sweep sweep[WARPSEAL_MODE_COUNT][direction_count];
    using Xts = warpseal_status (*)(const void* state, const void* tweak_state,
                                    const XtsUnits& units, const uint8_t* in, uint8_t* out,
                                    size_t bytes, void* stream);
    Xts xts[direction_count];
    // Every pointer in the batch is a device pointer. state null: keys per message, expanded on the
    // device.
    using Batch = warpseal_status (*)(const void* state, const warpseal_batch& batch, void* stream);
    Batch batch[WARPSEAL_MODE_COUNT][direction_count];

    // For the backend's own pipeline. A piece of one GCM message, in device memory as in CpuCipher;
    // *sum, 16 bytes there, is exclusive-ored with the piece's own GHASH sum. gcm_combine runs on
    // the host: sum = sum * H^block_count + part.
    using GcmPiece = warpseal_status (*)(const void* state, const uint8_t counter0[16],
                                         uint64_t first_block, const uint8_t* in, uint8_t* out,
                                         size_t bytes, void* sum, void* stream);
    GcmPiece gcm_piece[direction_count];
    void (*gcm_combine)(const void* state, uint8_t sum[16], const uint8_t part[16],
                        uint64_t block_count);
};

struct CudaCipherSet {
    const CudaCipher* ciphers;
    uint32_t count;
};

// The CUDA backend. Host-memory calls are synchronous. Errors come back as WARPSEAL_NO_DEVICE
// (absent, or lost: a sticky error, after which the backend itself makes no CUDA call again in this
// process) or WARPSEAL_OUT_OF_MEMORY (retryable). A host-memory call that fails leaves `in` as it
// was, also in place, and `done_bytes`/`done_messages` says how much of `out` is already final,
// from the front. Tests put a scripted door in its place.
struct CudaDoor {
    const CudaCipher* (*cipher)(const char* name);
    warpseal_status (*device_count)(int* count);
    warpseal_status (*describe)(int device, warpseal_device_info* info);
    bool (*lost)();  // a sticky error happened, or this process is a fork of the one that
                     // initialised CUDA

    warpseal_status (*device_alloc)(int device, size_t bytes, void** out);
    void (*device_free)(int device, void* memory, size_t bytes);
    warpseal_status (*host_alloc)(int device, size_t bytes, void** out);  // pinned
    void (*host_free)(int device, void* memory, size_t bytes);
    warpseal_status (*upload)(int device, void* to, const void* from, size_t bytes);
    warpseal_status (*download)(int device, void* to, const void* from, size_t bytes);
    warpseal_status (*synchronize)(int device, void* stream);
    // Device time of the work that `work(user, stream)` queues, in milliseconds, between two
    // events.
    warpseal_status (*time)(int device, warpseal_status (*work)(void* user, void* stream),
                            void* user, float* milliseconds);

    warpseal_status (*sweep_device)(int device, const CudaCipher& cipher, const void* state,
                                    warpseal_mode mode, Direction direction, const uint8_t* iv,
                                    const uint8_t* in, uint8_t* out, size_t bytes, void* stream);
    warpseal_status (*xts_device)(int device, const CudaCipher& cipher, const void* state,
                                  const void* tweak_state, Direction direction,
                                  const XtsUnits& units, const uint8_t* in, uint8_t* out,
                                  size_t bytes, void* stream);
    warpseal_status (*batch_device)(int device, const CudaCipher& cipher, const void* state,
                                    warpseal_mode mode, Direction direction,
                                    const warpseal_batch& batch, void* stream);

    // The pipeline: copy in, run, copy out, overlapped over pinned slots; device memory stays
    // bounded. `previous` (null: not wanted) receives the ciphertext block before byte *done_bytes
    // in CBC and CFB decryption, which in place is no longer in `in`: block_bytes.
    warpseal_status (*sweep_host)(int device, const CudaCipher& cipher, const void* state,
                                  warpseal_mode mode, Direction direction, const uint8_t* iv,
                                  uint64_t first_block, const uint8_t* in, uint8_t* out,
                                  size_t bytes, size_t* done_bytes, uint8_t* previous);
    // *done_bytes ends at a whole unit.
    warpseal_status (*xts_host)(int device, const CudaCipher& cipher, const void* state,
                                const void* tweak_state, Direction direction, const XtsUnits& units,
                                const uint8_t* in, uint8_t* out, size_t bytes, size_t* done_bytes);
    // A piece of one GCM message, as CpuCipher::gcm_piece: the run's sum ends up covering the first
    // *done_bytes bytes, also on failure.
    warpseal_status (*gcm_host)(int device, const CudaCipher& cipher, const void* state,
                                Direction direction, GcmRun* run, uint64_t first_block,
                                const uint8_t* in, uint8_t* out, size_t bytes, size_t* done_bytes);
    // not_authentic: how many messages did not verify (their outputs are wiped). Messages before
    // *done_messages are final.
    warpseal_status (*batch_host)(int device, const CudaCipher& cipher, const void* state,
                                  warpseal_mode mode, Direction direction,
                                  const warpseal_batch& batch, uint64_t* done_messages,
                                  uint64_t* not_authentic);
    // When a key goes: what the driver keeps of the last launches' parameters, round keys among
    // them, is overwritten. Waits for nothing. Null in tests' doors.
    void (*forget)(int device);
};

// The real one; null in a build without CUDA. Never initialises CUDA by itself.
const CudaDoor* cuda_door();

}  // namespace warpseal
