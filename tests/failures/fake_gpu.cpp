// The fake GPU backend in place of the build's own: steps that fail.
#include "injection.h"
#include "support/fake_backend.h"

namespace injection {
namespace {

const warpseal::GpuBackend* gpu = nullptr;  // null: the build's own

void begin_steps(Fault fault, long number) {
    tests::Script script;
    script.fail_at = static_cast<uint64_t>(number) + 1;
    script.failure = fault == Fault::gpu_memory ? WARPSEAL_OUT_OF_MEMORY : WARPSEAL_NO_DEVICE;
    script.passing = fault == Fault::gpu_launch;
    tests::script() = script;
}

bool step_failed() {
    const tests::Script& script = tests::script();
    return script.fail_at != 0 && script.steps >= script.fail_at;
}

Ended end_steps() {
    const tests::Script& script = tests::script();
    Ended ended{static_cast<long>(script.steps), nullptr};
    if (script.calls_after_lost != 0)
        ended.complaint = "a call on the lost GPU";
    else if (!script.lost && script.live_device_allocations + script.live_host_allocations != 0)
        ended.complaint = "memory of the GPU is not freed";
    else if (script.live_iv_counters > 1)
        ended.complaint = "a second counter of drawn IVs";
    tests::script() = {};  // the next run has a GPU again
    return ended;
}

constexpr GpuSteps steps{.begin = begin_steps, .happened = step_failed, .end = end_steps};

}  // namespace

void use_fake_gpu() {
    if (gpu == nullptr) gpu = tests::fake_backend();
    gpu_steps = &steps;
}

}  // namespace injection

// The linker's --wrap substitutes it for warpseal::gpu_backend().
extern "C" const warpseal::GpuBackend* __real__ZN8warpseal11gpu_backendEv();
extern "C" const warpseal::GpuBackend* __wrap__ZN8warpseal11gpu_backendEv() {
    return injection::gpu != nullptr ? injection::gpu : __real__ZN8warpseal11gpu_backendEv();
}
