// Host-side helpers for running a step on a GPU: errors, memory, events, and kernels that generate
// and compare data.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "warpseal/warpseal.h"

namespace warpseal::ladder {

// Thrown at the first failure; no further calls are made.
struct Failure {
    warpseal_status status;
};
inline void check(warpseal_status status) {
    if (status != WARPSEAL_OK) throw Failure{status};
}
inline void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    cudaGetLastError();  // Clears the error for the next step.
    const bool asked_too_much =
        error == cudaErrorInvalidConfiguration || error == cudaErrorLaunchOutOfResources;
    throw Failure{error == cudaErrorMemoryAllocation ? WARPSEAL_OUT_OF_MEMORY
                  : asked_too_much                   ? WARPSEAL_INVALID_ARGUMENT
                                                     : WARPSEAL_NO_DEVICE};
}

class Memory {
public:
    explicit Memory(uint64_t bytes) : bytes_(bytes) { check(cudaMalloc(&data_, bytes)); }
    ~Memory() { cudaFree(data_); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    uint8_t* data() const { return static_cast<uint8_t*>(data_); }
    template <class T>
    T* as() const {
        return static_cast<T*>(data_);
    }
    uint64_t bytes() const { return bytes_; }
    void set(int value) { check(cudaMemset(data_, value, bytes_)); }

private:
    void* data_ = nullptr;
    uint64_t bytes_;
};

class Event {
public:
    Event() { check(cudaEventCreate(&event_)); }
    ~Event() { cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    void record() { check(cudaEventRecord(event_)); }
    double milliseconds_since(const Event& first) const {
        check(cudaEventSynchronize(event_));
        float elapsed = 0;
        check(cudaEventElapsedTime(&elapsed, first.event_, event_));
        return elapsed;
    }

private:
    cudaEvent_t event_{};
};

inline int attribute_of(int device, cudaDeviceAttr attribute) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, attribute, device));
    return value;
}

// A kernel with its block of threads, as it fits on a multiprocessor.
class Residency {
public:
    // `resident_blocks`: the most blocks at once, or 0. Throws if none fits, or if the number of
    // blocks cannot be limited to that.
    Residency(const void* kernel, int threads_per_block, size_t shared_bytes, int resident_blocks,
              int device)
        : shared_bytes_(shared_bytes) {
        const auto limit =
            static_cast<size_t>(attribute_of(device, cudaDevAttrMaxSharedMemoryPerBlockOptin));
        if (shared_bytes > limit) throw Failure{WARPSEAL_INVALID_ARGUMENT};
        if (resident_blocks != 0)
            shared_bytes_ =
                std::clamp(bytes_that_leave_room_for(resident_blocks, device), shared_bytes, limit);
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shared_bytes_)));
        check(cudaFuncSetAttribute(
            kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
            resident_blocks != 0 ? cudaSharedmemCarveoutMaxShared : cudaSharedmemCarveoutDefault));
        check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_, kernel, threads_per_block,
                                                            shared_bytes_));
        if (blocks_ == 0 || (resident_blocks != 0 && blocks_ != resident_blocks))
            throw Failure{WARPSEAL_INVALID_ARGUMENT};
        const int warps = (threads_per_block + 31) / 32,
                  most = attribute_of(device, cudaDevAttrMaxThreadsPerMultiProcessor) / 32;
        occupancy_ = static_cast<double>(blocks_ * warps) / most;
    }
    int blocks() const { return blocks_; }
    double occupancy() const { return occupancy_; }
    size_t shared_bytes() const { return shared_bytes_; }  // dynamic, with unused bytes

private:
    // The largest size of which `blocks` fit. The hardware reserves bytes for each block.
    static size_t bytes_that_leave_room_for(int blocks, int device) {
        const int all = attribute_of(device, cudaDevAttrMaxSharedMemoryPerMultiprocessor),
                  reserved = attribute_of(device, cudaDevAttrReservedSharedMemoryPerBlock);
        constexpr int unit = 128;  // Shared memory is allocated in multiples of this.
        return static_cast<size_t>(std::max(all / blocks / unit * unit - reserved, 0));
    }

    size_t shared_bytes_;
    int blocks_ = 0;
    double occupancy_ = 0;
};

inline constexpr int threads = 256;

static __global__ void fill_with_noise(uint64_t* words, uint64_t count) {
    for (uint64_t i = uint64_t{blockIdx.x} * threads + threadIdx.x; i < count;
         i += uint64_t{gridDim.x} * threads) {
        uint64_t x = (i + 1) * 0x9e3779b97f4a7c15;  // splitmix64
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
        x = (x ^ x >> 27) * 0x94d049bb133111eb;
        words[i] = x ^ x >> 31;
    }
}

static __global__ void count_differences(const uint64_t* a, const uint64_t* b, uint64_t count,
                                         uint32_t* differences) {
    bool found = false;
    for (uint64_t i = uint64_t{blockIdx.x} * threads + threadIdx.x; i < count;
         i += uint64_t{gridDim.x} * threads)
        found |= a[i] != b[i];
    if (found) atomicAdd(differences, 1);
}

// XORs all blocks of 16 bytes into `sum`, four words.
static __global__ void sum_blocks(const uint4* blocks, uint64_t count, uint32_t* sum) {
    uint4 s{};
    for (uint64_t i = uint64_t{blockIdx.x} * threads + threadIdx.x; i < count;
         i += uint64_t{gridDim.x} * threads) {
        const uint4 b = blocks[i];
        s = {s.x ^ b.x, s.y ^ b.y, s.z ^ b.z, s.w ^ b.w};
    }
    atomicXor(sum, s.x);
    atomicXor(sum + 1, s.y);
    atomicXor(sum + 2, s.z);
    atomicXor(sum + 3, s.w);
}

using Sum = std::array<uint32_t, 4>;

// XOR of blocks in device memory.
class BlockSum {
public:
    BlockSum() : memory_(sizeof(Sum)) { memory_.set(0); }
    void add(const uint8_t* blocks, uint64_t count) {
        sum_blocks<<<1024, threads>>>(reinterpret_cast<const uint4*>(blocks), count,
                                      memory_.as<uint32_t>());
        check(cudaGetLastError());
    }
    Sum get() const {
        Sum sum;
        check(cudaMemcpy(sum.data(), memory_.data(), sizeof sum, cudaMemcpyDeviceToHost));
        return sum;
    }

private:
    Memory memory_;
};

}  // namespace warpseal::ladder
