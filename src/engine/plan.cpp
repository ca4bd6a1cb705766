// Rates below are gigabytes a second of one core, in round figures: they decide between orders of magnitude, not between neighbours.
#include "engine/plan.h"

#include <algorithm>
#include <string_view>

namespace warpseal {
namespace {

constexpr uint64_t kib = 1024;

// [target][form], of a cipher of 16-byte blocks in the middle of the field. AES has no instructions on the portable target.
constexpr double text_rates[cpu_target_count][4] = {
    {0.25, 0.1, 0.4, 0.05}, {5, 0.4, 0.4, 0.05}, {5, 0.8, 1, 0.1}, {10, 2.5, 1, 0.1}, {16, 5, 2.5, 0.4}};
constexpr double ghash_rates[cpu_target_count] = {0.25, 8, 8, 16, 20};

double core_rate(Target target, const CallFacts& call) {
    const double text = text_rates[static_cast<int>(target)][static_cast<int>(call.form)];
    return call.mode == WARPSEAL_GCM ? 1 / (1 / text + 1 / ghash_rates[static_cast<int>(target)]) : text;
}

// Waking a thread costs about this many seconds of ciphering: less work than that stays with the caller.
constexpr double worth_a_thread = 20e-6;

// Copies between pageable memory and pinned slots, in gigabytes a second, whatever the number of cores.
constexpr double staging_rate = 8;
constexpr double gpu_open_seconds = 0.5;
constexpr double gpu_call_seconds = 0.5e-3;
constexpr uint64_t chains_for_gpu = 8192;

Target best_core(const MachineFacts& machine) {
    for (const Target target : cpu_targets_best_first)
        if (machine.usable[static_cast<size_t>(target)]) return target;
    return Target::cuda;
}

// A cipher with instructions of its own stays on the cores: a few of them outrun the link, and staging alone costs as much as they take.
// Few chains of blocks stay too: a GPU's lane is slower than a core.
bool gpu_pays(const CallFacts& call, const MachineFacts& machine, Target core) {
    if ((call.form == Form::instructions && core != Target::portable) || (call.chains != 0 && call.chains < chains_for_gpu) ||
        machine.link_gigabytes <= 0)
        return false;
    const double gigabytes = static_cast<double>(call.bytes) * 1e-9;
    const double link = call.place == Place::pinned ? machine.link_gigabytes : std::min(machine.link_gigabytes, staging_rate);
    const double gpu = gigabytes / link + gpu_call_seconds + (machine.cuda_open ? 0 : gpu_open_seconds);
    return gpu < gigabytes / (core_rate(core, call) * machine.threads);
}

}  // namespace

Form form_of(const CpuCipher& cipher) {
    const std::string_view name = cipher.form;
    return name == "bytes" ? Form::bytes : name == "words" ? Form::words : name == "planes" ? Form::planes : Form::instructions;
}

Plan plan(const CallFacts& call, const MachineFacts& machine) {
    const bool cuda = machine.usable[static_cast<size_t>(Target::cuda)];
    const Target core = best_core(machine);
    if (cuda && (call.place == Place::device || core == Target::cuda || gpu_pays(call, machine, core)))
        return {Target::cuda, 1, call.bytes};
    // Aligned for the widest shapes, which work on 4 KiB and more at a time.
    const double rate = core_rate(core, call);
    const uint64_t grain = rate < 2 ? 16 * kib : 64 * kib;
    const uint64_t least = std::max(static_cast<uint64_t>(rate * 1e9 * worth_a_thread), grain);
    const uint64_t most = call.chains == 0 ? machine.threads : std::min<uint64_t>(call.chains, machine.threads);
    const unsigned threads = static_cast<unsigned>(std::clamp<uint64_t>(call.bytes / least, 1, most));
    if (threads <= 1) return {core, 1, call.bytes};

    // Several pieces a thread, so that a core that is taken away holds nobody up; bounded, so that two threads never lie far apart in
    // memory.
    const uint64_t even = call.bytes / (uint64_t{threads} * 8) / grain * grain;
    return {core, threads, std::clamp<uint64_t>(even, grain, 4096 * kib)};
}

}  // namespace warpseal
