// XTS (IEEE 1619, SP 800-38E): the tweak of every 32nd block of each data unit is made first; a thread takes a block from there.
#pragma once

#include "backends/cuda/launch.cuh"
#include "backends/cuda/state.cuh"
#include "modes/xts.h"

namespace warpseal::cuda {

// A tweak times x^k, k < 32: what modes::advance_tweak does where k is known, by funnel shifts.
__device__ __forceinline__ Block<4> times_x(const Block<4>& t, uint32_t k) {
    const uint32_t out = __funnelshift_l(t.word[3], 0, k);
    Block<4> r;
#pragma unroll
    for (int i = 3; i > 0; --i) r.word[i] = __funnelshift_l(t.word[i - 1], t.word[i], k);
    r.word[0] = t.word[0] << k ^ out ^ out << 1 ^ out << 2 ^ out << 7;
    r.word[1] ^= out >> 31 ^ out >> 30 ^ out >> 25;
    return r;
}
// GHASH's elements are the same field with the bits the other way round.
__device__ __forceinline__ Element element_of(const Block<4>& t) {
    Element e;
#pragma unroll
    for (int i = 0; i < 4; ++i) e.word[i] = __brev(t.word[3 - i]);
    return e;
}
__device__ __forceinline__ Block<4> tweak_of(const Element& e) {
    Block<4> t;
#pragma unroll
    for (int i = 0; i < 4; ++i) t.word[i] = __brev(e.word[3 - i]);
    return t;
}

// x^(2048 n)
__device__ inline Block<4> power_of_x2048(uint32_t n) {
    Element factor, power = one();
    factor.word[1] = 0x80000000u;  // x^64
#pragma unroll 1
    for (int i = 0; i < 5; ++i) factor = square(factor);
#pragma unroll 1
    for (; n != 0; n >>= 1) {
        if (n & 1) power = multiply_once(power, factor);
        factor = square(factor);
    }
    return tweak_of(power);
}

template <class Cipher>
struct TweakJob {
    uint32_t schedule[Cipher::schedule_words];
    Block<4> first;        // number of the first unit
    uint32_t units, rows;  // of 32 blocks, in each unit
    Block<4>* tweaks;      // [unit][row]
};

// A thread makes 64 rows' tweaks.
template <class Way, class Fit>
__global__ void __launch_bounds__(tuning::threads, 1) tweak_kernel(const __grid_constant__ TweakJob<typename Way::Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    const Layout<Way, Fit> look(shared);
    const uint32_t parts = (job.rows + 63) / 64;
    for (uint64_t item = uint64_t{threadIdx.x} * gridDim.x + blockIdx.x; item < uint64_t{job.units} * parts;
         item += uint64_t{gridDim.x} * tuning::threads) {
        const uint32_t unit = static_cast<uint32_t>(item % job.units), part = static_cast<uint32_t>(item / job.units);
        Block<4> t = modes::unit_number(job.first, unit);
        Way::run(t, job.schedule, look);
        if (part != 0) t = tweak_of(multiply_once(element_of(t), element_of(power_of_x2048(part))));
        const uint32_t end = job.rows < part * 64 + 64 ? job.rows : part * 64 + 64;
        for (uint32_t row = part * 64; row < end; ++row, t = modes::advance_tweak(t, 32)) job.tweaks[uint64_t{unit} * job.rows + row] = t;
    }
}

template <class Cipher>
struct XtsJob {
    uint32_t schedule[Cipher::schedule_words];
    const uint8_t* in;
    uint8_t* out;
    uint64_t bytes, unit_bytes;
    uint32_t units, unit_blocks, rows;  // whole blocks of a unit
    uint32_t blocks;                    // whole ones of all units
    uint32_t reciprocal;                // 2^32 / unit_blocks, rounded down
    const Block<4>* tweaks;
};

template <class Way, class Fit, Direction direction>
__global__ void __launch_bounds__(tuning::threads, 1) xts_kernel(const __grid_constant__ XtsJob<typename Way::Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    const Layout<Way, Fit> look(shared);
    const uint32_t width = width_of(reinterpret_cast<uintptr_t>(job.in) | reinterpret_cast<uintptr_t>(job.out) | job.unit_bytes);
    for (uint64_t at = uint64_t{blockIdx.x} * tuning::threads + threadIdx.x; at < job.blocks; at += uint64_t{gridDim.x} * tuning::threads) {
        const uint32_t i = static_cast<uint32_t>(at);
        uint32_t unit = __umulhi(i, job.reciprocal), j = i - unit * job.unit_blocks;
        if (j >= job.unit_blocks) ++unit, j -= job.unit_blocks;
        const uint64_t place = unit * job.unit_bytes + 16 * j;
        const uint8_t* const in = job.in + place;
        uint8_t* const out = job.out + place;
        const Block<4> t = times_x(job.tweaks[unit * job.rows + j / 32], j % 32);
        Block<4> mask = t, other = t;
        // The last whole block of a unit that is not whole blocks lends the one after it what it lacks, and takes its place.
        const uint64_t rest = (unit + 1 == job.units ? job.bytes - unit * job.unit_bytes : job.unit_bytes) - 16 * j;
        const uint32_t tail = rest < 32 ? static_cast<uint32_t>(rest) - 16 : 0;
        if (tail != 0) (direction == Direction::encrypt ? other : mask) = times_x(t, 1);
        Block<4> b = load_part<4>(in, 16, width) ^ mask;
        Way::run(b, job.schedule, look);
        b = b ^ mask;
        if (tail != 0) {
            const Block<4> stolen = splice(load_part<4>(in + 16, tail, 1), b, tail);
            store_part(out + 16, b, tail, 1);
            b = run_once<Way>(stolen ^ other, job.schedule, look) ^ other;
        }
        store_part(out, b, 16, width);
    }
}

// In parts of whole units, so that the tweaks take a bounded scratch.
template <class Cipher, Direction direction, class Fit>
warpseal_status xts(const void* state, const void* tweak_state, const XtsUnits& units, const uint8_t* in, uint8_t* out, size_t bytes,
                    void* stream_pointer) {
    using Way = Way<Cipher, direction>;
    using Forward = cuda::Way<Cipher, Direction::encrypt>;
    const auto stream = static_cast<cudaStream_t>(stream_pointer);
    Limits limits;
    const warpseal_status status = current_limits(limits);
    if (status != WARPSEAL_OK || bytes == 0) return status;
    const uint64_t unit_bytes = std::min<uint64_t>(units.unit_bytes, bytes), unit_blocks = unit_bytes / 16, rows = (unit_blocks + 31) / 32;
    const uint64_t all = (bytes + unit_bytes - 1) / unit_bytes;
    const uint64_t at_once = std::min<uint64_t>(std::max<uint64_t>(tuning::tweaks_at_once / rows, 1), all);
    SecretOf<XtsJob<Cipher>> secret;
    SecretOf<TweakJob<Cipher>> tweak_secret;
    XtsJob<Cipher>& job = secret.value;
    TweakJob<Cipher>& tweak_job = tweak_secret.value;
    job = {};
    tweak_job = {};
    memcpy(job.schedule, static_cast<const State<Cipher>*>(state)->template schedule<direction>(), sizeof job.schedule);
    memcpy(tweak_job.schedule, static_cast<const State<Cipher>*>(tweak_state)->forward, sizeof tweak_job.schedule);
    const Block<4> first = load_block<4>(units.first);
    job.unit_bytes = unit_bytes;
    job.unit_blocks = static_cast<uint32_t>(unit_blocks);
    job.rows = tweak_job.rows = static_cast<uint32_t>(rows);
    job.reciprocal = static_cast<uint32_t>(std::min<uint64_t>((uint64_t{1} << 32) / unit_blocks, UINT32_MAX));
    return with_scratch(at_once * rows * 16, stream, [&](void* scratch) {
        job.tweaks = tweak_job.tweaks = static_cast<Block<4>*>(scratch);
        warpseal_status queued = WARPSEAL_OK;
        for (uint64_t unit = 0; unit < all && queued == WARPSEAL_OK; unit += at_once) {
            job.units = tweak_job.units = static_cast<uint32_t>(std::min(at_once, all - unit));
            tweak_job.first = modes::unit_number(first, unit);
            job.in = in + unit * unit_bytes;
            job.out = out + unit * unit_bytes;
            job.bytes = std::min<uint64_t>(bytes - unit * unit_bytes, job.units * unit_bytes);
            job.blocks = static_cast<uint32_t>((job.units - 1) * unit_blocks + (job.bytes - (job.units - 1) * unit_bytes) / 16);
            const uint64_t threads = job.units * ((rows + 63) / 64);
            queued = launch(tweak_kernel<Forward, Fit>, blocks_for((threads + 31) / 32, limits),
                            shared_bytes<Forward, Fit>(limits.architecture), tweak_job, stream);
            if (queued == WARPSEAL_OK)
                queued = launch(xts_kernel<Way, Fit, direction>, blocks_for((uint64_t{job.blocks} + 31) / 32, limits),
                                shared_bytes<Way, Fit>(limits.architecture), job, stream);
        }
        return queued;
    });
}

}  // namespace warpseal::cuda
