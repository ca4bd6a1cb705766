#include "injection.h"

#include <climits>

#include "refused.h"

namespace injection {

const GpuSteps* gpu_steps = nullptr;

namespace {
Fault current = Fault::nothing;
}

const char* name_of(Fault fault) {
    constexpr const char* names[] = {"nothing",        "one request",    "all requests from one on",
                                     "one GPU memory", "one GPU launch", "GPU lost"};
    return names[static_cast<int>(fault)];
}

void begin(Fault fault, long number) {
    current = fault;
    if (is_of_gpu(fault))
        gpu_steps->begin(fault, number);
    else
        refused::begin(
            fault == Fault::nothing ? LONG_MAX : number,
            fault == Fault::requests ? refused::Which::all_from_then_on : refused::Which::that_one);
}

bool happened() { return is_of_gpu(current) ? gpu_steps->happened() : refused::happened(); }

Ended end() { return is_of_gpu(current) ? gpu_steps->end() : Ended{refused::end(), nullptr}; }

}  // namespace injection
