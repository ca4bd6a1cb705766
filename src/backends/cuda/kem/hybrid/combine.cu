// Launches of the kernels of hybrids.
#include "backends/cuda/kem/hybrid/combine.h"

#include "backends/cuda/kem/hybrid/combine.cuh"
#include "backends/cuda/kem/launch.cuh"

namespace warpseal::cuda::hybrid {

namespace {

template <class Job>
warpseal_status launch(void (*kernel)(Job), const Job& job, void* stream) {
    return launch_warps(kernel, (job.count + 31) / 32, 0, tuning::kem_hash_threads, job,
                        static_cast<cudaStream_t>(stream));
}

}  // namespace

warpseal_status expand(const ExpandJob& job, void* stream) {
    return launch(expand_seeds, job, stream);
}

warpseal_status combine(Combiner combiner, const CombineJob& job, void* stream) {
    switch (combiner) {
        case Combiner::none: return launch(combine_secrets<Combiner::none>, job, stream);
        case Combiner::concatenation:
            return launch(combine_secrets<Combiner::concatenation>, job, stream);
        case Combiner::xwing: return launch(combine_secrets<Combiner::xwing>, job, stream);
    }
    return WARPSEAL_INVALID_ARGUMENT;
}

}  // namespace warpseal::cuda::hybrid
