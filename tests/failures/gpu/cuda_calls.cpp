// Calls of the CUDA runtime that fail: see cuda_calls.h. A call that fails is chosen by the place
// in the library that makes it and by its ordinal there, as the number of polls varies.
#include "cuda_calls.h"

#include <cuda_runtime_api.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <thread>
#include <vector>

#include "../handles.h"
#include "../injection.h"
#include "backends/batch_message.h"

// The runtime's own function, by the name that the linker's --wrap gives it.
extern "C" cudaError_t __real_cudaDeviceSynchronize();

namespace injection {
namespace {

enum class Kind : unsigned char {
    allocates,  // may find no memory: fails in place of the call
    queues,     // fails in place of the call
    waits,      // also frees, asks or sets something: is made, then fails
};

// One place in the library, and its calls in the run without a failure.
struct Place {
    const void* address;
    const char* name;
    long calls;
};
// The first call at a place in a public function.
struct Use {
    size_t place;
    const char* function;
    long ordinal;
};

// What the run without a failure called. Its parent reads it in shared memory.
struct Calls {
    static constexpr size_t most_places = 1024, most_uses = 8192;
    size_t places, uses;
    Place place[most_places];
    Use use[most_uses];

    void add(const void* address, const char* name, const char* function);
};

void Calls::add(const void* address, const char* name, const char* function) {
    const auto known = std::find_if(place, place + places,
                                    [&](const Place& one) { return one.address == address; });
    if (known == place + most_places) works::complain(name, "too many places for the test");
    if (known == place + places) place[places++] = {address, name, 0};
    ++known->calls;
    const auto at = static_cast<size_t>(known - place);
    const bool used = std::any_of(use, use + uses, [&](const Use& one) {
        return one.place == at && std::strcmp(one.function, function) == 0;
    });
    if (used) return;
    if (uses == most_uses) works::complain(name, "too many uses for the test");
    use[uses++] = {at, function, known->calls};
}

// Objects of one kind that were made and not freed.
class Live {
public:
    void add(const void* object) {
        const std::lock_guard lock(mutex_);
        const auto free = std::find(objects_, objects_ + most, nullptr);
        if (free == objects_ + most) works::complain("the test", "too many objects of the GPU");
        *free = object;
    }
    void remove(const void* object) {
        const std::lock_guard lock(mutex_);
        const auto found = std::find(objects_, objects_ + most, object);
        if (found != objects_ + most) *found = nullptr;
    }
    long count() {
        const std::lock_guard lock(mutex_);
        return most - std::count(objects_, objects_ + most, nullptr);
    }

private:
    static constexpr long most = 1024;
    std::mutex mutex_;
    const void* objects_[most] = {};
};
Live device_memory, iv_counters, pinned_memory, scratch, streams, events, pools;

// The counters of drawn IVs are never freed. Nothing else has their size.
void add_memory(const void* memory, size_t bytes) {
    (bytes == sizeof(warpseal::IvCounter) ? iv_counters : device_memory).add(memory);
}
void remove_memory(const void* memory) {
    iv_counters.remove(memory);
    device_memory.remove(memory);
}

Calls* calls = nullptr;  // shared with the parent
struct Chosen {
    const void* address;
    long ordinal;
};
std::vector<Chosen> chosen;

// The run of this process.
std::mutex mutex;
Fault fault = Fault::nothing;
bool active = false, records = false;
Chosen wanted = {};
std::atomic<bool> failed{false};
long number_of_run = 0, counted = 0, ordinal = 0;

// Errors after which a process cannot use CUDA.
constexpr cudaError_t sticky_errors[] = {cudaErrorIllegalAddress, cudaErrorLaunchFailure,
                                         cudaErrorLaunchTimeout, cudaErrorECCUncorrectable,
                                         cudaErrorHardwareStackError};
std::atomic<cudaError_t> loss{cudaSuccess};
std::atomic<int> in_progress{0}, calls_after_loss{0};

class InProgress {
public:
    InProgress() { ++in_progress; }
    ~InProgress() { --in_progress; }
    InProgress(const InProgress&) = delete;
    InProgress& operator=(const InProgress&) = delete;
};

bool is_counted(Kind kind) {
    switch (fault) {
        case Fault::gpu_memory: return kind == Kind::allocates;
        case Fault::gpu_launch: return kind != Kind::allocates;
        default: return true;
    }
}

// Counts a call. Returns true if it is to fail.
bool must_fail(Kind kind, const char* name, const void* address) {
    const std::lock_guard lock(mutex);
    if (!active || !is_counted(kind)) return false;
    ++counted;
    if (records) {
        const char* const function = works::current_function;
        calls->add(address, name, function == nullptr ? "" : function);
        return false;
    }
    if (failed || address != wanted.address || ++ordinal != wanted.ordinal) return false;
    failed = true;
    return true;
}

// A call of a thread that knows of the loss is wrong.
cudaError_t call_after_loss(const char* name) {
    static thread_local bool knows = false;
    if (knows) {
        std::fprintf(stderr, "%s is called on the lost GPU\n", name);
        ++calls_after_loss;
    }
    knows = true;
    return loss;
}

// Work that was queued is completed first, as the GPU here goes on, and must not write into memory
// that the library returns to its caller.
cudaError_t lose(const char* name) {
    loss = sticky_errors[static_cast<size_t>(number_of_run) % std::size(sticky_errors)];
    while (in_progress > 1) std::this_thread::yield();
    (void)__real_cudaDeviceSynchronize();
    return call_after_loss(name);
}

// done: for a call that succeeded, also if it fails here.
template <class Call, class Done>
cudaError_t called(Kind kind, const char* name, const void* address, Call call, Done done) {
    const InProgress here;
    if (loss != cudaSuccess) return call_after_loss(name);
    const bool fails = must_fail(kind, name, address);
    if (fails && fault == Fault::gpu_lost) return lose(name);
    if (fails && kind == Kind::allocates) return cudaErrorMemoryAllocation;
    if (fails && kind == Kind::queues) return cudaErrorLaunchOutOfResources;
    const cudaError_t error = call();
    if (error == cudaSuccess) done();
    return fails ? cudaErrorLaunchOutOfResources : error;
}

// number: an index of `chosen`; others: the run records its calls.
void begin_calls(Fault which, long number) {
    fault = which;
    number_of_run = number;
    records = number < 0 || static_cast<size_t>(number) >= chosen.size();
    if (records)
        calls->places = calls->uses = 0;
    else
        wanted = chosen[static_cast<size_t>(number)];
    active = true;
}

bool call_failed() { return loss != cudaSuccess || (active && failed); }

const char* complaint() { return calls_after_loss == 0 ? nullptr : "a call on the lost GPU"; }

Ended end_calls() {
    const std::lock_guard lock(mutex);
    active = false;
    return {counted, complaint()};
}

// Fewer of them, evenly spaced.
std::vector<Chosen> some_of(const std::vector<Chosen>& all, size_t most) {
    std::vector<Chosen> some;
    for (size_t i = 0; i < most; ++i) some.push_back(all[i * all.size() / most]);
    return some;
}

// The first call at each place comes first, then that in each further function, then the last.
std::vector<long> numbers() {
    std::vector<Chosen> all;
    const auto add = [&](size_t place, long nth) {
        const void* const address = calls->place[place].address;
        const bool known = std::any_of(all.begin(), all.end(), [&](const Chosen& one) {
            return one.address == address && one.ordinal == nth;
        });
        if (!known) all.push_back({address, nth});
    };
    for (size_t i = 0; i < calls->places; ++i) add(i, 1);
    for (size_t i = 0; i < calls->uses; ++i) add(calls->use[i].place, calls->use[i].ordinal);
    for (size_t i = 0; i < calls->places; ++i) add(i, calls->place[i].calls);
    const char* const asked = std::getenv("WARPSEAL_GPU_FAULTS");
    constexpr size_t usual = 24;
    const size_t most = asked == nullptr ? usual : std::strtoul(asked, nullptr, 10);
    chosen = most == 0 || all.size() <= most ? all : some_of(all, most);
    std::printf("%zu of %zu calls at %zu places\n", chosen.size(), all.size(), calls->places);
    std::vector<long> numbers(chosen.size());
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<long>(i);
    return numbers;
}

// A slot has a stream, an event and device memory. The backend also has a stream and a pool for
// each GPU, and the engines have a counter of drawn IVs there.
const char* leak_at_end() {
    if (complaint() != nullptr || loss != cudaSuccess) return complaint();
    int gpus = 0;
    if (cudaGetDeviceCount(&gpus) != cudaSuccess) return "the GPU does not answer";
    const long slots = events.count();
    if (scratch.count() != 0) return "scratch memory of the GPU is not freed";
    if (device_memory.count() != slots) return "memory of the GPU, or an event, is not freed";
    if (iv_counters.count() > gpus) return "a second counter of drawn IVs";
    if (pinned_memory.count() > slots) return "pinned memory is not freed";
    if (streams.count() < slots || streams.count() > slots + gpus) return "a stream is not freed";
    return pools.count() > gpus ? "a pool is not freed" : nullptr;
}

GpuSteps steps = {.begin = begin_calls,
                  .happened = call_failed,
                  .end = end_calls,
                  .numbers = numbers,
                  .at_end = leak_at_end,
                  .is_real = true};

}  // namespace

void use_cuda_runtime() {
    if (gpu_steps == &steps) return;
    void* const memory =
        mmap(nullptr, sizeof(Calls), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) works::complain("the test", "no shared memory");
    calls = static_cast<Calls*>(memory);
    // Each run has a context, which takes hundreds of MiB of the GPU.
    constexpr unsigned least = 2, most = 8;
    steps.at_once = std::clamp(std::thread::hardware_concurrency() / 2, least, most);
    gpu_steps = &steps;
}

bool has_gpu() {
    const pid_t child = fork();
    if (child == 0) {
        int count = 0;
        _exit(cudaGetDeviceCount(&count) == cudaSuccess && count > 0 ? 0 : 1);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace injection

// Defines the function that the linker calls in place of the runtime's. CMakeLists.txt finds the
// names here, and tests/failures/gpu/all_calls those that are missing. `done`: after a call that
// succeeded.
#define INJECTED_THEN(kind, name, parameters, arguments, done)         \
    extern "C" cudaError_t __real_##name parameters;                   \
    extern "C" cudaError_t __wrap_##name parameters {                  \
        return injection::called(                                      \
            injection::Kind::kind, #name, __builtin_return_address(0), \
            [&] { return __real_##name arguments; }, [&] { done; });   \
    }
#define INJECTED(kind, name, parameters, arguments) \
    INJECTED_THEN(kind, name, parameters, arguments, (void)0)

// clang-format off
INJECTED_THEN(allocates, cudaMalloc, (void** out, size_t bytes), (out, bytes),
              injection::add_memory(*out, bytes))
INJECTED_THEN(allocates, cudaHostAlloc, (void** out, size_t bytes, unsigned flags),
              (out, bytes, flags), injection::pinned_memory.add(*out))
INJECTED_THEN(allocates, cudaMallocFromPoolAsync,
              (void** out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
              (out, bytes, pool, stream), injection::scratch.add(*out))
INJECTED_THEN(allocates, cudaMemPoolCreate, (cudaMemPool_t* out, const cudaMemPoolProps* wanted),
              (out, wanted), injection::pools.add(*out))
INJECTED_THEN(allocates, cudaStreamCreateWithFlags, (cudaStream_t* out, unsigned flags),
              (out, flags), injection::streams.add(*out))
INJECTED_THEN(allocates, cudaEventCreate, (cudaEvent_t* out), (out), injection::events.add(*out))
INJECTED_THEN(allocates, cudaEventCreateWithFlags, (cudaEvent_t* out, unsigned flags),
              (out, flags), injection::events.add(*out))
INJECTED(allocates, cudaFuncSetAttribute,
         (const void* function, cudaFuncAttribute attribute, int value),
         (function, attribute, value))
INJECTED(allocates, cudaFuncGetAttributes, (cudaFuncAttributes* out, const void* function),
         (out, function))

INJECTED(queues, cudaLaunchKernel,
         (const void* function, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
          cudaStream_t stream),
         (function, grid, block, arguments, shared_bytes, stream))
INJECTED(queues, cudaMemcpyAsync,
         (void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream),
         (to, from, bytes, kind, stream))
INJECTED(queues, cudaMemcpy2DAsync,
         (void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
          size_t height, cudaMemcpyKind kind, cudaStream_t stream),
         (to, to_pitch, from, from_pitch, width, height, kind, stream))
INJECTED(queues, cudaMemsetAsync, (void* to, int value, size_t bytes, cudaStream_t stream),
         (to, value, bytes, stream))
INJECTED(queues, cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))
INJECTED(queues, cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
         (stream, event, flags))
INJECTED(queues, cudaMemcpy, (void* to, const void* from, size_t bytes, cudaMemcpyKind kind),
         (to, from, bytes, kind))

INJECTED(waits, cudaMemset, (void* to, int value, size_t bytes), (to, value, bytes))
INJECTED(waits, cudaDeviceSynchronize, (), ())
INJECTED(waits, cudaStreamSynchronize, (cudaStream_t stream), (stream))
INJECTED(waits, cudaEventSynchronize, (cudaEvent_t event), (event))
INJECTED(waits, cudaEventQuery, (cudaEvent_t event), (event))
INJECTED(waits, cudaEventElapsedTime, (float* out, cudaEvent_t start, cudaEvent_t end),
         (out, start, end))
INJECTED(waits, cudaStreamIsCapturing, (cudaStream_t stream, cudaStreamCaptureStatus* out),
         (stream, out))
INJECTED(waits, cudaThreadExchangeStreamCaptureMode, (cudaStreamCaptureMode* mode), (mode))
INJECTED(waits, cudaPointerGetAttributes, (cudaPointerAttributes* out, const void* memory),
         (out, memory))
INJECTED(waits, cudaGetDriverEntryPointByVersion,
         (const char* name, void** out, unsigned version, unsigned long long flags,
          cudaDriverEntryPointQueryResult* result),
         (name, out, version, flags, result))
INJECTED(waits, cudaMemPoolSetAttribute,
         (cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value), (pool, attribute, value))
INJECTED(waits, cudaGetDevice, (int* out), (out))
INJECTED(waits, cudaSetDevice, (int device), (device))
INJECTED(waits, cudaGetDeviceCount, (int* out), (out))
INJECTED(waits, cudaGetDeviceProperties, (cudaDeviceProp* out, int device), (out, device))
INJECTED(waits, cudaDeviceGetAttribute, (int* out, cudaDeviceAttr attribute, int device),
         (out, attribute, device))
INJECTED(waits, cudaDriverGetVersion, (int* out), (out))
INJECTED_THEN(waits, cudaFree, (void* memory), (memory), injection::remove_memory(memory))
INJECTED_THEN(waits, cudaFreeHost, (void* memory), (memory),
              injection::pinned_memory.remove(memory))
INJECTED_THEN(waits, cudaFreeAsync, (void* memory, cudaStream_t stream), (memory, stream),
              injection::scratch.remove(memory))
INJECTED_THEN(waits, cudaMemPoolDestroy, (cudaMemPool_t pool), (pool),
              injection::pools.remove(pool))
INJECTED_THEN(waits, cudaStreamDestroy, (cudaStream_t stream), (stream),
              injection::streams.remove(stream))
INJECTED_THEN(waits, cudaEventDestroy, (cudaEvent_t event), (event),
              injection::events.remove(event))
// clang-format on
