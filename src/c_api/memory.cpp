// Random bytes, zeroization, and memory of the host and of the engine's GPUs.
#include <chrono>
#include <functional>

#include "c_api/handles.h"
#include "c_api/internal.h"
#include "container/random.h"
#include "core/secret.h"

namespace warpseal::c_api {
namespace {

// Calls work(backend, device) for the GPU that find(engine) returns.
template <class Find, class Work>
warpseal_status on_device(warpseal_engine* engine, Find find, Work work) {
    if (engine == nullptr) return refuse("engine is null");
    return guarded_waiting([&] {
        const GpuBackend* backend = engine->engine->cuda();
        if (backend == nullptr) return WARPSEAL_NO_DEVICE;
        const int device = find(*engine->engine);
        if (device >= 0) return work(*backend, device);
        if (backend->lost()) return WARPSEAL_NO_DEVICE;
        return refuse("the memory is not on a GPU of this engine");
    });
}

auto number(size_t gpu) {
    return [gpu](const Engine& engine) { return engine.cuda_device_number(gpu); };
}
auto holding(const void* memory) {
    return [memory](const Engine& engine) { return engine.cuda_device_holding(memory); };
}

// Returns 0 if there is none.
size_t gpu_count(warpseal_engine* engine) {
    size_t count = 0;
    (void)guarded_waiting([&] {
        count = engine->engine->gpu_count();
        return WARPSEAL_OK;
    });
    return count;
}

// Returns the duration of work() in seconds of the host's clock.
double seconds_of(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace
}  // namespace warpseal::c_api

using namespace warpseal;

extern "C" {

warpseal_status warpseal_random(void* out, size_t bytes) {
    if (out == nullptr && bytes != 0) return refuse("out is null");
    return c_api::ended(container::random_bytes(out, bytes) ? WARPSEAL_OK : WARPSEAL_NO_RANDOM);
}

void warpseal_wipe(void* memory, size_t bytes) {
    if (memory != nullptr) wipe(memory, bytes);
}

warpseal_status warpseal_device_alloc(warpseal_engine* engine, size_t bytes, void** out) {
    if (out == nullptr) return refuse("out is null");
    *out = nullptr;
    if (engine == nullptr) return refuse("engine is null");
    return c_api::guarded_waiting([&] { return engine->engine->device_alloc(bytes, out); });
}

void warpseal_device_free(warpseal_engine* engine, void* memory) {
    if (engine == nullptr || memory == nullptr) return;
    (void)c_api::guarded_waiting([&] {
        engine->engine->device_free(memory);
        return WARPSEAL_OK;
    });
}

warpseal_status warpseal_device_upload(warpseal_engine* engine, void* to_device,
                                       const void* from_host, size_t bytes) {
    if (bytes != 0 && to_device == nullptr) return refuse("to_device is null");
    if (bytes != 0 && from_host == nullptr) return refuse("from_host is null");
    return c_api::on_device(engine, c_api::holding(to_device),
                            [&](const GpuBackend& backend, int device) {
                                return backend.upload(device, to_device, from_host, bytes);
                            });
}

warpseal_status warpseal_device_download(warpseal_engine* engine, void* to_host,
                                         const void* from_device, size_t bytes) {
    if (bytes != 0 && to_host == nullptr) return refuse("to_host is null");
    if (bytes != 0 && from_device == nullptr) return refuse("from_device is null");
    return c_api::on_device(engine, c_api::holding(from_device),
                            [&](const GpuBackend& backend, int device) {
                                return backend.download(device, to_host, from_device, bytes);
                            });
}

warpseal_status warpseal_device_synchronize(warpseal_engine* engine, void* stream) {
    if (engine == nullptr) return refuse("engine is null");
    // Null stands for the default stream of each GPU.
    const size_t gpus = stream == nullptr ? c_api::gpu_count(engine) : 1;
    if (gpus == 0) return c_api::ended(WARPSEAL_NO_DEVICE);
    warpseal_status status = WARPSEAL_OK;
    for (size_t gpu = 0; gpu < gpus && status == WARPSEAL_OK; ++gpu) {
        // This engine has queued nothing there.
        if (stream == nullptr && !engine->engine->gpu_is_open(gpu)) continue;
        status = c_api::on_device(engine, c_api::number(gpu),
                                  [&](const GpuBackend& backend, int device) {
                                      return backend.synchronize(device, stream);
                                  });
    }
    return status;
}

warpseal_status warpseal_internal_time_device(warpseal_engine* engine,
                                              warpseal_status (*work)(void* user, void* stream),
                                              void* user, float* milliseconds) {
    if (work == nullptr || milliseconds == nullptr) return refuse("work or milliseconds is null");
    return c_api::on_device(engine, c_api::number(0), [&](const GpuBackend& backend, int device) {
        return backend.time(device, work, user, milliseconds);
    });
}

warpseal_status warpseal_internal_time_all(warpseal_engine* engine,
                                           warpseal_status (*work)(void* user, size_t gpu),
                                           void* user, float* milliseconds) {
    if (engine == nullptr || work == nullptr || milliseconds == nullptr)
        return refuse("engine, work or milliseconds is null");
    warpseal_status status = warpseal_device_synchronize(engine, nullptr);
    *milliseconds =
        static_cast<float>(1e3 * c_api::seconds_of([&] {
                               const size_t gpus = c_api::gpu_count(engine);
                               for (size_t gpu = 0; gpu < gpus && status == WARPSEAL_OK; ++gpu)
                                   status = work(user, gpu);
                               const warpseal_status waited =
                                   warpseal_device_synchronize(engine, nullptr);
                               if (status == WARPSEAL_OK) status = waited;
                           }));
    return status;
}

warpseal_status warpseal_internal_time_link(warpseal_engine* engine, const void* in, void* out,
                                            size_t bytes, float* milliseconds) {
    if (in == nullptr || out == nullptr || milliseconds == nullptr)
        return refuse("in, out or milliseconds is null");
    return c_api::on_device(engine, c_api::number(0), [&](const GpuBackend& backend, int device) {
        warpseal_status status = WARPSEAL_OK;
        *milliseconds = static_cast<float>(1e3 * c_api::seconds_of([&] {
                                               status =
                                                   backend.copy_both_ways(device, in, out, bytes);
                                           }));
        return status;
    });
}

warpseal_status warpseal_host_alloc(warpseal_engine* engine, size_t bytes, void** out) {
    if (out == nullptr) return refuse("out is null");
    *out = nullptr;
    if (engine == nullptr) return refuse("engine is null");
    return c_api::guarded_waiting([&] {
        // Opens the GPU, if there is one: only then can memory be pinned.
        (void)engine->engine->cuda_device();
        return engine->engine->host_alloc(bytes, out);
    });
}

void warpseal_host_free(warpseal_engine* engine, void* memory) {
    if (engine == nullptr || memory == nullptr) return;
    (void)c_api::guarded_waiting([&] {
        engine->engine->host_free(memory);
        return WARPSEAL_OK;
    });
}

}  // extern "C"
