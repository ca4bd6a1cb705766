// GPU backend interface: GpuBackend, with devices, memory and the host link. Not in
// cipher_backend.h, which every object of every cipher includes.
#pragma once

#include "backends/kem_backend.h"

namespace warpseal {

// Source of coins that a batch does not supply: the keystream of AES-256 in counter mode. Item i of
// the batch uses the blocks of item first_item + i of the call, drawn_coins_stride bytes each.
struct DrawnCoins {
    const CudaCipher* aes;
    const void* state;  // expanded, in host memory
    uint8_t counter[16];
    uint64_t first_item;
};

// CTR_DRBG of SP 800-90A 10.2.1 with AES-256 and without derivation function.
namespace drbg {
inline constexpr size_t seed_bytes = 48;
inline constexpr size_t max_request_bytes = 65536;  // 2^19 bits
// Leaf instances that one request to the root seeds.
inline constexpr uint64_t max_leaves = max_request_bytes / seed_bytes;
// Leaves that write `bytes` bytes, with one request of at most max_request_bytes each.
constexpr uint64_t leaves_for(uint64_t bytes) {
    return bytes / max_request_bytes + (bytes % max_request_bytes != 0);
}
}  // namespace drbg

// A request to the root instance of a random generator, whose output seeds leaf instances.
struct DrbgRequest {
    const CudaCipher* aes;  // AES-256
    const void* state;      // Key of the root, expanded, in host memory
    uint8_t counter[16];    // V + 1 of the root
    // AES-256 under the zero key of the blocks 1, 2 and 3. A seed XOR this is a new leaf's Key and
    // V.
    uint8_t instantiation[drbg::seed_bytes];
};

// Secret keys of an ephemeral key pool. put moves items into slots and zeroizes the items; get
// copies slots into items; wipe zeroizes slots.
enum class PoolTransfer : uint8_t { put = 0, get = 1, wipe = 2 };
inline constexpr uint32_t no_pool_slot = UINT32_MAX;  // item without a slot: get returns zeros

// Bytes [begin, begin + bytes) of a message's text.
struct TextWindow {
    uint64_t begin, bytes;
};

// Bytes beside each message of begin_resident: its IV, its tag and its status.
inline constexpr size_t resident_space_bytes = 64;

// The functions of a GPU backend. Tests use FakeGpuBackend.
// Errors are WARPSEAL_NO_DEVICE (no device, or `lost`) and WARPSEAL_OUT_OF_MEMORY (may be retried).
// After a sticky error, the backend makes no further CUDA call in this process.
// Functions on host memory are synchronous. If one fails, done_bytes or done_messages is the length
// of the prefix of `out` that is final. The rest of `in` is unchanged, also in place.
struct GpuBackend {
    const CudaCipher* (*cipher)(const char* name);
    warpseal_status (*device_count)(int* count);
    warpseal_status (*describe)(int device, warpseal_device_info* info);
    // True after a sticky error, and in a fork of the process that initialised CUDA.
    bool (*lost)();

    warpseal_status (*device_alloc)(int device, size_t bytes, void** out);
    void (*device_free)(int device, void* memory, size_t bytes);
    warpseal_status (*host_alloc)(int device, size_t bytes, void** out);  // pinned
    void (*host_free)(int device, void* memory, size_t bytes);
    warpseal_status (*upload)(int device, void* to, const void* from, size_t bytes);
    warpseal_status (*download)(int device, void* to, const void* from, size_t bytes);
    warpseal_status (*synchronize)(int device, void* stream);
    // Measures the device time, between two events, of the work that work(user, stream) queues.
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
                                    const warpseal_scattered_batch& batch, void* stream);
    // Sets *bytes to the scratch that batch_device uses for the batch, in either direction. With
    // at least that much in batch.workspace it allocates nothing.
    warpseal_status (*batch_workspace)(int device, warpseal_mode mode,
                                       const warpseal_scattered_batch& batch, size_t* bytes);
    // Writes IVs to the part `ivs` of the batch, asynchronously. counter: an IvCounter in device
    // memory. Calls on several streams may share one. A message that ends past an extent gets none.
    warpseal_status (*draw_ivs)(int device, void* counter, const warpseal_scattered_batch& batch,
                                void* stream);

