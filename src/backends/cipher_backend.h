// Backend interface for ciphers: plain structs of function pointers, called once for each chunk.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/known_answer.h"
#include "warpseal/batch.h"

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

// State of one GCM message: the pre-counter block J0 and the GHASH accumulator (SP 800-38D 7.1).
struct GcmState {
    uint8_t counter0[16];
    uint8_t sum[16];
};

// XTS (IEEE 1619) data units of unit_bytes each. The last may be shorter, but not shorter than a
// block. `first` is the number of the first unit, least significant byte first; each following unit
// has the next number.
struct XtsUnits {
    uint8_t first[16];
    uint64_t unit_bytes;
};

// Properties of a cipher that are the same on every target.
struct CipherFacts {
    const char* name;  // "aes-256"
    uint32_t key_bytes;
    uint32_t block_bytes;
    uint32_t modes;  // bit (1 << warpseal_mode)
    bool legacy;     // for old data only: the bindings require explicit consent
    // Tests for keys that encryption rejects (weak and semi-weak keys, equal key components), in
    // constant time. Null if there are none.
    bool (*weak)(const uint8_t* key);
};

// A cipher with one key size on one CPU target. The functions are pure: they do not allocate, lock
// or fail. `state` is state_bytes of 64-byte-aligned memory that `expand` filled. It holds secrets,
// and its owner must zeroize it.
struct CpuCipher : CipherFacts {
    uint32_t state_bytes;
    // "instructions", "byte-sliced", "word-sliced" or "bitsliced".
    const char* representation;

    void (*expand)(void* state, const uint8_t* key);

    // Sweep: processes `bytes` bytes that start at block `first_block` of a message. Null if the
    // mode has no sweep; ECB, CTR, and CBC and CFB decryption have one.
    // iv: block_bytes bytes, null for ECB. For CBC and CFB it is the previous ciphertext block, and
    // first_block is ignored.
    // CTR and CFB accept a partial last block. in == out or disjoint.
    using Sweep = void (*)(const void* state, const uint8_t* iv, uint64_t first_block,
                           const uint8_t* in, uint8_t* out, size_t bytes);
    Sweep sweep[WARPSEAL_MODE_COUNT][direction_count];

    // XTS, with ciphertext stealing in units that are not whole blocks. `tweak_state` is the
    // expanded second half of the key.
    using Xts = void (*)(const void* state, const void* tweak_state, const XtsUnits& units,
                         const uint8_t* in, uint8_t* out, size_t bytes);
    Xts xts[direction_count];

    // GCM of one message in segments: begin, segments, finish. Segments are processed in order on
    // one GcmState, or each on its own with a zero sum; the sums are then combined in order. Only
    // the last segment may end within a block. first_block counts from the start of the message.
    void (*gcm_begin)(const void* state, const uint8_t* iv, size_t iv_bytes, const uint8_t* aad,
                      size_t aad_bytes, GcmState* gcm);
    using GcmSegment = void (*)(const void* state, GcmState* gcm, uint64_t first_block,
                                const uint8_t* in, uint8_t* out, size_t bytes);
    GcmSegment gcm_segment[direction_count];
    // Computes sum = sum * H^block_count + segment_sum.
    void (*gcm_combine)(const void* state, uint8_t sum[16], const uint8_t segment_sum[16],
                        uint64_t block_count);
    void (*gcm_finish)(const void* state, const GcmState* gcm, uint64_t aad_bytes,
                       uint64_t text_bytes, uint8_t tag[16]);

    // Batch: processes messages [first, first + count) in CTR, CBC, CFB, OFB, GCM, CCM or CMAC. A
    // single message of a serial mode (CBC and CFB encryption, OFB, CCM, CMAC) is a batch of one.
    // CMAC reads `in`, and only writes or compares `tags`.
    // If state is null, batch.keys are expanded on the stack and zeroized. A status is written for
    // each message if batch.statuses is set.
    // Returns the number of messages that failed authentication. Tags are compared in constant
    // time; outputs of failed messages are zeroized (CMAC has none).
    // The engine has checked the arguments. Null if the mode has no batch.
    using Batch = uint64_t (*)(const void* state, const warpseal_batch& batch, uint64_t first,
                               uint64_t count);
    Batch batch[WARPSEAL_MODE_COUNT][direction_count];

    KnownAnswer known = {};  // from the cipher header; the self-test compares ECB with it
};

// Exports of one object file (one cipher header, one target): its ciphers, one for each key size.
struct CpuCipherSet {
    const CpuCipher* ciphers;
    uint32_t count;
};

// Returns a cipher of the CPU backend by name, or null if the target does not implement it. Does
// not check whether this machine supports the target.
const CpuCipher* cpu_cipher(Target target, const char* name);
// Returns cipher `index` of the portable target, which implements all of them. Null past the last
// one.
const CpuCipher* cpu_cipher_at(size_t index);
// True if this machine's CPU, and the registers that its operating system saves, support the
// target.
bool cpu_has(Target target);

// ---- CUDA

// A cipher with one key size on a GPU. Calls are asynchronous on `stream` of the current device,
// and can be captured in a graph.
struct CudaCipher : CipherFacts {
    // Size of the state in host memory. Kernels take it by value, so the key is not in device
    // memory.
    uint32_t state_bytes;
    // "table-based", "word-sliced", "byte-sliced" or "bitsliced".
    const char* representation;

    void (*expand)(void* state, const uint8_t* key);  // on the host, in constant time
    using Sweep = warpseal_status (*)(const void* state, const uint8_t* iv, uint64_t first_block,
                                      const uint8_t* in, uint8_t* out, size_t bytes, void* stream);
    Sweep sweep[WARPSEAL_MODE_COUNT][direction_count];
    using Xts = warpseal_status (*)(const void* state, const void* tweak_state,
                                    const XtsUnits& units, const uint8_t* in, uint8_t* out,
                                    size_t bytes, void* stream);
    Xts xts[direction_count];
    // Every pointer in the batch is a device pointer. If state is null, the keys of the messages
    // are expanded on the device. A message that ends past an extent gets the status
    // WARPSEAL_INVALID_ARGUMENT, one over the mode's limit WARPSEAL_LIMIT_EXCEEDED.
    using Batch = warpseal_status (*)(const void* state, const warpseal_scattered_batch& batch,
                                      void* stream);
    Batch batch[WARPSEAL_MODE_COUNT][direction_count];

    // For the backend's own pipeline. Processes a segment of one GCM message in device memory, as
    // in CpuCipher. XORs the segment's GHASH value into *sum, 16 bytes of device memory.
    // gcm_combine runs on the host and computes sum = sum * H^block_count + segment_sum.
    using GcmSegment = warpseal_status (*)(const void* state, const uint8_t counter0[16],
                                           uint64_t first_block, const uint8_t* in, uint8_t* out,
                                           size_t bytes, void* sum, void* stream);
    GcmSegment gcm_segment[direction_count];
    void (*gcm_combine)(const void* state, uint8_t sum[16], const uint8_t segment_sum[16],
                        uint64_t block_count);
};

struct CudaCipherSet {
    const CudaCipher* ciphers;
    uint32_t count;
};

}  // namespace warpseal
