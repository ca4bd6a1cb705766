// The GPU's part of a trial: a thread for each block, as in a port of the C function to CUDA.
// Tables lie in global, constant or shared memory. device_cipher.cuh is generated for each cipher.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "gpu.h"
#include "trial.h"

namespace {

constexpr int threads_per_block = 256;

// Copies with all threads of a block. Both addresses are multiples of 16.
__device__ void copy_to_shared(unsigned char* to, const unsigned char* from, unsigned bytes) {
    for (unsigned i = 16 * threadIdx.x; i + 16 <= bytes; i += 16 * blockDim.x)
        *reinterpret_cast<uint4*>(to + i) = *reinterpret_cast<const uint4*>(from + i);
    for (unsigned i = bytes / 16 * 16 + threadIdx.x; i < bytes; i += blockDim.x) to[i] = from[i];
}

// Functions of string.h that nvcc lacks in device code. memcpy and memset it has.
__device__ void* device_memmove(void* to, const void* from, size_t bytes) {
    auto* const t = static_cast<unsigned char*>(to);
    const auto* const f = static_cast<const unsigned char*>(from);
    if (t <= f)
        for (size_t i = 0; i < bytes; ++i) t[i] = f[i];
    else
        for (size_t i = bytes; i-- > 0;) t[i] = f[i];
    return to;
}

__device__ int device_memcmp(const void* a, const void* b, size_t bytes) {
    const auto *const x = static_cast<const unsigned char*>(a),
                      *const y = static_cast<const unsigned char*>(b);
    for (size_t i = 0; i < bytes; ++i)
        if (x[i] != y[i]) return x[i] - y[i];
    return 0;
}

}  // namespace

#include "device_cipher.cuh"

namespace {

using trial::GpuResult;
using trial::Sample;

struct Failure {
    cudaError_t error;
    const char* call;
};

void check(cudaError_t error, const char* call) {
    if (error != cudaSuccess) throw Failure{error, call};
}

class Memory {
public:
    explicit Memory(size_t bytes) { check(cudaMalloc(&data_, bytes), "cudaMalloc"); }
    ~Memory() { cudaFree(data_); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    uint8_t* data() const { return static_cast<uint8_t*>(data_); }

private:
    void* data_ = nullptr;
};

class Event {
public:
    Event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
    ~Event() { cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    void record() { check(cudaEventRecord(event_), "cudaEventRecord"); }
    double seconds_since(const Event& first) const {
        float milliseconds = 0;
        check(cudaEventSynchronize(event_), "the kernel");
        check(cudaEventElapsedTime(&milliseconds, first.event_, event_), "cudaEventElapsedTime");
        return milliseconds / 1e3;
    }

private:
    cudaEvent_t event_{};
};

struct Job {
    const uint8_t* in;
    uint8_t* out;
    uint64_t blocks;
    const uint8_t* context;
    uint64_t counter_high, counter_low;  // first counter block; 8-byte blocks use counter_low alone
};

struct Block {
    alignas(16) uint8_t bytes[trial_block_bytes];
};

__device__ void store_big_endian(uint8_t* bytes, uint64_t word) {
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<uint8_t>(word >> (56 - 8 * i));
}

__device__ Block counter_block(const Job& job, uint64_t i) {
    Block block;
    const uint64_t low = job.counter_low + i;
    if constexpr (trial_block_bytes == 16)
        store_big_endian(block.bytes, job.counter_high + (low < i ? 1 : 0));
    store_big_endian(block.bytes + trial_block_bytes - 8, low);
    return block;
}

__device__ Block load(const uint8_t* from) {
    Block block;
    if constexpr (trial_block_bytes == 16)
        *reinterpret_cast<uint4*>(block.bytes) = *reinterpret_cast<const uint4*>(from);
    else
        *reinterpret_cast<uint2*>(block.bytes) = *reinterpret_cast<const uint2*>(from);
    return block;
}

__device__ void store(uint8_t* to, const Block& block) {
    if constexpr (trial_block_bytes == 16)
        *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(block.bytes);
    else
        *reinterpret_cast<uint2*>(to) = *reinterpret_cast<const uint2*>(block.bytes);
}

enum class Mode { encrypt, decrypt, ctr };

template <class Cipher, Mode mode>
__global__ void run(const Job job) {
    const uint8_t* const context = Cipher::prepare(job.context);
    const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < job.blocks; i += step) {
        const Block text = load(job.in + trial_block_bytes * i);
        const Block in = mode == Mode::ctr ? counter_block(job, i) : text;
        Block out;
        if constexpr (mode == Mode::decrypt)
            Cipher::decrypt(context, in.bytes, out.bytes);
        else
            Cipher::encrypt(context, in.bytes, out.bytes);
        if constexpr (mode == Mode::ctr)
            for (unsigned j = 0; j < trial_block_bytes; ++j) out.bytes[j] ^= text.bytes[j];
        store(job.out + trial_block_bytes * i, out);
    }
}

constexpr size_t guard_bytes = 256;
constexpr int guard = 0xa5;

class Gpu {
public:
    explicit Gpu(const Sample& sample)
        : sample_(sample),
          bytes_(sample.text.size()),
          in_(bytes_),
          out_(bytes_ + guard_bytes),
          context_(sample.context.size()) {
        check(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, 0), "a query");
        check(cudaDeviceGetAttribute(&shared_limit_, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0),
              "a query");
        check(cudaMemcpy(context_.data(), sample.context.data(), sample.context.size(),
                         cudaMemcpyHostToDevice),
              "the copy of the context");
        check(copy_tables(sample.context.data(), sample.context.size()), "the copy of tables");
    }

