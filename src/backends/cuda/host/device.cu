// CUDA runtime state: errors, the fork check, device limits, memory and events.
#include "backends/cuda/host/device.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "core/secret.h"

namespace warpseal::cuda {

namespace {

std::atomic<bool> context_lost{false};
std::atomic<pid_t> first_user{0};  // first process that used CUDA; 0 if none
std::atomic<bool> any_length{false};

// Queried for the architecture it was compiled for; all kernels are compiled for the same ones.
__global__ void probe() {}

// True for errors after which every further call of the process fails, according to the CUDA
// runtime's documentation.
bool is_sticky(cudaError_t error) {
    switch (error) {
        case cudaErrorIllegalAddress:
        case cudaErrorLaunchFailure:
        case cudaErrorLaunchTimeout:
        case cudaErrorHardwareStackError:
        case cudaErrorIllegalInstruction:
        case cudaErrorMisalignedAddress:
        case cudaErrorInvalidAddressSpace:
        case cudaErrorInvalidPc:
        case cudaErrorAssert:
        case cudaErrorECCUncorrectable:
        case cudaErrorNvlinkUncorrectable:
        case cudaErrorContained:
        case cudaErrorExternalDevice:
        case cudaErrorContextIsDestroyed:
        case cudaErrorMpsClientTerminated:
        case cudaErrorMpsRpcFailure:
        case cudaErrorCudartUnloading:
        case cudaErrorDeviceUninitialized:
        case cudaErrorUnknown: return true;
        default: return false;
    }
}

}  // namespace

warpseal_status check(cudaError_t error) {
    if (error == cudaSuccess) return WARPSEAL_OK;
    if (is_sticky(error)) {
        context_lost = true;
        return WARPSEAL_NO_DEVICE;
    }
    // Not sticky: clear it, so that the next call does not report it again.
    cudaGetLastError();
    return error == cudaErrorMemoryAllocation ? WARPSEAL_OUT_OF_MEMORY : WARPSEAL_NO_DEVICE;
}

bool lost() {
    const pid_t user = first_user;
    return context_lost || (user != 0 && user != getpid());
}

warpseal_status enter() {
    pid_t nobody = 0;
    first_user.compare_exchange_strong(nobody, getpid());
    return lost() ? WARPSEAL_NO_DEVICE : WARPSEAL_OK;
}

void accept_any_length(bool on) { any_length = on; }

warpseal_status current_limits(Limits& limits) {
    static std::mutex mutex;
    static std::vector<Limits> known;
    int device = 0;
    warpseal_status status = enter();
    if (status == WARPSEAL_OK) status = check(cudaGetDevice(&device));
    if (status != WARPSEAL_OK) return status;
    const std::lock_guard lock(mutex);
    try {
        if (known.size() <= static_cast<size_t>(device)) known.resize(device + 1);
    } catch (const std::bad_alloc&) {
        return WARPSEAL_OUT_OF_MEMORY;
    }
    Limits& l = known[device];
    if (l.multiprocessors == 0) {
        int count = 0;
        cudaFuncAttributes attributes{};
        status = check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
        if (status == WARPSEAL_OK) status = check(cudaFuncGetAttributes(&attributes, probe));
        if (status != WARPSEAL_OK) return status;
        l = {count, attributes.ptxVersion};
    }
    limits = l;
    limits.any_length = any_length;
    return WARPSEAL_OK;
}

namespace {

// Never destroyed: CUDA may be gone before static objects are destroyed.
struct LaunchLog {
    std::mutex mutex;
    // By device and kernel: the last launch since the last zeroization.
    std::map<std::pair<int, const void*>, LaunchRecord> launches;
    std::map<int, cudaStream_t> streams;  // by device: for launches that overwrite parameters
};
LaunchLog& launch_log() {
    static auto* log = new LaunchLog;
    return *log;
}

// An all-zero job, for which every kernel returns without work.
alignas(64) uint8_t zero_job[job_bytes_limit];

void zeroize_launched(int device) {
    const std::lock_guard lock(launch_log().mutex);
    auto& all = launch_log().launches;
    const auto first = all.lower_bound({device, nullptr}),
               end = all.lower_bound({device + 1, nullptr});
    if (first == end) return;
    const CurrentDevice current(device);
    // Keys may be destroyed while another thread captures a stream.
    const RelaxedCaptureMode relaxed;
    cudaStream_t& stream = launch_log().streams[device];
    if (current.status() != WARPSEAL_OK || relaxed.status() != WARPSEAL_OK) return;
    if (stream == nullptr &&
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)) != WARPSEAL_OK)
        return;
    for (auto i = first; i != end && !lost(); ++i) {
        void* arguments[] = {zero_job};
        check(cudaLaunchKernel(i->second.kernel, dim3(1), dim3(i->second.threads), arguments,
                               i->second.shared_bytes, stream));
    }
    all.erase(first, end);
}

}  // namespace

