// P4: NTRU with a block of threads for each operation, step by step to the product's warp for each
// operation.
#include <cuda_runtime.h>

#include <vector>

#include "ladder/kem_study.h"
#include "ladder/ntru.h"
#include "ladder/ntru_components.h"

namespace warpseal::ladder {
namespace {

using namespace ntru;

__constant__ const kem::keccak::Constants round_constants = kem::keccak::round_constants();

struct BlockOfThreads {
    const int mine = static_cast<int>(threadIdx.x), all = static_cast<int>(blockDim.x);
    __device__ __forceinline__ void wait() const { __syncthreads(); }
    __device__ __forceinline__ void add(uint32_t& sum, uint32_t value) const {
        atomicAdd(&sum, value);
    }
};

// Kernels are named by n, which identifies the set, because nvcc cannot name a kernel with a
// reference parameter.
constexpr const Params& set_of(int n) {
    int i = 0;
    while (kem::sets[i]->n != n) ++i;
    return *kem::sets[i];
}

enum class Hash { here, apart };

// thread limit of the paper's kernel
constexpr int most_threads = 768;

template <const Params& set, Sorts sorts, Hash hash>
__device__ __forceinline__ void encapsulate_item(const KemJob& job, uint64_t item,
                                                 EncapsulationMemory<set>& memory) {
    const BlockOfThreads threads;
    encapsulate<set, sorts>(threads, item, job.public_keys + item * set.public_key_bytes(),
                            job.ciphertexts + item * set.ciphertext_bytes(), memory);
    if constexpr (hash == Hash::here)
        alone(threads, [&] {
            sha3_256(job.secrets + item * Params::shared_secret_bytes, memory.message,
                     memory.padded_bytes, round_constants.of);
        });
    else
        copy(threads, job.messages + item * memory.padded_bytes, memory.message,
             memory.padded_bytes);
}

template <const Params& set, Hash hash>
__device__ __forceinline__ void decapsulate_item(const KemJob& job, uint64_t item,
                                                 DecapsulationMemory<set>& memory) {
    using Memory = DecapsulationMemory<set>;
    const BlockOfThreads threads;
    decapsulate<set>(threads, job.ciphertexts + item * set.ciphertext_bytes(),
                     job.secret_keys + item * set.secret_key_bytes(), memory);
    if constexpr (hash == Hash::here) {
        alone(threads, [&] {
            uint8_t digest[32], other[32];
            sha3_256(digest, memory.message, Memory::padded_bytes, round_constants.of);
            sha3_256(other, memory.rejected, Memory::rejected_padded_bytes, round_constants.of);
            select(job.secrets + item * Params::shared_secret_bytes, digest, other, memory.wrong);
        });
    } else {
        uint8_t* const messages =
            job.messages + item * (Memory::padded_bytes + Memory::rejected_padded_bytes);
        copy(threads, messages, memory.message, Memory::padded_bytes);
        copy(threads, messages + Memory::padded_bytes, memory.rejected,
             Memory::rejected_padded_bytes);
        alone(threads, [&] { job.wrong[item] = memory.wrong; });
    }
}

template <int n, Sorts sorts, Hash hash>
__global__ void __launch_bounds__(most_threads) encapsulations(const KemJob job) {
    extern __shared__ __align__(64) unsigned char shared[];
    for (uint64_t item = blockIdx.x; item < job.count; item += gridDim.x)
        encapsulate_item<set_of(n), sorts, hash>(
            job, item, reinterpret_cast<EncapsulationMemory<set_of(n)>&>(*shared));
}

template <int n, Hash hash>
__global__ void __launch_bounds__(most_threads) decapsulations(const KemJob job) {
    extern __shared__ __align__(64) unsigned char shared[];
    for (uint64_t item = blockIdx.x; item < job.count; item += gridDim.x)
        decapsulate_item<set_of(n), hash>(
            job, item, reinterpret_cast<DecapsulationMemory<set_of(n)>&>(*shared));
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
__global__ void __launch_bounds__(most_threads) component(const ComponentJob job) {
    extern __shared__ __align__(64) unsigned char shared[];
    auto& memory = reinterpret_cast<ComponentMemory<set_of(n)>&>(*shared);
    const BlockOfThreads threads;
    copy(threads, shared, job.memory, sizeof memory);
    for (uint64_t item = 0; item < job.count; ++item) Text::run(threads, memory, item);
    copy(threads, job.memory, shared, sizeof memory);
}

// Block sizes of section 5.1: four blocks on a multiprocessor of 1024 threads, with 75 % and 63 %
// occupancy.
constexpr int encapsulation_threads = 192, decapsulation_threads = 160;

template <int n, Sorts sorts, Hash hash>
const KemStudy encapsulation_study{
    .kernel = reinterpret_cast<const void*>(&encapsulations<n, sorts, hash>),
    .hash = hash == Hash::apart
                ? reinterpret_cast<const void*>(&hashes<n, KemOperation::encapsulate>)
                : nullptr,
    .message_bytes = hash == Hash::apart ? EncapsulationMemory<set_of(n)>::padded_bytes : 0,
    .threads = encapsulation_threads,
    .shared_bytes = sizeof(EncapsulationMemory<set_of(n)>)};

template <int n, Hash hash>
const KemStudy decapsulation_study{
    .kernel = reinterpret_cast<const void*>(&decapsulations<n, hash>),
    .hash = hash == Hash::apart
                ? reinterpret_cast<const void*>(&hashes<n, KemOperation::decapsulate>)
                : nullptr,
    .message_bytes = hash == Hash::apart ? DecapsulationMemory<set_of(n)>::padded_bytes +
                                               DecapsulationMemory<set_of(n)>::rejected_padded_bytes
                                         : 0,
    .threads = decapsulation_threads,
    .shared_bytes = sizeof(DecapsulationMemory<set_of(n)>)};

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

}  // namespace

std::span<const KemStep> kem_steps() {
    static const KemStep steps[] = {
        {.name = "ntruhps4096821.keypair.product",
         .set = "ntruhps4096821",
         .operation = KemOperation::keypair,
         .product = true,
         .what = "the product: a warp for each key pair, inversions by powers",
         .taught = "what P4 leaves to the CPU"},
        {.name = "ntruhps4096821.encapsulate.block",
         .paper = "P4",
         .set = "ntruhps4096821",
         .operation = KemOperation::encapsulate,
         .what = "a block of threads for each encapsulation; one of them sorts, and hashes",
         .taught = "while one thread sorts the others wait, in the place of other sorts: with 32 "
                   "threads a block the rate is double",
         .study = &encapsulation_study<n821, Sorts::one, Hash::here>},
        {.name = "ntruhps4096821.encapsulate.all-sort",
         .set = "ntruhps4096821",
         .operation = KemOperation::encapsulate,
         .what = "the same sorting network by all threads of the block",
         .taught = "comparisons of a column of the network wait for none of each other: what P4 "
                   "gives to one thread can be shared",
         .study = &encapsulation_study<n821, Sorts::all, Hash::here>},
        {.name = "ntruhps4096821.encapsulate.split-hash",
         .set = "ntruhps4096821",
         .operation = KemOperation::encapsulate,
         .what = "the hashes in a kernel of their own, a thread for each",
         .taught = "without the hash's registers twice as many threads stay",
         .study = &encapsulation_study<n821, Sorts::all, Hash::apart>},
        {.name = "ntruhps4096821.encapsulate.product",
         .set = "ntruhps4096821",
         .operation = KemOperation::encapsulate,
         .product = true,
         .what = "the product: a warp for each, tensor cores multiply, registers sort; its coins "
                 "drawn by AES-256-CTR",
         .taught = "32 lanes sort in registers, without a barrier, and a product is a matrix's"},
        {.name = "ntruhps4096821.decapsulate.block",
         .paper = "P4",
         .set = "ntruhps4096821",
         .operation = KemOperation::decapsulate,
         .what = "a block of threads for each decapsulation; one of them hashes",
         .taught = "one thread's hashes hide behind the products of other blocks, whatever the "
                   "number of threads",
         .study = &decapsulation_study<n821, Hash::here>},
        {.name = "ntruhps4096821.decapsulate.split-hash",
         .paper = "P4",
         .set = "ntruhps4096821",
         .operation = KemOperation::decapsulate,
         .what = "the hashes in a kernel of their own, a thread for each",
         .taught = "the paper's fifth is a seventh here: products are what is left",
         .study = &decapsulation_study<n821, Hash::apart>},
        {.name = "ntruhps4096821.decapsulate.product",
         .set = "ntruhps4096821",
         .operation = KemOperation::decapsulate,
         .product = true,
         .what = "the product: a warp for each, tensor cores multiply",
         .taught = "products on tensor cores, and no barrier for a block: a warp has it all"},
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
        {"sample-fixed, all threads", set.name,
         &component_study<SampleFixed<set, Sorts::all>, n821>},
    };
    return all;
}

}  // namespace warpseal::ladder
