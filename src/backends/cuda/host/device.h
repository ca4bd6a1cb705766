// The one place that knows the CUDA runtime's state: errors and which of them end it for this
// process, the current device, its limits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "backends/cipher_backend.h"

namespace warpseal::cuda {

// Every call of the runtime goes through here. Errors that poison the context (CUDA returns them
// from then on) are latched as `lost`.
warpseal_status check(cudaError_t error);

// True after such an error, and in a forked child of the process that first used CUDA: no call may
// be made any more.
bool lost();

// Every way in passes here first: notes which process uses CUDA; WARPSEAL_NO_DEVICE if lost.
warpseal_status enter();

struct Limits {
    int multiprocessors = 0;
    int architecture = 0;  // for which the code that runs there was compiled: 90 for 9.0
    bool any_length = false;

    // From how much on a kernel for long texts takes a text.
    uint64_t from(uint64_t bytes) const { return any_length ? 0 : bytes; }
};

// For tests: kernels for long texts take those of any length, and NTRU's pairs are inverted in
// groups however few there are.
void accept_any_length(bool on);

// Of the current device; read once per device.
warpseal_status current_limits(Limits& limits);

// Makes a device current and, when it goes, the one that was.
class CurrentDevice {
public:
    explicit CurrentDevice(int device);
    ~CurrentDevice();
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;
    warpseal_status status() const { return status_; }

private:
    warpseal_status status_;
    int before_ = -1;
};

// While it lives, this thread may make calls that a capture forbids, its own or another thread's;
// what is queued on a stream that is being captured still becomes part of the graph, and nothing
// else does.
class BesideCaptures {
public:
    BesideCaptures();
    ~BesideCaptures();
    BesideCaptures(const BesideCaptures&) = delete;
    BesideCaptures& operator=(const BesideCaptures&) = delete;
    warpseal_status status() const { return status_; }

private:
    cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // then, the one that was
    warpseal_status status_;
};

// Whether the device is done with what was queued before that event.
warpseal_status is_done(cudaEvent_t event, bool* done);

// A kernel that was launched. The driver keeps, on the heap and for as long as the context lives, a
// copy of the parameters of each kernel's last launch (seen with driver 580), round keys among
// them: `forget` launches each once more, without work.
struct Launched {
    const void* kernel;
    size_t job_bytes, shared_bytes;
    unsigned threads;
};
inline constexpr size_t job_bytes_limit =
    32764;  // a kernel's parameters, from compute capability 7.0
// Neither throws: launches and destructors call them.
void record_launch(const Launched& launched);  // on the current device
void zeroize_launches(int device);

warpseal_status device_count(int* count);
warpseal_status describe(int device, warpseal_device_info* info);
warpseal_status device_alloc(int device, size_t bytes, void** out);
void device_free(int device, void* memory, size_t bytes);
warpseal_status host_alloc(int device, size_t bytes, void** out);
void host_free(int device, void* memory, size_t bytes);
warpseal_status upload(int device, void* to, const void* from, size_t bytes);
warpseal_status download(int device, void* to, const void* from, size_t bytes);
warpseal_status synchronize(int device, void* stream);
warpseal_status time(int device, warpseal_status (*work)(void* user, void* stream), void* user,
                     float* milliseconds);

}  // namespace warpseal::cuda