warpseal_status record_launch(const LaunchRecord& launch) try {
    int device = 0;
    if (lost()) return WARPSEAL_NO_DEVICE;
    if (check(cudaGetDevice(&device)) != WARPSEAL_OK)
        return lost() ? WARPSEAL_NO_DEVICE : WARPSEAL_OK;
    const std::lock_guard lock(launch_log().mutex);
    launch_log().launches[{device, launch.kernel}] = launch;
    return WARPSEAL_OK;
} catch (const std::bad_alloc&) {
    // Out of host memory: the driver's copy of the parameters stays until the kernel's next launch.
    return WARPSEAL_OK;
}

void zeroize_launches(int device) try {
    // Not in a forked child, where the lock may be held forever.
    if (!lost()) zeroize_launched(device);
} catch (const std::bad_alloc&) {
    // No stream to launch on: the parameters stay, as above.
}

CurrentDevice::CurrentDevice(int device) : status_(enter()) {
    int before = -1;
    if (status_ == WARPSEAL_OK) status_ = check(cudaGetDevice(&before));
    if (status_ != WARPSEAL_OK || before == device) return;
    status_ = check(cudaSetDevice(device));
    if (status_ == WARPSEAL_OK) before_ = before;
}

CurrentDevice::~CurrentDevice() {
    if (before_ >= 0 && !lost()) check(cudaSetDevice(before_));
}

RelaxedCaptureMode::RelaxedCaptureMode() : status_(enter()) {
    if (status_ == WARPSEAL_OK) status_ = check(cudaThreadExchangeStreamCaptureMode(&mode_));
}

RelaxedCaptureMode::~RelaxedCaptureMode() {
    if (status_ == WARPSEAL_OK && !lost()) check(cudaThreadExchangeStreamCaptureMode(&mode_));
}

warpseal_status not_captured(cudaStream_t stream) {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    const warpseal_status status = check(cudaStreamIsCapturing(stream, &capture));
    if (status != WARPSEAL_OK) return status;
    return capture == cudaStreamCaptureStatusNone ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT;
}

warpseal_status is_done(cudaEvent_t event, bool* done) {
    const cudaError_t error = cudaEventQuery(event);
    *done = error == cudaSuccess;
    if (error != cudaErrorNotReady) return check(error);
    // Not an error, but the runtime records cudaErrorNotReady as the last one.
    cudaGetLastError();
    return WARPSEAL_OK;
}

warpseal_status device_count(int* count) {
    *count = 0;
    const warpseal_status status = enter();
    return status != WARPSEAL_OK ? status : check(cudaGetDeviceCount(count));
}

warpseal_status describe(int device, warpseal_device_info* info) {
    memset(info, 0, sizeof *info);
    cudaDeviceProp properties;
    int driver = 0;
    warpseal_status status = enter();
    if (status == WARPSEAL_OK) status = check(cudaGetDeviceProperties(&properties, device));
    if (status == WARPSEAL_OK) status = check(cudaDriverGetVersion(&driver));
    if (status != WARPSEAL_OK) return status;
    snprintf(info->name, sizeof info->name, "%.127s", properties.name);
    snprintf(info->driver, sizeof info->driver, "%d.%d", driver / 1000, driver % 1000 / 10);
    info->compute_capability = static_cast<uint32_t>(properties.major * 10 + properties.minor);
    info->multiprocessors = static_cast<uint32_t>(properties.multiProcessorCount);
    info->memory_bytes = properties.totalGlobalMem;
    info->shared_bytes_per_block = properties.sharedMemPerBlockOptin;
    return WARPSEAL_OK;
}