    // Pipeline: copy in, run and copy out, overlapped through slots of bounded device memory.
    // `previous` may be null. In CBC and CFB decryption it receives block_bytes bytes: the
    // ciphertext block before byte *done_bytes, which `in` no longer holds in place.
    warpseal_status (*sweep_host)(int device, const CudaCipher& cipher, const void* state,
                                  warpseal_mode mode, Direction direction, const uint8_t* iv,
                                  uint64_t first_block, const uint8_t* in, uint8_t* out,
                                  size_t bytes, size_t* done_bytes, uint8_t* previous);
    // *done_bytes is a whole number of units.
    warpseal_status (*xts_host)(int device, const CudaCipher& cipher, const void* state,
                                const void* tweak_state, Direction direction, const XtsUnits& units,
                                const uint8_t* in, uint8_t* out, size_t bytes, size_t* done_bytes);
    // Processes a segment of one GCM message, as CpuCipher::gcm_segment. The GHASH accumulator of
    // `gcm` then covers the first *done_bytes bytes, also on failure.
    warpseal_status (*gcm_host)(int device, const CudaCipher& cipher, const void* state,
                                Direction direction, GcmState* gcm, uint64_t first_block,
                                const uint8_t* in, uint8_t* out, size_t bytes, size_t* done_bytes);
    // Sets *not_authentic to the number of messages that failed authentication; their outputs are
    // zeroized. Messages before *done_messages are final.
    warpseal_status (*batch_host)(int device, const CudaCipher& cipher, const void* state,
                                  warpseal_mode mode, Direction direction,
                                  const warpseal_batch& batch, uint64_t* done_messages,
                                  uint64_t* not_authentic);
    // Like batch_host, for messages of one length at strides, whose text lies in the memory of the
    // device on one side: `in` when sealing, `out` when opening. Nothing of that side is copied to
    // the host. After a failure `out` may hold text that was not authenticated.
    // begin_resident sets *begun to what finish_resident takes, or to null after a failure.
    // window: null, or the part of a single opened message that `out` receives.
    // space: null, or resident_space_bytes for each message, at a multiple of 16. If it and the
    // host side are pinned, begin_resident may return while the device works. All memory of the
    // batch must then stay as it is until finish_resident, but for its IVs.
    warpseal_status (*begin_resident)(int device, const CudaCipher& cipher, const void* state,
                                      warpseal_mode mode, Direction direction,
                                      const warpseal_batch& batch, const TextWindow* window,
                                      uint8_t* space, void** begun);
    // Waits for the end of a batch and frees what begin_resident made, also on a lost device.
    // *not_authentic: as from batch_host.
    warpseal_status (*finish_resident)(void* begun, uint64_t* not_authentic);
    // Overwrites device memory with zeros, synchronously.
    warpseal_status (*zeroize)(int device, void* memory, size_t bytes);
    // Called when a key is destroyed. Overwrites the driver's copies of the last launches'
    // parameters, which include round keys. Does not wait. Null in a fake.
    void (*zeroize_launches)(int device);

    // is_pinned: true if all bytes are in memory that GPUs copy from and to directly. device_of:
    // finds the device that owns the memory; returns WARPSEAL_INVALID_ARGUMENT if there is none.
    // Both are allowed during stream capture.
    bool (*is_pinned)(const void* begin, size_t bytes);
    warpseal_status (*device_of)(const void* memory, int* device);
    // Measures the host link: copies `bytes` from `in` and to `out` at the same time. Both must be
    // pinned.
    warpseal_status (*copy_both_ways)(int device, const void* in, void* out, size_t bytes);

    // Key encapsulation. Returns the parameter set by name, or null if there is none.
    // In the calls below, `coins` is null if the batch supplies them, or needs none.
    const CudaKem* (*kem)(const char* set);
    // Processes a batch of device pointers, asynchronously.
    // in_flight: number of items that this GPU processes at about this time, including those of the
    // batch (see CudaKem::run).
    // Scratch is stream-ordered and zeroized before it is released; its limit determines the number
    // of chunks. Returns WARPSEAL_INVALID_ARGUMENT if the stream is being captured and coins would
    // be drawn.
    warpseal_status (*kem_device)(int device, const CudaKem& kem, KemOperation operation,
                                  const warpseal_kem_batch& batch, uint64_t in_flight,
                                  const DrawnCoins* coins, void* stream);
    // Processes a batch in host memory, synchronously, through slots of bounded device memory.
    // Items before *done are final; *failed of them have no result.
    warpseal_status (*kem_host)(int device, const CudaKem& kem, KemOperation operation,
                                const warpseal_kem_batch& batch, uint64_t in_flight,
                                const DrawnCoins* coins, uint64_t* done, uint64_t* failed);
    // Moves secret keys between item i and slot numbers[i] (i if numbers is null), all in device
    // memory; asynchronous. `stride` is the size of an item in bytes, a multiple of 16. Null if not
    // supported.
    warpseal_status (*pool_transfer)(int device, PoolTransfer what, void* slots, void* items,
                                     size_t stride, const uint32_t* numbers, uint64_t count,
                                     void* stream);
    // Allocates what calls of kem_host would allocate at first use: their slots of device memory
    // and pinned memory. Null in a fake.
    warpseal_status (*kem_prepare)(int device);

    // Fills device memory with the output of leaves, asynchronously. Leaf i writes the bytes from
    // i * max_request_bytes. `bytes` is at most max_leaves * max_request_bytes.
    // Returns WARPSEAL_INVALID_ARGUMENT if the stream is being captured: each replay would repeat
    // the bytes.
    warpseal_status (*drbg_device)(int device, const DrbgRequest& request, uint8_t* out,
                                   size_t bytes, void* stream);
};

// Returns the GPU backend, or null in a build without CUDA. Does not initialise CUDA.
const GpuBackend* gpu_backend();

}  // namespace warpseal
