// A real GPU, which a kernel that faults takes from this process. All copies of the CUDA runtime in
// a process share one context, so the library's calls fail as well.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "lose.h"

// The linker's --wrap gives the backend's own function this name.
extern "C" const warpseal::GpuBackend* __real__ZN8warpseal11gpu_backendEv();

namespace lost_gpu {
namespace {

constexpr int cannot_test = 99;  // exit status

__global__ void fault(Cause cause, bool happens, volatile uint32_t* nowhere) {
    if (!happens) return;
    if (cause == Cause::trap) asm volatile("trap;");
    *nowhere = 1;
}

// A stream of its own: the fault waits for no other work.
cudaStream_t stream = nullptr;

cudaError_t launch(Cause cause, bool happens) {
    constexpr uintptr_t unmapped = 4096;
    fault<<<1, 1, 0, stream>>>(cause, happens, reinterpret_cast<volatile uint32_t*>(unmapped));
    return cudaGetLastError();
}

void lose_now(int device, Cause cause) {
    cudaError_t error = cudaSetDevice(device);
    if (error == cudaSuccess) error = launch(cause, true);
    if (error != cudaSuccess)
        std::fprintf(stderr, "the test cannot lose the GPU: %s\n", cudaGetErrorString(error));
}

std::jthread waiting;

}  // namespace

const warpseal::GpuBackend* backend_to_lose() { return __real__ZN8warpseal11gpu_backendEv(); }

bool is_real() { return true; }

void prepare_loss(int device) {
    cudaError_t error = cudaSetDevice(device);
    if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (error == cudaSuccess) error = launch(Cause::trap, false);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "the test cannot prepare a loss: %s\n", cudaGetErrorString(error));
    std::_Exit(cannot_test);
}

void lose(int device, Cause cause, uint64_t later) {
    if (later == 0) return lose_now(device, cause);
    waiting = std::jthread([device, cause, later] {
        std::this_thread::sleep_for(std::chrono::microseconds(later));
        lose_now(device, cause);
    });
}

}  // namespace lost_gpu
