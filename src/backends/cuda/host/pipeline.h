// Pipeline for data in host memory on one side or both, through slots of bounded device memory.
#pragma once

#include "backends/gpu_backend.h"

namespace warpseal::cuda {

warpseal_status sweep_host(int device, const CudaCipher& cipher, const void* state,
                           warpseal_mode mode, Direction direction, const uint8_t* iv,
                           uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes,
                           size_t* done_bytes, uint8_t* previous);
warpseal_status xts_host(int device, const CudaCipher& cipher, const void* state,
                         const void* tweak_state, Direction direction, const XtsUnits& units,
                         const uint8_t* in, uint8_t* out, size_t bytes, size_t* done_bytes);
warpseal_status gcm_host(int device, const CudaCipher& cipher, const void* state,
                         Direction direction, GcmState* gcm, uint64_t first_block,
                         const uint8_t* in, uint8_t* out, size_t bytes, size_t* done_bytes);
warpseal_status batch_host(int device, const CudaCipher& cipher, const void* state,
                           warpseal_mode mode, Direction direction, const warpseal_batch& batch,
                           uint64_t* done_messages, uint64_t* not_authentic);
warpseal_status begin_resident(int device, const CudaCipher& cipher, const void* state,
                               warpseal_mode mode, Direction direction, const warpseal_batch& batch,
                               const TextWindow* window, uint8_t* space, void** begun);
warpseal_status finish_resident(void* begun, uint64_t* not_authentic);
warpseal_status copy_both_ways(int device, const void* in, void* out, size_t bytes);

}  // namespace warpseal::cuda
