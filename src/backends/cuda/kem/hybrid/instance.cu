// Instantiates X25519 or one of its hybrids for the GPU. The object exports its CudaKem.
#include "backends/cuda/host/device.h"
#include "backends/cuda/kem/hybrid/set.h"

// The object of ML-KEM-768.
extern "C" const warpseal::CudaKem warpseal_cuda_mlkem768;

namespace warpseal::cuda::hybrid {

// Each step queues its kernels on a stream of the current device.
struct CudaSteps {
    static warpseal_status multiply(const ProductJob& job, void* stream) {
        return x25519::multiply(job, stream);
    }
    static warpseal_status expand(const ExpandJob& job, void* stream) {
        return hybrid::expand(job, stream);
    }
    static warpseal_status combine(kem::Combiner combiner, const CombineJob& job, void* stream) {
        return hybrid::combine(combiner, job, stream);
    }
    static warpseal_status clear(int32_t* statuses, uint64_t count, void* stream) {
        return check(cudaMemsetAsync(statuses, 0, count * sizeof *statuses,
                                     static_cast<cudaStream_t>(stream)));
    }
    static size_t mlkem_work_bytes(KemOperation operation, uint64_t count) {
        return warpseal_cuda_mlkem768.work_bytes(operation, count);
    }
    static warpseal_status mlkem(KemOperation operation, const warpseal_kem_batch& batch,
                                 uint64_t in_flight, void* work, void* stream) {
        return warpseal_cuda_mlkem768.run[static_cast<int>(operation)](batch, in_flight, work,
                                                                       stream);
    }
};

}  // namespace warpseal::cuda::hybrid

extern "C" const warpseal::CudaKem WARPSEAL_EXPORT;
constinit const warpseal::CudaKem WARPSEAL_EXPORT =
    warpseal::cuda::hybrid::cuda_kem_of<warpseal::kem::WARPSEAL_SET,
                                        warpseal::cuda::hybrid::CudaSteps>();
