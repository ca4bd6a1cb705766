#include "injection.h"

#include <climits>

#include "refused.h"
#include "support/fake_backend.h"

namespace injection {
namespace {

Fault current = Fault::nothing;
const warpseal::GpuBackend* gpu = nullptr;  // null: the build's own

tests::Script scripted(Fault fault, long number) {
    tests::Script script;
    script.fail_at = static_cast<uint64_t>(number) + 1;
    script.failure = fault == Fault::gpu_memory ? WARPSEAL_OUT_OF_MEMORY : WARPSEAL_NO_DEVICE;
    script.passing = fault == Fault::gpu_launch;
    return script;
}

}  // namespace

const char* name_of(Fault fault) {
    constexpr const char* names[] = {"nothing",       "one request",   "all requests from one on",
                                     "one GPU memory", "one GPU launch", "GPU lost"};
    return names[static_cast<int>(fault)];
}

void use_fake_gpu() {
    if (gpu == nullptr) gpu = tests::fake_backend();
}

void begin(Fault fault, long number) {
    current = fault;
    if (is_of_gpu(fault))
        tests::script() = scripted(fault, number);
    else
        refused::begin(fault == Fault::nothing ? LONG_MAX : number,
                       fault == Fault::requests ? refused::Which::all_from_then_on
                                                : refused::Which::that_one);
}

bool happened() {
    if (!is_of_gpu(current)) return refused::happened();
    const tests::Script& script = tests::script();
    return script.fail_at != 0 && script.steps >= script.fail_at;
}

Ended end() {
    if (!is_of_gpu(current)) return {refused::end(), nullptr};
    const tests::Script& script = tests::script();
    Ended ended{static_cast<long>(script.steps), nullptr};
    if (script.calls_after_lost != 0)
        ended.complaint = "a call on the lost GPU";
    else if (!script.lost &&
             script.live_device_allocations + script.live_host_allocations != 0)
        ended.complaint = "memory of the GPU is not freed";
    tests::script() = {};  // the next run has a GPU again
    return ended;
}

}  // namespace injection

// The linker's --wrap substitutes it for warpseal::gpu_backend().
extern "C" const warpseal::GpuBackend* __real__ZN8warpseal11gpu_backendEv();
extern "C" const warpseal::GpuBackend* __wrap__ZN8warpseal11gpu_backendEv() {
    return injection::gpu != nullptr ? injection::gpu : __real__ZN8warpseal11gpu_backendEv();
}
