// The door to GPUs as the engine holds it: CudaDoor, and what is asked of memory and of the link.
// Apart from ops.h, which every object of every cipher is compiled with.
#pragma once

#include "backends/kem_ops.h"

namespace warpseal {

// Where coins come from that a batch does not bring: the keystream of AES-256 in counter mode. Item
// i of the batch has the blocks of item first_item + i of the call, drawn_coins_stride each.
struct DrawnCoins {
    const CudaCipher* aes;
    const void* state;  // expanded, of the host
    uint8_t counter[16];
    uint64_t first_item;
};

// What is done with items of a batch side by side that have places, or with the places: keys go
// there, and where they were is wiped; they are copied from there; or the places are wiped.
enum class KemPlaced : uint8_t { put = 0, get = 1, wipe = 2 };
inline constexpr uint32_t kem_nowhere =
    UINT32_MAX;  // the number of no place: such an item is zeros

struct GpuDoor : CudaDoor {
    // Whether all of it lies in memory that GPUs copy from and to themselves; and the device on
    // whose memory it lies, WARPSEAL_INVALID_ARGUMENT if on none. Both may be called while a stream
    // is being captured.
    bool (*pinned)(const void* begin, size_t bytes);
    warpseal_status (*device_of)(const void* memory, int* device);
    // What the link gives: as many bytes from `in` as to `out`, both pinned, copied both ways at
    // once, without any work on them.
    warpseal_status (*copy_both_ways)(int device, const void* in, void* out, size_t bytes);

    // Key encapsulation: the set by name, null if there is none. coins: null if the batch brings
    // them, or needs none.
    const CudaKem* (*kem)(const char* set);
    // under_way: how many items this GPU is to do at about this time, those of the batch among them
    // (CudaKem::run).
    //
    // Every pointer of the batch is a device pointer. Takes its work space in stream order, wiped
    // before it goes back, and as many pieces as that leaves. WARPSEAL_INVALID_ARGUMENT: the stream
    // is being captured, and coins would be drawn.
    warpseal_status (*kem_device)(int device, const CudaKem& kem, KemOperation operation,
                                  const warpseal_kem_batch& batch, uint64_t under_way,
                                  const DrawnCoins* coins, void* stream);
    // Host memory, synchronous, through slots of bounded device memory. Items before *done are
    // final, *failed of them without a result.
    warpseal_status (*kem_host)(int device, const CudaKem& kem, KemOperation operation,
                                const warpseal_kem_batch& batch, uint64_t under_way,
                                const DrawnCoins* coins, uint64_t* done, uint64_t* failed);
    // Asynchronous, in device memory all: item i and the place numbers[i] (null: i), `stride` bytes
    // each, a multiple of 16. Null: there is none.
    warpseal_status (*kem_placed)(int device, KemPlaced what, void* places, void* items,
                                  size_t stride, const uint32_t* numbers, uint64_t count,
                                  void* stream);
};

// cuda_door() is its first half. Null in a build without CUDA.
const GpuDoor* gpu_door();

}  // namespace warpseal
