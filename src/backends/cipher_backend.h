// What a backend gives for ciphers: plain structs of function pointers, called once per chunk.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/known_answer.h"
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
    const char* representation;  // what runs it here: "instructions", "bytes", "words" or "planes"

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
    using GcmSegment = void (*)(const void* state, GcmRun* run, uint64_t first_block,
                                const uint8_t* in, uint8_t* out, size_t bytes);
    GcmSegment gcm_segment[direction_count];
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

    KnownAnswer known = {};  // of the cipher header: what the self-test holds ECB to
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

// A cipher with one key size on a GPU. Calls are asynchronous on `stream` of the current device and
// capturable.
struct CudaCipher : CipherFacts {
    uint32_t state_bytes;  // of host memory; passed to kernels by value, so no device memory holds
                           // the key
    const char* representation;  // what runs it there: "tables", "words", "bytes" or "planes"

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
    using GcmSegment = warpseal_status (*)(const void* state, const uint8_t counter0[16],
                                           uint64_t first_block, const uint8_t* in, uint8_t* out,
                                           size_t bytes, void* sum, void* stream);
    GcmSegment gcm_segment[direction_count];
    void (*gcm_combine)(const void* state, uint8_t sum[16], const uint8_t part[16],
                        uint64_t block_count);
};

struct CudaCipherSet {
    const CudaCipher* ciphers;
    uint32_t count;
};

}  // namespace warpseal
