// P3: the kernels of gKrypt, each step on top of the one before, and the product's AES-256.
#include <cuda_runtime.h>

#include <cstring>

#include "bench/ladder/gkrypt.h"
#include "bench/ladder/study.h"

namespace warpseal::ladder {
namespace {

using namespace gkrypt;

__device__ const Tables global_tables{};
__device__ uint8_t global_schedule[schedule_bytes];
__constant__ const Tables constant_tables{};
__constant__ uint8_t constant_schedule[schedule_bytes], constant_key[key_bytes];

struct StateJob {
    const uint8_t* in;
    uint8_t* out;
    uint64_t blocks;
};

// The article ends at device_keys. The last step is ours.
enum class Upto { global, constant, shared_state, unrolled, device_keys, shared_tables };

template <Upto step>
constexpr uint32_t shared_table_bytes = step == Upto::shared_tables ? sizeof(Tables) : 0;
template <Upto step>
constexpr uint32_t shared_key_bytes = step >= Upto::device_keys ? schedule_bytes : 0;

template <Upto step>
__device__ __forceinline__ const Tables& tables_in(unsigned char* shared) {
    if constexpr (step == Upto::shared_tables) {
        for (uint32_t i = threadIdx.x; i < sizeof(Tables); i += blockDim.x)
            shared[i] = global_tables.entries[i / 256][i % 256];
        return reinterpret_cast<const Tables&>(*shared);
    } else {
        return step == Upto::global ? global_tables : constant_tables;
    }
}

template <Upto step, bool decrypts>
__global__ void __launch_bounds__(1024, 1) states(const __grid_constant__ StateJob job) {
    extern __shared__ __align__(16) unsigned char shared[];
    using Cipher = gkrypt::Cipher<step >= Upto::unrolled>;
    constexpr int count = Cipher::count;
    const Tables& tables = tables_in<step>(shared);
    unsigned char* const own_keys = shared + shared_table_bytes<step>;
    const uint8_t* key = step == Upto::global       ? global_schedule
                         : step < Upto::device_keys ? constant_schedule
                                                    : own_keys;
    if constexpr (step >= Upto::device_keys) {
        __syncthreads();
        if (threadIdx.x == 0) expand(own_keys, constant_key, tables);
        __syncthreads();
    }
    const auto run = [&](uint8_t* state, uint8_t* next) {
        if constexpr (decrypts)
            Cipher::decrypt(state, next, key, tables);
        else
            Cipher::encrypt(state, next, key, tables);
    };
    const auto run_by_bytes = [&](uint64_t i, uint8_t* state, uint8_t* next) {
#pragma unroll count
        for (int j = 0; j < 16; ++j) state[j] = job.in[16 * i + j];
        run(state, next);
#pragma unroll count
        for (int j = 0; j < 16; ++j) job.out[16 * i + j] = state[j];
    };
    const uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= job.blocks) return;
    if constexpr (step == Upto::shared_tables) {
        uint8_t state[16], next[16];
        const uint4 text = reinterpret_cast<const uint4*>(job.in)[i];
        memcpy(state, &text, 16);
        run(state, next);
        uint4 result;
        memcpy(&result, state, 16);
        reinterpret_cast<uint4*>(job.out)[i] = result;
    } else if constexpr (step >= Upto::shared_state) {
        unsigned char* const states = own_keys + shared_key_bytes<step>;
        run_by_bytes(i, states + 16 * threadIdx.x, states + 16 * (blockDim.x + threadIdx.x));
    } else {
        uint8_t state[16], next[16];
        run_by_bytes(i, state, next);
    }
}

// Expands the key on the host, for steps that do not expand it on the device.
warpseal_status fill(void* memory, const Work& work) {
    static constexpr Tables tables;
    uint8_t schedule[schedule_bytes];
    expand(schedule, work.key, tables);
    *new (memory) StateJob = {work.in, work.out, work.blocks};
    const bool copied =
        cudaMemcpyToSymbol(global_schedule, schedule, sizeof schedule) == cudaSuccess &&
        cudaMemcpyToSymbol(constant_schedule, schedule, sizeof schedule) == cudaSuccess &&
        cudaMemcpyToSymbol(constant_key, work.key, key_bytes) == cudaSuccess;
    return copied ? WARPSEAL_OK : WARPSEAL_NO_DEVICE;
}

template <Upto step, bool decrypts>
const Study* study() {
    static const Study study{.kernel = reinterpret_cast<const void*>(&states<step, decrypts>),
                             .fill = fill,
                             .threads = 256,
                             .stays = false,
                             .shared_bytes = shared_table_bytes<step> + shared_key_bytes<step>,
                             .shared_bytes_per_thread =
                                 step >= Upto::shared_state && step < Upto::shared_tables ? 32 : 0};
    return &study;
}

}  // namespace

std::span<const Step> gkrypt_steps() {
    static constexpr Family encrypt{"aes-256", "ecb"}, decrypt{"aes-256", "ecb", true};
    static constexpr const char
        *global =
            "a thread a block, a state of bytes, products by logarithms; tables and round keys in "
            "global memory",
        *constant = "tables and round keys in constant memory",
        *state = "the state and its successor in shared memory",
        *unrolled = "loops over bytes unrolled",
        *keys =
            "the article's last kernel: the key expanded by the first thread of each block, "
            "into shared memory",
        *shared = "ours: tables in shared memory as well, the unrolled state back in registers",
        *product = "the product: src/backends/cuda/kernels/sweep.cuh, tables of columns";
    static constexpr const char
        *cached =
            "caches serve tables; a state with run-time indexes lies in local memory, which they "
            "serve too",
        *in_line =
            "constant memory serves one address at a time: 32 lanes that want 32 entries wait in "
            "line",
        *same = "where the state lies does not matter while constant memory is what is waited for",
        *less = "less arithmetic beside the same wait",
        *hidden = "one thread's 60 words hide behind 256 blocks of text",
        *banks = "P1's place for tables is the article's missing step",
        *columns = "a table of columns takes one look-up where logarithms take nine";
    static const Step steps[] = {
        encrypt.step("gkrypt.global", global, cached, study<Upto::global, false>(), "P3"),
        encrypt.step("gkrypt.constant", constant, in_line, study<Upto::constant, false>(), "P3"),
        encrypt.step("gkrypt.shared-state", state, same, study<Upto::shared_state, false>(), "P3"),
        encrypt.step("gkrypt.unrolled", unrolled, less, study<Upto::unrolled, false>(), "P3"),
        encrypt.step("gkrypt.device-keys", keys, hidden, study<Upto::device_keys, false>(), "P3"),
        encrypt.step("gkrypt.shared-tables", shared, banks, study<Upto::shared_tables, false>()),
        encrypt.product("gkrypt.product", product, columns),
        decrypt.step("gkrypt.decrypt.global", global, cached, study<Upto::global, true>(), "P3"),
        decrypt.step("gkrypt.decrypt.constant", constant, in_line, study<Upto::constant, true>(),
                     "P3"),
        decrypt.step("gkrypt.decrypt.shared-state", state, same, study<Upto::shared_state, true>(),
                     "P3"),
        decrypt.step("gkrypt.decrypt.unrolled", unrolled, less, study<Upto::unrolled, true>(),
                     "P3"),
        decrypt.step("gkrypt.decrypt.device-keys", keys, hidden, study<Upto::device_keys, true>(),
                     "P3"),
        decrypt.step("gkrypt.decrypt.shared-tables", shared, banks,
                     study<Upto::shared_tables, true>()),
        decrypt.product("gkrypt.decrypt.product", product, columns),
    };
    return steps;
}

}  // namespace warpseal::ladder
