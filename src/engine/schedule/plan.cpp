// Computes the plan. Rates are in GB/s; the constants are rounded defaults used until a rate is
// measured in this process.
#include "engine/schedule/plan.h"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace warpseal {
namespace {

constexpr uint64_t kib = 1024;
// Smallest amount of text that is worth a thread.
constexpr uint64_t min_grain = 16 * kib;

// GB/s of one core, [target][representation], for an average cipher with 16-byte blocks. The
// portable target has no AES instructions.
constexpr double text_rates[cpu_target_count][4] = {{0.25, 0.1, 0.4, 0.05},
                                                    {5, 0.4, 0.4, 0.05},
                                                    {5, 0.8, 1, 0.1},
                                                    {10, 2.5, 1, 0.1},
                                                    {16, 5, 2.5, 0.4}};
constexpr double ghash_rates[cpu_target_count] = {0.25, 8, 8, 16, 20};

// Seconds of encryption that waking a thread must save; less work stays on the caller's thread.
constexpr double worth_a_thread = 20e-6;

// GB/s through one current GPU and back, by MemoryKind: PCIe 5 x16 in both directions; else limited
// by threads that copy to and from pinned slots.
constexpr double default_gpu_rates[] = {20, 40, 20};
constexpr double default_gpu_delays[] = {0.6e-3, 0.1e-3, 0.6e-3};
// Number of cores busy with feeding one GPU, by MemoryKind.
constexpr unsigned feeding_threads[] = {6, 1, 6};
constexpr double gpu_open_seconds = 0.5;
constexpr uint64_t chains_for_gpu = 8192;

// Shards are multiples of shard_grain. A call is shared only if that reduces its time by both
// thresholds.
constexpr uint64_t shard_grain = 64 * kib;
constexpr double worth_sharing = 0.93;
constexpr double worth_sharing_seconds = 0.1e-3;

// A participant in a call, the CPU or one GPU: its rate in GB/s and the delay in seconds before it
// starts.
struct Party {
    int gpu;  // -1: the CPU
    double rate, delay;
};

// A set of participants and the time at which all of them finish.
struct Team {
    Party parties[most_gpus + 1];
    unsigned count = 0;
    double seconds = 0;

    void add(const Party& party) { parties[count++] = party; }

    // Drops participants that would start after the others finish, and computes `seconds`.
    void drop_late_starters(double gigabytes) {
        std::sort(parties, parties + count,
                  [](const Party& a, const Party& b) { return a.delay < b.delay; });
        double rates = 0, lost = 0;  // sums of rates, and of rates times delays
        unsigned in = 0;
        for (; in < count; ++in) {
            if (in != 0 && (gigabytes + lost) / rates <= parties[in].delay) break;
            rates += parties[in].rate;
            lost += parties[in].rate * parties[in].delay;
        }
        count = in;
        seconds = (gigabytes + lost) / rates;
    }
    double shard(const Party& party) const { return party.rate * (seconds - party.delay); }
};

struct Parties {
    const CallFacts& call;
    const MachineFacts& machine;
    const Target core;  // cuda: none
    unsigned order[most_gpus];

    Parties(const CallFacts& c, const MachineFacts& m, Target best_core)
        : call(c), machine(m), core(best_core) {
        for (unsigned i = 0; i < machine.gpu_count; ++i) order[i] = i;
        std::stable_sort(order, order + machine.gpu_count, [&](unsigned a, unsigned b) {
            const Party first = gpu(a, false), second = gpu(b, false);
            return std::tie(first.delay, second.rate) < std::tie(second.delay, first.rate);
        });
    }
    Party gpu(unsigned i, bool shared) const {
        const GpuFacts& facts = machine.gpus[i];
        const double alone = facts.speed.alone > 0
                                 ? facts.speed.alone
                                 : default_gpu_rates[static_cast<size_t>(call.memory_kind)];
        const double rate = shared && facts.speed.shared > 0 ? facts.speed.shared : alone;
        return {static_cast<int>(i), rate,
                default_gpu_delay(call.memory_kind) + (facts.open ? 0 : gpu_open_seconds)};
    }
    Party cores(unsigned gpus) const {
        const double alone = machine.cores.alone > 0
                                 ? machine.cores.alone
                                 : default_core_speed(core, call) * machine.threads;
        if (gpus == 0) return {-1, alone, 0};
        const double left =
            std::max(1.0, static_cast<double>(machine.threads) -
                              feeding_threads[static_cast<size_t>(call.memory_kind)] * gpus);
        return {-1,
                machine.cores.shared > 0 ? machine.cores.shared : alone * left / machine.threads,
                0};
    }
    Team team(unsigned gpus, bool with_cores) const {
        Team team;
        if (with_cores) team.add(cores(gpus));
        for (unsigned i = 0; i < gpus; ++i) team.add(gpu(order[i], gpus != 0 && with_cores));
        team.drop_late_starters(static_cast<double>(call.bytes) * 1e-9);
        return team;
    }
};

Target best_core(const MachineFacts& machine) {
    for (const Target target : cpu_targets_best_first)
        if (machine.usable[static_cast<size_t>(target)]) return target;
    return Target::cuda;
}

// Assigns bytes to each participant in multiples of shard_grain; the last one also gets the
// remainder.
void divide(const CallFacts& call, const MachineFacts& machine, const Team& team, Plan& plan) {
    uint64_t left = call.bytes;
    uint64_t* last = nullptr;
    for (unsigned i = 0; i < team.count; ++i) {
        const Party& party = team.parties[i];
        const auto bytes =
            static_cast<uint64_t>(team.shard(party) * 1e9) / shard_grain * shard_grain;
        uint64_t& shard =
            party.gpu < 0 ? plan.core_bytes : plan.gpu_bytes[machine.gpu_numbers[party.gpu]];
        shard = std::min(bytes, left);
        left -= shard;
        if (shard != 0 || last == nullptr) last = &shard;
    }
    *last += left;
    for (const uint64_t bytes : plan.gpu_bytes)
        if (bytes != 0) plan.target = Target::cuda;
}

}  // namespace