    // Runs one kernel over the sample, compares, and times it over a larger buffer.
    template <class Cipher, Mode mode>
    void study(const char* what, const std::vector<uint8_t>& in, const std::vector<uint8_t>& want) {
        const void* const kernel = reinterpret_cast<const void*>(&run<Cipher, mode>);
        const size_t shared = Cipher::shared_bytes;
        std::printf("  %-9s %-8s ", what, Cipher::place);
        std::fflush(stdout);
        if (shared > static_cast<size_t>(shared_limit_)) {
            std::printf("NOT RUN: %zu bytes of shared memory are needed, the GPU has %d\n", shared,
                        shared_limit_);
            return;
        }
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shared)),
              "cudaFuncSetAttribute");
        check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident_, kernel, threads_per_block,
                                                            shared),
              "the occupancy query");
        check(cudaMemcpy(in_.data(), in.data(), bytes_, cudaMemcpyHostToDevice), "a copy");
        check(cudaMemset(out_.data(), guard, bytes_ + guard_bytes), "cudaMemset");
        const double seconds = launch<Cipher, mode>(in_, out_, bytes_);
        const bool right = compare(want);
        cudaFuncAttributes use{};
        check(cudaFuncGetAttributes(&use, kernel), "cudaFuncGetAttributes");
        const double rate = right ? timed<Cipher, mode>(bytes_ / seconds) : 0;
        if (right)
            std::printf("%8.3f GB/s  %7.1f times all cores, equal on %zu blocks; ", rate,
                        rate / sample_.all_cores, bytes_ / trial_block_bytes);
        std::printf("%d registers, %zu B local, %zu B shared\n", use.numRegs, use.localSizeBytes,
                    shared);
        failed_ |= !right;
    }
    bool failed() const { return failed_; }

