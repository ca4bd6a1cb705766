// The door to GPUs as the engine holds it: GpuBackend, and what is asked of memory and of the link.
// Apart from ops.h, which every object of every cipher is compiled with.
#pragma once

#include "backends/kem_backend.h"

namespace warpseal {

// Where coins come from that a batch does not bring: the keystream of AES-256 in counter mode. Item
// i of the batch has the blocks of item first_item + i of the call, drawn_coins_stride each.
struct DrawnCoins {
    const CudaCipher* aes;
    const void* state;  // expanded, of the host
    uint8_t counter[16];
    uint64_t first_item;
};

// Secret keys of an ephemeral key pool: put moves items into slots and wipes them, get copies slots
// into items, wipe overwrites slots.
enum class PoolTransfer : uint8_t { put = 0, get = 1, wipe = 2 };
inline constexpr uint32_t no_pool_slot = UINT32_MAX;  // the item of no slot: get gives zeros

// Host-memory calls are synchronous. Errors come back as WARPSEAL_NO_DEVICE
// (absent, or lost: a sticky error, after which the backend itself makes no CUDA call again in this
// process) or WARPSEAL_OUT_OF_MEMORY (retryable). A host-memory call that fails leaves `in` as it
// was, also in place, and `done_bytes`/`done_messages` says how much of `out` is already final,
// from the front. Tests use FakeGpuBackend.
struct GpuBackend {
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
    // A segment of one GCM message, as CpuCipher::gcm_segment: the run's sum ends up covering the
    // first *done_bytes bytes, also on failure.
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
    // them, is overwritten. Waits for nothing. Null in a fake.
    void (*zeroize_launches)(int device);

    // Whether all bytes lie in memory that GPUs copy from and to directly. device_of: the device
    // whose memory it is; WARPSEAL_INVALID_ARGUMENT if of none. Both are allowed during a capture.
    bool (*is_pinned)(const void* begin, size_t bytes);
    warpseal_status (*device_of)(const void* memory, int* device);
    // Measures the link: copies `bytes` from `in` and to `out`, both pinned, at the same time.
    warpseal_status (*copy_both_ways)(int device, const void* in, void* out, size_t bytes);

    // Key encapsulation: the set by name, null if there is none. coins: null if the batch brings
    // them, or needs none.
    const CudaKem* (*kem)(const char* set);
    // in_flight: how many items this GPU is to do at about this time, those of the batch among them
    // (CudaKem::run).
    //
    // Every pointer of the batch is a device pointer. Takes its work space in stream order, wiped
    // before it goes back, and as many chunks as that leaves. WARPSEAL_INVALID_ARGUMENT: the stream
    // is being captured, and coins would be drawn.
    warpseal_status (*kem_device)(int device, const CudaKem& kem, KemOperation operation,
                                  const warpseal_kem_batch& batch, uint64_t in_flight,
                                  const DrawnCoins* coins, void* stream);
    // Host memory, synchronous, through slots of bounded device memory. Items before *done are
    // final, *failed of them without a result.
    warpseal_status (*kem_host)(int device, const CudaKem& kem, KemOperation operation,
                                const warpseal_kem_batch& batch, uint64_t in_flight,
                                const DrawnCoins* coins, uint64_t* done, uint64_t* failed);
    // Asynchronous, all in device memory: item i and the slot numbers[i] (null: i), `stride` bytes
    // each, a multiple of 16. Null: there is none.
    warpseal_status (*pool_transfer)(int device, PoolTransfer what, void* slots, void* items,
                                     size_t stride, const uint32_t* numbers, uint64_t count,
                                     void* stream);
};

// Null in a build without CUDA. Never initialises CUDA by itself.
const GpuBackend* gpu_backend();

}  // namespace warpseal
