// The part of CUDA that scripts/trial/gpu.cu uses, on a core: the threads of a kernel run one after
// the other, and device memory is host memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#define __device__
#define __constant__
#define __shared__
#define __global__
#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ inline

struct Index {
    unsigned x;
};
inline Index threadIdx, blockIdx, blockDim, gridDim;

struct uint2 {
    unsigned x, y;
};
struct uint4 {
    unsigned x, y, z, w;
};

enum cudaError_t { cudaSuccess };
enum {
    cudaDevAttrMultiProcessorCount,
    cudaDevAttrMaxSharedMemoryPerBlockOptin,
    cudaFuncAttributeMaxDynamicSharedMemorySize,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice
};
struct cudaDeviceProp {
    char name[16] = "a core as a GPU";
};
struct cudaFuncAttributes {
    int numRegs;
    size_t localSizeBytes;
};
using cudaEvent_t = std::chrono::steady_clock::time_point;

inline const char* cudaGetErrorString(cudaError_t) { return "no error"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaMalloc(void** data, size_t bytes) {
    *data = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    return cudaSuccess;
}
inline void cudaFree(void* data) { std::free(data); }
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, int) {
    std::memcpy(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemset(void* data, int value, size_t bytes) {
    std::memset(data, value, bytes);
    return cudaSuccess;
}
template <class Symbol>
cudaError_t cudaMemcpyToSymbol(Symbol& symbol, const void* from, size_t bytes) {
    std::memcpy(const_cast<std::remove_cv_t<Symbol>*>(&symbol), from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaEventCreate(cudaEvent_t*) { return cudaSuccess; }
inline void cudaEventDestroy(cudaEvent_t) {}
inline cudaError_t cudaEventRecord(cudaEvent_t& event) {
    event = std::chrono::steady_clock::now();
    return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float* elapsed, cudaEvent_t begin, cudaEvent_t end) {
    *elapsed = std::chrono::duration<float, std::milli>(end - begin).count();
    return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, int attribute, int) {
    *value = attribute == cudaDevAttrMultiProcessorCount ? 2 : 232448;
    return cudaSuccess;
}
inline cudaError_t cudaFuncSetAttribute(const void*, int, int) { return cudaSuccess; }
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, const void*) { return cudaSuccess; }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int) { return cudaSuccess; }
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int,
                                                                 size_t) {
    *blocks = 4;
    return cudaSuccess;
}

inline void __syncthreads() {}

// Byte i of the result is the byte of y:x that digit i of the selector names.
inline uint32_t __byte_perm(uint32_t x, uint32_t y, uint32_t selector) {
    const uint64_t both = uint64_t{y} << 32 | x;
    uint32_t result = 0;
    for (int i = 0; i < 4; ++i)
        result |= uint32_t(both >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    return result;
}

// Runs a kernel. The threads of the first block run twice: before the barrier with no text, so that
// shared memory is whole when the first thread needs it.
template <class Job>
void launch_on_core(void (*kernel)(Job), unsigned grid, unsigned threads, Job job) {
    gridDim.x = grid;
    blockDim.x = threads;
    Job no_text = job;
    no_text.blocks = 0;
    blockIdx.x = 0;
    for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) kernel(no_text);
    for (blockIdx.x = 0; blockIdx.x < grid; ++blockIdx.x)
        for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) kernel(job);
}
