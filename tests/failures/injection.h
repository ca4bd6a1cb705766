// Failures that a run injects: refused system requests, or steps of the fake GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace injection {

enum class Fault : unsigned char {
    nothing,
    request,     // one system request is refused
    requests,    // and all after it
    gpu_memory,  // one step of the GPU finds no memory
    gpu_launch,  // one step of the GPU fails, but not the GPU
    gpu_lost,    // the GPU is lost from that step on
};
const char* name_of(Fault fault);
inline bool is_of_gpu(Fault fault) { return fault >= Fault::gpu_memory; }

// Begins a run in which request or step number `number`, from 0, fails.
void begin(Fault fault, long number);
// Returns true once something failed since begin.
bool happened();
struct Ended {
    long count = 0;                   // requests or steps in the run
    const char* complaint = nullptr;  // about use of the GPU; null: none
};
// Ends the run. All engines of it are destroyed.
Ended end();

// The same for steps of a GPU.
struct GpuSteps {
    void (*begin)(Fault fault, long number);
    bool (*happened)();
    Ended (*end)();
    // Numbers to fail at, chosen by the last run without a failure; null: all of them.
    std::vector<long> (*numbers)() = nullptr;
    // Called once all objects are freed. Returns a complaint, or null.
    const char* (*at_end)() = nullptr;
    // A real one does not come back after its loss, and its driver holds memory of its own.
    bool is_real = false;
    size_t at_once = 2;  // runs
};
extern const GpuSteps* gpu_steps;  // null: there is no GPU

// Lets engines have the fake GPU. Called before the first of them. Defined in fake_gpu.cpp.
void use_fake_gpu();

}  // namespace injection
