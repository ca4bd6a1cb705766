// One NTRU parameter set on a GPU: its kernels and their scratch memory.
#pragma once

#include <algorithm>
#include <bit>

#include "backends/cuda/kem/launch.cuh"
#include "backends/cuda/kem/ntru/decapsulate.cuh"
#include "backends/cuda/kem/ntru/encapsulate.cuh"
#include "backends/cuda/kem/ntru/hash.cuh"
#include "backends/cuda/kem/ntru/keypair.cuh"
#include "backends/kem_catalogue.h"

namespace warpseal::cuda::ntru {

// Scratch in device memory between kernels: a mask for each item, and one or two messages to hash
// or the bands of a key pair.
template <const Params& set>
struct WorkSpace {
    static constexpr size_t message_bytes = Encapsulation<set>::padded_bytes,
                            rejected_bytes = Decapsulation<set>::rejected_padded_bytes;

    static size_t mask_bytes(uint64_t count) { return (count * sizeof(uint32_t) + 15) / 16 * 16; }
    static size_t bytes(KemOperation operation, uint64_t count) {
        if (operation == KemOperation::keypair)
            return mask_bytes(count) + count * pair_band_count * pair_band_bytes<Ring<set.n>>;
        const size_t messages = count * message_bytes;
        return mask_bytes(count) + messages +
               (operation == KemOperation::decapsulate ? count * rejected_bytes : 0);
    }
    static ItemJob job(const warpseal_kem_batch& batch, void* work) {
        auto* bytes = static_cast<uint8_t*>(work);
        uint8_t* messages = bytes + mask_bytes(batch.count);
        return {batch, messages, messages + batch.count * message_bytes,
                reinterpret_cast<uint32_t*>(bytes)};
    }
};

template <const Params& set, int other_blocks>
warpseal_status launch_hash(const ItemJob& job, cudaStream_t stream) {
    const HashJob hashes{job.batch.count,
                         job.messages,
                         job.rejected,
                         job.valid,
                         job.batch.shared_secrets,
                         job.batch.shared_secret_stride};
    return launch_warps(hash<WorkSpace<set>::message_bytes / keccak::rate, other_blocks>,
                        (hashes.count + 31) / 32, hash_shared_bytes, tuning::kem_hash_threads,
                        hashes, stream);
}

// Chooses the number of pairs that are inverted together. Small batches are inverted one by one,
// for the least latency; large ones in groups, for the least work. The result is a power of two, as
// most batch sizes are.
inline warpseal_status group_of(uint64_t in_flight, uint32_t& group) {
    Limits limits;
    const warpseal_status status = current_limits(limits);
    if (status != WARPSEAL_OK) return status;
    const uint64_t wanted =
        in_flight / (static_cast<uint64_t>(limits.multiprocessors) * tuning::kem_min_groups);
    group = static_cast<uint32_t>(
        std::bit_floor(std::clamp<uint64_t>(wanted, 1, tuning::kem_max_group)));
    return WARPSEAL_OK;
}

template <const Params& set>
warpseal_status run_keypair(const warpseal_kem_batch& batch, uint64_t in_flight, void* work,
                            cudaStream_t stream) {
    using Shared = KeyGeneration<set>;
    auto* bytes = static_cast<uint8_t*>(work);
    PairJob job{batch, bytes + WorkSpace<set>::mask_bytes(batch.count),
                reinterpret_cast<uint32_t*>(bytes), 1};
    warpseal_status status = group_of(in_flight, job.group);
    if (status != WARPSEAL_OK) return status;
    const uint64_t groups = (batch.count + job.group - 1) / job.group;
    constexpr unsigned threads = tuning::kem_threads<set.n>;
    status =
        launch_warps(keypair_draw<set.n>, batch.count, Shared::draw_bytes, threads, job, stream);
    if (status == WARPSEAL_OK)
        status = launch_warps(keypair_invert<set.n>, groups, Shared::invert_bytes, threads, job,
                              stream, 2);
    return status == WARPSEAL_OK ? launch_warps(keypair_write<set.n>, batch.count,
                                                Shared::write_bytes, threads, job, stream)
                                 : status;
}

template <const Params& set, KemOperation operation>
warpseal_status run(const warpseal_kem_batch& batch, [[maybe_unused]] uint64_t in_flight,
                    void* work, void* stream_of_caller) {
    if (batch.count == 0) return WARPSEAL_OK;
    const auto stream = static_cast<cudaStream_t>(stream_of_caller);
    if constexpr (operation == KemOperation::keypair)
        return run_keypair<set>(batch, in_flight, work, stream);
    const ItemJob job = WorkSpace<set>::job(batch, work);
    constexpr unsigned threads = tuning::kem_threads<set.n>;
    if constexpr (operation == KemOperation::encapsulate) {
        const warpseal_status status =
            launch_warps(encapsulate<set.n>, batch.count, Encapsulation<set>::shared_bytes, threads,
                         job, stream);
        return status == WARPSEAL_OK ? launch_hash<set, 0>(job, stream) : status;
    } else {
        const warpseal_status status =
            launch_warps(decapsulate<set.n>, batch.count, Decapsulation<set>::shared_bytes, threads,
                         job, stream);
        return status == WARPSEAL_OK
                   ? launch_hash<set, WorkSpace<set>::rejected_bytes / keccak::rate>(job, stream)
                   : status;
    }
}

template <const Params& set>
constexpr CudaKem cuda_kem_of() {
    return {&kem_sets[kem_set_number(set.name)],
            WorkSpace<set>::bytes,
            {run<set, KemOperation::keypair>, run<set, KemOperation::encapsulate>,
             run<set, KemOperation::decapsulate>}};
}

}  // namespace warpseal::cuda::ntru