warpseal_status device_alloc(int device, size_t bytes, void** out) {
    *out = nullptr;
    const CurrentDevice current(device);
    return current.status() != WARPSEAL_OK ? current.status() : check(cudaMalloc(out, bytes));
}

void device_free(int device, void* memory, size_t bytes) {
    if (memory == nullptr) return;
    // The calls find the device by the address, also if it could not be made current. After a loss
    // there is no call, and the memory stays until the process ends.
    const CurrentDevice current(device);
    if (!lost()) check(cudaMemset(memory, 0, bytes));
    if (!lost()) check(cudaFree(memory));
}

warpseal_status host_alloc(int device, size_t bytes, void** out) {
    *out = nullptr;
    const CurrentDevice current(device);
    return current.status() != WARPSEAL_OK
               ? current.status()
               : check(cudaHostAlloc(out, bytes, cudaHostAllocPortable));
}

void host_free(int device, void* memory, size_t bytes) {
    if (memory == nullptr) return;
    // Also after a lost context. A forked child does not have this memory.
    if (first_user == getpid()) wipe(memory, bytes);
    const CurrentDevice current(device);
    if (!lost()) check(cudaFreeHost(memory));
}

// cudaMemcpy may return while the last bytes from pageable memory are on their way. Work on a
// non-blocking stream would not wait for them.
warpseal_status upload(int device, void* to, const void* from, size_t bytes) {
    const CurrentDevice current(device);
    warpseal_status status = current.status();
    if (status == WARPSEAL_OK) status = check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    return status == WARPSEAL_OK ? check(cudaStreamSynchronize(nullptr)) : status;
}

warpseal_status download(int device, void* to, const void* from, size_t bytes) {
    const CurrentDevice current(device);
    return current.status() != WARPSEAL_OK
               ? current.status()
               : check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

warpseal_status synchronize(int device, void* stream) {
    const CurrentDevice current(device);
    return current.status() != WARPSEAL_OK
               ? current.status()
               : check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)));
}

warpseal_status zeroize(int device, void* memory, size_t bytes) {
    const CurrentDevice current(device);
    const RelaxedCaptureMode relaxed;
    warpseal_status status = current.status();
    if (status == WARPSEAL_OK && lost()) status = WARPSEAL_NO_DEVICE;
    if (status == WARPSEAL_OK && bytes != 0) status = check(cudaMemset(memory, 0, bytes));
    return status == WARPSEAL_OK ? check(cudaStreamSynchronize(nullptr)) : status;
}

warpseal_status time(int device, warpseal_status (*work)(void* user, void* stream), void* user,
                     float* milliseconds) {
    const CurrentDevice current(device);
    cudaStream_t stream = nullptr;
    cudaEvent_t start = nullptr, end = nullptr;
    warpseal_status status = current.status();
    const auto step = [&](auto call) {
        if (status == WARPSEAL_OK) status = call();
    };
    step([&] { return check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); });
    step([&] { return check(cudaEventCreate(&start)); });
    step([&] { return check(cudaEventCreate(&end)); });
    step([&] { return check(cudaEventRecord(start, stream)); });
    step([&] { return work(user, stream); });
    step([&] { return check(cudaEventRecord(end, stream)); });
    step([&] { return check(cudaEventSynchronize(end)); });
    step([&] { return check(cudaEventElapsedTime(milliseconds, start, end)); });
    if (!lost() && stream != nullptr) check(cudaStreamSynchronize(stream));
    if (!lost() && start != nullptr) check(cudaEventDestroy(start));
    if (!lost() && end != nullptr) check(cudaEventDestroy(end));
    if (!lost() && stream != nullptr) check(cudaStreamDestroy(stream));
    return status;
}

}  // namespace warpseal::cuda
