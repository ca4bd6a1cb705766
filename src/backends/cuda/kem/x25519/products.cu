// Launches of X25519's kernels.
#include "backends/cuda/kem/x25519/products.h"

#include "backends/cuda/kem/launch.cuh"
#include "backends/cuda/kem/x25519/products.cuh"

namespace warpseal::cuda::x25519 {

warpseal_status multiply(const ProductJob& job, void* stream) {
    return launch_warps(job.points.at != nullptr ? multiply_points : multiply_base_point,
                        (job.count + 31) / 32, 0, tuning::x25519_threads, job,
                        static_cast<cudaStream_t>(stream));
}

}  // namespace warpseal::cuda::x25519
