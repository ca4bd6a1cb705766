// Scratch in device memory between the kernels of ML-KEM.
#pragma once

#include "backends/cuda/kem/mlkem/codec.cuh"
#include "backends/cuda/kem/mlkem/job.cuh"
#include "backends/kem_backend.h"

namespace warpseal::cuda::mlkem {

// The matrix comes first, so that all arrays are aligned for 16-byte accesses.
template <int k>
struct WorkSpace {
    static constexpr size_t matrix = sizeof(int16_t) * n * k * k, array = 32;

    static constexpr size_t noise(bool keypair) {
        return noise_bytes * (keypair ? noise_polys<k, true> : noise_polys<k, false>);
    }
    // rho and seed; key and seed; key, seed, rejected, message and refused.
    static constexpr size_t item_bytes(KemOperation operation) {
        return operation == KemOperation::keypair       ? matrix + noise(true) + 2 * array
               : operation == KemOperation::encapsulate ? matrix + noise(false) + 2 * array
                                                        : matrix + noise(false) + 4 * array + 4;
    }
    static size_t bytes(KemOperation operation, uint64_t count) {
        return (count * item_bytes(operation) + 15) / 16 * 16;
    }
    static Job job(KemOperation operation, const warpseal_kem_batch& batch, void* work) {
        auto* at = static_cast<uint8_t*>(work);
        const auto reserve = [&](size_t each) {
            uint8_t* const begin = at;
            at += batch.count * each;
            return begin;
        };
        Job job{};
        job.batch = batch;
        job.matrix = reinterpret_cast<int16_t*>(reserve(matrix));
        job.noise = reinterpret_cast<uint32_t*>(reserve(noise(operation == KemOperation::keypair)));
        job.seed = reserve(array);
        (operation == KemOperation::keypair ? job.rho : job.key) = reserve(array);
        if (operation == KemOperation::keypair) {
            job.matrix_seed = job.rho;
            job.matrix_seed_stride = array;
            return job;
        }
        const bool encapsulate = operation == KemOperation::encapsulate;
        job.matrix_seed = encapsulate ? batch.public_keys + Set<k>::vector
                                      : batch.secret_keys + 2 * Set<k>::vector;
        job.matrix_seed_stride = encapsulate ? batch.public_key_stride : batch.secret_key_stride;
        if (encapsulate) return job;
        job.rejected = reserve(array);
        job.message = reserve(array);
        job.refused = reinterpret_cast<uint32_t*>(reserve(sizeof(uint32_t)));
        return job;
    }
};

}  // namespace warpseal::cuda::mlkem
