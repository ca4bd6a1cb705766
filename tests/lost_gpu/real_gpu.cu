// A real GPU, which a kernel that stores to an unmapped address takes from this process. All copies
// of the CUDA runtime in a process share one context, so the library's calls fail as well. It is no
// trap: after runs with traps the driver reset the GPU of the whole machine.
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

__global__ void store_at(uintptr_t address, bool happens) {
    if (happens) *reinterpret_cast<volatile uint32_t*>(address) = 1;
}

// The driver maps no memory at the lowest addresses.
constexpr uintptr_t unmapped_address = 4096;

// A stream of its own: the store waits for no other work.
cudaStream_t stream = nullptr;

cudaError_t launch(bool happens) {
    store_at<<<1, 1, 0, stream>>>(unmapped_address, happens);
    return cudaGetLastError();
}

void lose_now(int device) {
    cudaError_t error = cudaSetDevice(device);
    if (error == cudaSuccess) error = launch(true);
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
    if (error == cudaSuccess) error = launch(false);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "the test cannot prepare a loss: %s\n", cudaGetErrorString(error));
    std::_Exit(cannot_test);
}

void lose(int device, uint64_t later) {
    if (later == 0) return lose_now(device);
    waiting = std::jthread([device, later] {
        std::this_thread::sleep_for(std::chrono::microseconds(later));
        lose_now(device);
    });
}

}  // namespace lost_gpu