Representation representation_of(const CpuCipher& cipher) {
    const std::string_view name = cipher.representation;
    return name == "byte-sliced"   ? Representation::byte_sliced
           : name == "word-sliced" ? Representation::word_sliced
           : name == "bitsliced"   ? Representation::bitsliced
                                   : Representation::instructions;
}

double default_core_speed(Target target, const CallFacts& call) {
    const double text = text_rates[static_cast<int>(target)][static_cast<int>(call.representation)];
    return call.mode == WARPSEAL_GCM ? 1 / (1 / text + 1 / ghash_rates[static_cast<int>(target)])
                                     : text;
}

double default_gpu_delay(MemoryKind memory_kind) {
    return default_gpu_delays[static_cast<size_t>(memory_kind)];
}

void plan_cores(const CallFacts& call, Target core, unsigned threads, Plan& plan) {
    plan.threads = 1;
    plan.chunk_bytes = plan.core_bytes;
    if (plan.core_bytes < 2 * min_grain) return;
    // Alignment for the widest representations, which process 4 KiB and more at a time.
    const double rate = default_core_speed(core, call);
    const uint64_t grain = rate < 2 ? min_grain : 4 * min_grain;
    const uint64_t least = std::max(static_cast<uint64_t>(rate * 1e9 * worth_a_thread), grain);
    const uint64_t most = call.chains == 0 ? threads : std::min<uint64_t>(call.chains, threads);
    plan.threads = static_cast<unsigned>(std::clamp<uint64_t>(plan.core_bytes / least, 1, most));
    if (plan.threads <= 1) return;
    // Several chunks a thread, so that a preempted core delays no other. The upper bound keeps
    // threads close together in memory.
    const uint64_t even = plan.core_bytes / (uint64_t{plan.threads} * 8) / grain * grain;
    plan.chunk_bytes = std::clamp<uint64_t>(even, grain, 4096 * kib);
}

Plan plan(const CallFacts& call, const MachineFacts& machine) {
    Plan plan;
    plan.target = best_core(machine);
    const bool cores = plan.target != Target::cuda;
    plan.core_bytes = cores ? call.bytes : 0;
    unsigned gpus = machine.gpu_count;
    // Few serial messages stay on the CPU: a GPU lane is slower than a core.
    if (call.chains != 0 && call.chains < chains_for_gpu) gpus = cores ? 0 : std::min(gpus, 1u);
    if (gpus != 0) {
        const Parties parties(call, machine, plan.target);
        Team best = parties.team(cores ? 0 : 1, cores);
        const auto consider = [&](const Team& team) {
            if (team.seconds < best.seconds * worth_sharing &&
                best.seconds - team.seconds > worth_sharing_seconds)
                best = team;
        };
        if (cores && parties.team(1, false).seconds < best.seconds) best = parties.team(1, false);
        const bool divisible = call.divisible && call.bytes >= least_shared_bytes;
        const bool mixed = divisible && call.mixed && cores && call.chains == 0;
        for (unsigned n = 2; divisible && n <= gpus; ++n) consider(parties.team(n, false));
        for (unsigned n = 1; mixed && n <= gpus; ++n) consider(parties.team(n, true));
        plan.core_bytes = 0;
        divide(call, machine, best, plan);
    }
    plan.chunk_bytes = call.bytes;
    if (plan.target == Target::cuda && plan.core_bytes == 0) return plan;
    plan_cores(call, best_core(machine), machine.threads, plan);
    return plan;
}

}  // namespace warpseal
