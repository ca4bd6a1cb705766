// CUDA runtime state: error handling, the current device and its limits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "backends/cipher_backend.h"
#include "backends/cuda/host/limits.h"

namespace warpseal::cuda {

// Converts a CUDA error to a status. Every result of a runtime call must pass through here. Sticky
// errors, after which every call fails, are recorded: see `lost`.
warpseal_status check(cudaError_t error);

// True after a sticky error, and in a forked child of the first process that used CUDA. No CUDA
// call may then be made.
bool lost();

// Records which process uses CUDA. Every entry point calls this first. Returns WARPSEAL_NO_DEVICE
// if `lost`.
warpseal_status enter();

// For tests: kernels for long texts accept any length, and NTRU key pairs are inverted in groups
// however small the batch.
void accept_any_length(bool on);

// Reads the limits of the current device; cached for each device.
warpseal_status current_limits(Limits& limits);

// Makes a device current and restores the previous one on destruction.
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

// Relaxes the thread's stream capture mode: allows calls that a capture, its own or another
// thread's, would forbid. Work queued on a stream that is being captured still becomes part of the
// graph; nothing else does.
class RelaxedCaptureMode {
public:
    RelaxedCaptureMode();
    ~RelaxedCaptureMode();
    RelaxedCaptureMode(const RelaxedCaptureMode&) = delete;
    RelaxedCaptureMode& operator=(const RelaxedCaptureMode&) = delete;
    warpseal_status status() const { return status_; }

private:
    // Previous capture mode, after construction.
    cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
    warpseal_status status_;
};

// Fails with WARPSEAL_INVALID_ARGUMENT if the stream is being captured, for work that draws random
// bytes: each replay of the graph would repeat them.
warpseal_status not_captured(cudaStream_t stream);

// Sets *done to true if the device has completed all work before the event.
warpseal_status is_done(cudaEvent_t event, bool* done);

// One launch of a kernel. As long as the context lives, the driver stores the parameters of
// each kernel's last launch on the heap, round keys included (observed with driver 580).
// `zeroize_launches` overwrites them: it launches each kernel again with an all-zero job.
struct LaunchRecord {
    const void* kernel;
    size_t job_bytes, shared_bytes;
    unsigned threads;
};
// Limit of a kernel's parameters, from compute capability 7.0.
inline constexpr size_t job_bytes_limit = 32764;
// These do not throw: launches and destructors call them.
// Records a launch on the current device. Returns WARPSEAL_NO_DEVICE if the GPU is lost.
warpseal_status record_launch(const LaunchRecord& launch);
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
warpseal_status zeroize(int device, void* memory, size_t bytes);
warpseal_status time(int device, warpseal_status (*work)(void* user, void* stream), void* user,
                     float* milliseconds);

}  // namespace warpseal::cuda