private:
    template <class Cipher, Mode mode>
    double launch(const Memory& in, const Memory& out, size_t bytes) {
        Job job{in.data(), out.data(), bytes / trial_block_bytes, context_.data(), 0, 0};
        for (int i = 0; i < 8; ++i) {
            job.counter_high = job.counter_high << 8 | sample_.counter[i];
            job.counter_low = job.counter_low << 8 | sample_.counter[trial_block_bytes - 8 + i];
        }
        const uint64_t needed = (job.blocks + threads_per_block - 1) / threads_per_block;
        const auto grid = static_cast<unsigned>(
            std::min<uint64_t>(needed, uint64_t(std::max(resident_, 1)) * processors_));
        Event begin, end;
        begin.record();
        run<Cipher, mode><<<grid, threads_per_block, Cipher::shared_bytes>>>(job);
        check(cudaGetLastError(), "the launch");
        end.record();
        return end.seconds_since(begin);
    }

    // GB/s, the median of five runs of about 50 ms each in device memory.
    template <class Cipher, Mode mode>
    double timed(double bytes_per_second) {
        const double wanted = std::clamp(bytes_per_second * 0.05, 1.0 * bytes_, 1.0 * (1u << 30));
        const size_t bytes = static_cast<size_t>(wanted) / 4096 * 4096 + 4096;
        const Memory in(bytes), out(bytes);
        // Random text: equal blocks would look up equal entries, without bank conflicts.
        for (size_t i = 0; i < bytes; i += bytes_)
            check(cudaMemcpy(in.data() + i, in_.data(), std::min(bytes_, bytes - i),
                             cudaMemcpyDeviceToDevice),
                  "a copy");
        launch<Cipher, mode>(in, out, bytes);
        double seconds[5];
        for (double& s : seconds) s = launch<Cipher, mode>(in, out, bytes);
        std::sort(seconds, seconds + 5);
        return bytes / seconds[2] / 1e9;
    }

    bool compare(const std::vector<uint8_t>& want) {
        std::vector<uint8_t> got(bytes_ + guard_bytes);
        check(cudaMemcpy(got.data(), out_.data(), got.size(), cudaMemcpyDeviceToHost), "a copy");
        for (size_t i = 0; i < bytes_; ++i) {
            if (got[i] == want[i]) continue;
            std::printf("WRONG: block %zu differs from the cores' result in byte %zu; ",
                        i / trial_block_bytes, i % trial_block_bytes);
            return false;
        }
        if (std::all_of(got.begin() + bytes_, got.end(), [](uint8_t b) { return b == guard; }))
            return true;
        std::printf("WRONG: bytes after the output were written; ");
        return false;
    }

    const Sample& sample_;
    size_t bytes_;
    Memory in_, out_, context_;
    int processors_ = 0, shared_limit_ = 0, resident_ = 0;
    bool failed_ = false;
};

template <class Cipher>
void study_place(Gpu& gpu, const Sample& sample) {
    gpu.study<Cipher, Mode::encrypt>("encrypt", sample.text, sample.encrypted);
    if constexpr (trial_decrypts)
        gpu.study<Cipher, Mode::decrypt>("decrypt", sample.encrypted, sample.text);
    gpu.study<Cipher, Mode::ctr>("ctr", sample.text, sample.ctr);
}

}  // namespace

trial::GpuResult trial::run_on_gpu(const Sample& sample) {
    cudaDeviceProp device{};
    cudaError_t error = cudaGetDeviceProperties(&device, 0);
    cudaFuncAttributes use{};
    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(
            &use, reinterpret_cast<const void*>(&run<in_global::Cipher, Mode::encrypt>));
    if (error != cudaSuccess) {
        std::printf(
            "\nGPU\n  NOT RUN: %s.\n"
            "  The kernels are compiled; run this program on a machine with a GPU.\n",
            cudaGetErrorString(error));
        return GpuResult::not_run;
    }
    std::printf("\nGPU: %s, data in device memory, %d threads a block\n", device.name,
                threads_per_block);
    try {
        Gpu gpu(sample);
        study_place<in_global::Cipher>(gpu, sample);
#if TRIAL_CONSTANT
        study_place<in_constant::Cipher>(gpu, sample);
#else
        std::printf("            constant NOT RUN: %s\n", trial_no_constant);
#endif
        study_place<in_shared::Cipher>(gpu, sample);
        return gpu.failed() ? GpuResult::failed : GpuResult::passed;
    } catch (const Failure& failure) {
        std::printf(
            "\n  FAILED: %s: %s. An illegal address often means a pointer to host\n"
            "  memory in the context or in a table.\n",
            failure.call, cudaGetErrorString(failure.error));
        return GpuResult::failed;
    }
}
