// P4: NTRU with a block of threads for each operation, step by step to the product's warp for each
// operation.
#include <cuda_runtime.h>

#include <vector>

#include "bench/ladder/keccak_lanes.h"
#include "bench/ladder/kem_study.h"
#include "bench/ladder/ntru.h"
#include "bench/ladder/ntru_components.h"

namespace warpseal::ladder {
namespace {

using namespace ntru;

__constant__ const kem::keccak::Constants round_constants = kem::keccak::round_constants();
__constant__ const LaneRotations rotations = lane_rotations();

struct BlockOfThreads {
    const int mine = static_cast<int>(threadIdx.x), all = static_cast<int>(blockDim.x);
    __device__ __forceinline__ void wait() const { __syncthreads(); }
    __device__ __forceinline__ void add(uint32_t& sum, uint32_t value) const {
        atomicAdd(&sum, value);
    }
};

// The calling lane of a whole warp.
struct LanesOfWarp {
    using Word = uint64_t;
    using Number = int;
    const int lane;
    template <class F>
    __device__ __forceinline__ Number numbers(const F& f) const {
        return f(lane);
    }
    template <class F>
    __device__ __forceinline__ Word words(const F& f) const {
        return f(lane);
    }
    __device__ __forceinline__ Word from(Word word, Number source) const {
        return __shfl_sync(~0u, word, source);
    }
    __device__ __forceinline__ Word rotate(Word word, Number count) const {
        return word << count | word >> (-count & 63);
    }
    template <class F>
    __device__ __forceinline__ void each(Word word, const F& f) const {
        f(lane, word);
    }
};

// Kernels are named by n, which identifies the set, because nvcc cannot name a kernel with a
// reference parameter.
constexpr const Params& set_of(int n) {
    int i = 0;
    while (kem::sets[i]->n != n) ++i;
    return *kem::sets[i];
}

// SHA3-256 by one thread of the block, by a kernel of its own, or by the lanes of a warp.
enum class Hash { here, apart, lanes };

// The paper's maximum of threads per block. Only kernels named after it are compiled for it.
constexpr int most_threads = 768;

__device__ __forceinline__ void hash_by_lanes(uint8_t* digest, const uint8_t* message,
                                              size_t padded_bytes) {
    sha3_256_by_lanes(LanesOfWarp{static_cast<int>(threadIdx.x % warp_lanes)}, digest, message,
                      padded_bytes, rotations.of, round_constants.of);
}

template <const Params& set, Sorts sorts, Copying copying, Hash hash, Factor factor>
__device__ __forceinline__ void encapsulate_item(const KemJob& job, uint64_t item,
                                                 EncapsulationMemory<set, factor>& memory) {
    const BlockOfThreads threads;
    encapsulate<set, sorts, copying>(threads, item, job.public_keys + item * set.public_key_bytes(),
                                     job.ciphertexts + item * set.ciphertext_bytes(), memory);
    uint8_t* const secret = job.secrets + item * Params::shared_secret_bytes;
    if constexpr (hash == Hash::here) {
        alone(threads,
              [&] { sha3_256(secret, memory.message, memory.padded_bytes, round_constants.of); });
    } else if constexpr (hash == Hash::lanes) {
        if (threadIdx.x < warp_lanes) hash_by_lanes(secret, memory.message, memory.padded_bytes);
        threads.wait();
    } else {
        copy(threads, job.messages + item * memory.padded_bytes, memory.message,
             memory.padded_bytes);
    }
}

template <const Params& set, Factor factor>
struct HashedDecapsulationMemory : DecapsulationMemory<set, factor> {
    uint8_t digests[2][Params::shared_secret_bytes];
};

template <const Params& set, Copying copying, Hash hash, Factor factor>
__device__ __forceinline__ void decapsulate_item(const KemJob& job, uint64_t item,
                                                 HashedDecapsulationMemory<set, factor>& memory) {
    using Memory = DecapsulationMemory<set, factor>;
    const BlockOfThreads threads;
    decapsulate<set, copying>(threads, job.ciphertexts + item * set.ciphertext_bytes(),
                              job.secret_keys + item * set.secret_key_bytes(), memory);
    uint8_t* const secret = job.secrets + item * Params::shared_secret_bytes;
    auto& [digest, rejected] = memory.digests;
    if constexpr (hash == Hash::here) {
        alone(threads, [&] {
            sha3_256(digest, memory.message, Memory::padded_bytes, round_constants.of);
            sha3_256(rejected, memory.rejected, Memory::rejected_padded_bytes, round_constants.of);
            select(secret, digest, rejected, memory.wrong);
        });
    } else if constexpr (hash == Hash::lanes) {
        const uint32_t warp = threadIdx.x / warp_lanes, warps = blockDim.x / warp_lanes;
        if (warp == 0) hash_by_lanes(digest, memory.message, Memory::padded_bytes);
        if (warp == 1 % warps)
            hash_by_lanes(rejected, memory.rejected, Memory::rejected_padded_bytes);
        threads.wait();
        alone(threads, [&] { select(secret, digest, rejected, memory.wrong); });
    } else {
        uint8_t* const messages =
            job.messages + item * (Memory::padded_bytes + Memory::rejected_padded_bytes);
        copy(threads, messages, memory.message, Memory::padded_bytes);
        copy(threads, messages + Memory::padded_bytes, memory.rejected,
             Memory::rejected_padded_bytes);
        alone(threads, [&] { job.wrong[item] = memory.wrong; });
    }
}

template <int n, Sorts sorts, Factor factor, Copying copying, Hash hash>
__device__ __forceinline__ void encapsulate_items(const KemJob& job, unsigned char* shared) {
    for (uint64_t item = blockIdx.x; item < job.count; item += gridDim.x)
        encapsulate_item<set_of(n), sorts, copying, hash, factor>(
            job, item, reinterpret_cast<EncapsulationMemory<set_of(n), factor>&>(*shared));
}
template <int n, Factor factor, Copying copying, Hash hash>
__device__ __forceinline__ void decapsulate_items(const KemJob& job, unsigned char* shared) {
    for (uint64_t item = blockIdx.x; item < job.count; item += gridDim.x)
        decapsulate_item<set_of(n), copying, hash, factor>(
            job, item, reinterpret_cast<HashedDecapsulationMemory<set_of(n), factor>&>(*shared));
}

// Compiled without a limit of registers.
template <int n, Sorts sorts, Factor factor, Copying copying, Hash hash>
__global__ void encapsulations(const KemJob job) {
    extern __shared__ __align__(64) unsigned char shared[];
    encapsulate_items<n, sorts, factor, copying, hash>(job, shared);
}
template <int n, Factor factor, Copying copying, Hash hash>
__global__ void decapsulations(const KemJob job) {
    extern __shared__ __align__(64) unsigned char shared[];
    decapsulate_items<n, factor, copying, hash>(job, shared);
}

// The paper's kernels, compiled for its maximum of threads: at most 80 registers.
template <int n>
__global__ void __launch_bounds__(most_threads) encapsulations_of_768(const KemJob job) {
    extern __shared__ __align__(64) unsigned char shared[];
    encapsulate_items<n, Sorts::one, Factor::by_index, Copying::together, Hash::here>(job, shared);
}
template <int n>
__global__ void __launch_bounds__(most_threads) decapsulations_of_768(const KemJob job) {
    extern __shared__ __align__(64) unsigned char shared[];
    decapsulate_items<n, Factor::by_index, Copying::together, Hash::here>(job, shared);
}

template <int n, KemOperation operation>
__global__ void __launch_bounds__(hash_threads) hashes(const KemJob job) {
    using Memory = DecapsulationMemory<set_of(n)>;
    const uint64_t item = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (item >= job.count) return;
    uint8_t* const secret = job.secrets + item * Params::shared_secret_bytes;
    if constexpr (operation == KemOperation::encapsulate) {
        sha3_256(secret, job.messages + item * Memory::padded_bytes, Memory::padded_bytes,
                 round_constants.of);
    } else {
        const uint8_t* const messages =
            job.messages + item * (Memory::padded_bytes + Memory::rejected_padded_bytes);
        uint8_t digest[32], other[32];
        sha3_256(digest, messages, Memory::padded_bytes, round_constants.of);
        sha3_256(other, messages + Memory::padded_bytes, Memory::rejected_padded_bytes,
                 round_constants.of);
        select(secret, digest, other, job.wrong[item]);
    }
}

template <class Text, int n>
__global__ void component(const ComponentJob job) {
    extern __shared__ __align__(64) unsigned char shared[];
    auto& memory = reinterpret_cast<ComponentMemory<set_of(n)>&>(*shared);
    const BlockOfThreads threads;
    copy(threads, shared, job.memory, sizeof memory);
    for (uint64_t item = 0; item < job.count; ++item) Text::run(threads, memory, item);
    copy(threads, job.memory, shared, sizeof memory);
}

// Inferred from section 5.1: four blocks on a multiprocessor of 1024 threads, with 75 % and 63 %
// occupancy.
constexpr int encapsulation_threads = 192, decapsulation_threads = 160;

// Shuffles need whole warps.
constexpr int threads_together(Hash hash) { return hash == Hash::lanes ? warp_lanes : 1; }

template <int n, Sorts sorts, Factor factor, Copying copying, Hash hash>
const KemStudy encapsulation_study{
    .kernel = reinterpret_cast<const void*>(&encapsulations<n, sorts, factor, copying, hash>),
    .hash = hash == Hash::apart
                ? reinterpret_cast<const void*>(&hashes<n, KemOperation::encapsulate>)
                : nullptr,
    .message_bytes = hash == Hash::apart ? EncapsulationMemory<set_of(n)>::padded_bytes : 0,
    .threads = encapsulation_threads,
    .threads_together = threads_together(hash),
    .shared_bytes = sizeof(EncapsulationMemory<set_of(n), factor>)};

template <int n, Factor factor, Copying copying, Hash hash>
const KemStudy decapsulation_study{
    .kernel = reinterpret_cast<const void*>(&decapsulations<n, factor, copying, hash>),
    .hash = hash == Hash::apart
                ? reinterpret_cast<const void*>(&hashes<n, KemOperation::decapsulate>)
                : nullptr,
    .message_bytes = hash == Hash::apart ? DecapsulationMemory<set_of(n)>::padded_bytes +
                                               DecapsulationMemory<set_of(n)>::rejected_padded_bytes
                                         : 0,
    .threads = decapsulation_threads,
    .threads_together = threads_together(hash),
    .shared_bytes = sizeof(HashedDecapsulationMemory<set_of(n), factor>)};

template <int n>
const KemStudy encapsulation_of_768_study{
    .kernel = reinterpret_cast<const void*>(&encapsulations_of_768<n>),
    .threads = encapsulation_threads,
    .shared_bytes = sizeof(EncapsulationMemory<set_of(n), Factor::by_index>)};

template <int n>
const KemStudy decapsulation_of_768_study{
    .kernel = reinterpret_cast<const void*>(&decapsulations_of_768<n>),
    .threads = decapsulation_threads,
    .shared_bytes = sizeof(HashedDecapsulationMemory<set_of(n), Factor::by_index>)};

template <class Text, int n>
void on_host(uint8_t* bytes, uint64_t count) {
    auto& memory = reinterpret_cast<ComponentMemory<set_of(n)>&>(*bytes);
    for (uint64_t item = 0; item < count; ++item) Text::run(OneThread{}, memory, item);
}
template <class Text, int n>
const ComponentStudy component_study{.kernel = reinterpret_cast<const void*>(&component<Text, n>),
                                     .bytes = sizeof(ComponentMemory<set_of(n)>),
                                     .on_host = on_host<Text, n>};

constexpr int n821 = kem::ntruhps4096821.n;

KemStep step(KemOperation operation, const char* name, const char* what, const char* taught) {
    return {.name = name,
            .set = kem::ntruhps4096821.name,
            .operation = operation,
            .what = what,
            .taught = taught};
}
KemStep product(KemOperation operation, const char* name, const char* what, const char* taught) {
    KemStep made = step(operation, name, what, taught);
    made.product = true;
    return made;
}
KemStep encapsulate(const char* name, const char* what, const char* taught, const KemStudy* study,
                    const char* paper = nullptr) {
    KemStep made = step(KemOperation::encapsulate, name, what, taught);
    made.paper = paper, made.study = study;
    return made;
}
KemStep decapsulate(const char* name, const char* what, const char* taught, const KemStudy* study,
                    const char* paper = nullptr) {
    KemStep made = step(KemOperation::decapsulate, name, what, taught);
    made.paper = paper, made.study = study;
    return made;
}

}  // namespace

std::span<const KemStep> kem_steps() {
    constexpr auto by_index = Factor::by_index, doubled = Factor::doubled;
    constexpr auto together = Copying::together, runs = Copying::runs, alone = Copying::alone;
    constexpr auto one = Sorts::one, all = Sorts::all;
    constexpr auto here = Hash::here, apart = Hash::apart, lanes = Hash::lanes;
    static constexpr const char
        *limit = "the same kernel compiled for up to 768 threads",
        *copies_runs = "the block's kernel, but each thread copies a run of adjacent bytes",
        *copies_alone = "the block's kernel, but one thread copies",
        *hash_lanes =
            "the block's kernel, but SHA3-256 by the lanes of a warp, a word of the "
            "state each: the paper leaves it open",
        *factor = "a factor of a product reversed and doubled, so that no index is reduced",
        *fewer = "768 threads leave each at most 80 registers, the paper's number",
        *strided = "the lanes of a warp access memory apart, not consecutive words of it",
        *idle = "while one thread copies the others wait",
        *shuffles = "25 lanes exchange words by shuffles, and need no place for a state",
        *contiguous = "a product reads adjacent coefficients, and computes no remainder";
    static const KemStep steps[] = {
        product(KemOperation::keypair, "ntruhps4096821.keypair.product",
                "the product: a warp for each key pair, inversions by powers",
                "P4 leaves key pairs to the CPU"),
        encapsulate("ntruhps4096821.encapsulate.block",
                    "a block of threads for each encapsulation; one of them sorts, and hashes",
                    "while one thread sorts the others wait, in the place of other sorts",
                    &encapsulation_study<n821, one, by_index, together, here>, "P4"),
        encapsulate("ntruhps4096821.encapsulate.block-768", limit, fewer,
                    &encapsulation_of_768_study<n821>),
        encapsulate("ntruhps4096821.encapsulate.copy-runs", copies_runs, strided,
                    &encapsulation_study<n821, one, by_index, runs, here>),
        encapsulate("ntruhps4096821.encapsulate.copy-alone", copies_alone, idle,
                    &encapsulation_study<n821, one, by_index, alone, here>),
        encapsulate("ntruhps4096821.encapsulate.lane-hash", hash_lanes, shuffles,
                    &encapsulation_study<n821, one, by_index, together, lanes>),
        encapsulate("ntruhps4096821.encapsulate.doubled", factor, contiguous,
                    &encapsulation_study<n821, one, doubled, together, here>),
        encapsulate("ntruhps4096821.encapsulate.all-sort",
                    "the same sorting network by all threads of the block",
                    "comparisons in a column of the network are independent: P4's single-threaded "
                    "sort can be parallel",
                    &encapsulation_study<n821, all, doubled, together, here>),
        encapsulate("ntruhps4096821.encapsulate.split-hash",
                    "the hashes in a kernel of their own, a thread for each",
                    "without the hash's registers more threads are resident",
                    &encapsulation_study<n821, all, doubled, together, apart>),
        product(KemOperation::encapsulate, "ntruhps4096821.encapsulate.product",
                "the product: a warp for each, tensor cores multiply, registers sort; its coins "
                "drawn by AES-256-CTR",
                "32 lanes sort in registers, without a barrier, and products are matrix products"),
        decapsulate("ntruhps4096821.decapsulate.block",
                    "a block of threads for each decapsulation; one of them hashes",
                    "one thread's hashes are hidden behind the products of other blocks",
                    &decapsulation_study<n821, by_index, together, here>, "P4"),
        decapsulate("ntruhps4096821.decapsulate.block-768", limit, fewer,
                    &decapsulation_of_768_study<n821>),
        decapsulate("ntruhps4096821.decapsulate.copy-runs", copies_runs, strided,
                    &decapsulation_study<n821, by_index, runs, here>),
        decapsulate("ntruhps4096821.decapsulate.copy-alone", copies_alone, idle,
                    &decapsulation_study<n821, by_index, alone, here>),
        decapsulate("ntruhps4096821.decapsulate.lane-hash", hash_lanes, shuffles,
                    &decapsulation_study<n821, by_index, together, lanes>),
        decapsulate("ntruhps4096821.decapsulate.split-hash",
                    "the hashes in a kernel of their own, a thread for each",
                    "products remain, which the paper's fifth does not touch",
                    &decapsulation_study<n821, by_index, together, apart>, "P4"),
        decapsulate("ntruhps4096821.decapsulate.doubled", factor, contiguous,
                    &decapsulation_study<n821, doubled, together, apart>),
        product(KemOperation::decapsulate, "ntruhps4096821.decapsulate.product",
                "the product: a warp for each, tensor cores multiply",
                "products on tensor cores, and no barrier for a block: one warp does everything"),
    };
    return steps;
}

std::span<const Component> components() {
    constexpr const Params& set = kem::ntruhps4096821;
    static const Component all[] = {
        {"randombytes", set.name, &component_study<RandomBytes<set>, n821>},
        {"sample-iid", set.name, &component_study<SampleIid<set>, n821>},
        {"sample-fixed", set.name, &component_study<SampleFixed<set, Sorts::one>, n821>},
        {"Rq-mul", set.name, &component_study<RqMul<set>, n821>},
        {"mod(3, x^n-1)", set.name, &component_study<Mod3<set>, n821>},
        {"Lift", set.name, &component_study<Lift<set>, n821>},
        {"+mod(q, x^n-1)", set.name, &component_study<Add<set>, n821>},
        {"-mod(q, x^n-1)", set.name, &component_study<Subtract<set>, n821>},
        {"Rq-mul, doubled factor", set.name, &component_study<RqMulDoubled<set>, n821>},
        {"sample-fixed, all threads", set.name,
         &component_study<SampleFixed<set, Sorts::all>, n821>},
    };
    return all;
}

}  // namespace warpseal::ladder
