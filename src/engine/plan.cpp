// Rates below are gigabytes a second of one core, in round figures: they decide between orders of magnitude, not between neighbours.
#include "engine/plan.h"

#include <algorithm>

namespace warpseal {
namespace {

constexpr uint64_t kib = 1024;

double core_rate(Target target, warpseal_mode mode) {
    constexpr double sweep[cpu_target_count] = {0.25, 5, 5, 10, 16};
    constexpr double gcm[cpu_target_count] = {0.12, 3, 3, 6, 9};
    return (mode == WARPSEAL_GCM ? gcm : sweep)[static_cast<int>(target)];
}

// Waking a thread costs about this many seconds of ciphering: less work than that stays with the caller.
constexpr double worth_a_thread = 20e-6;

// Copies between pageable memory and pinned slots, in gigabytes a second, whatever the number of cores.
constexpr double staging_rate = 8;
constexpr double gpu_open_seconds = 0.5;
constexpr double gpu_call_seconds = 0.5e-3;

Target best_core(const MachineFacts& machine) {
    for (const Target target : cpu_targets_best_first)
        if (machine.usable[static_cast<size_t>(target)]) return target;
    return Target::cuda;
}

// A cipher with instructions of its own stays on the cores: a few of them outrun the link, and staging alone costs as much as they take.
bool gpu_pays(const CallFacts& call, const MachineFacts& machine, Target core) {
    if (core != Target::portable || machine.link_gigabytes <= 0) return false;
    const double gigabytes = static_cast<double>(call.bytes) * 1e-9;
    const double link = call.place == Place::pinned ? machine.link_gigabytes : std::min(machine.link_gigabytes, staging_rate);
    const double gpu = gigabytes / link + gpu_call_seconds + (machine.cuda_open ? 0 : gpu_open_seconds);
    return gpu < gigabytes / (core_rate(core, call.mode) * machine.threads);
}

}  // namespace

Plan plan(const CallFacts& call, const MachineFacts& machine) {
    const bool cuda = machine.usable[static_cast<size_t>(Target::cuda)];
    const Target core = best_core(machine);
    if (cuda && (call.place == Place::device || core == Target::cuda || gpu_pays(call, machine, core)))
        return {Target::cuda, 1, call.bytes};

    const uint64_t grain = core == Target::portable ? 16 * kib : 64 * kib;
    const uint64_t least = std::max(static_cast<uint64_t>(core_rate(core, call.mode) * 1e9 * worth_a_thread), grain);
    const unsigned threads = static_cast<unsigned>(std::clamp<uint64_t>(call.bytes / least, 1, machine.threads));
    if (threads <= 1) return {core, 1, call.bytes};

    // Several pieces a thread, so that a core that is taken away holds nobody up; aligned for the widest shapes, which work on 4 KiB
    // and more at a time; bounded, so that two threads never lie far apart in memory.
    const uint64_t even = call.bytes / (uint64_t{threads} * 8) / grain * grain;
    return {core, threads, std::clamp<uint64_t>(even, grain, 4096 * kib)};
}

}  // namespace warpseal
