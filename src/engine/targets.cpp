// Names and properties of targets, in the order of enum Target.
#include "engine/targets.h"
#include "engine/refusal.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace warpseal {
namespace {

struct TargetText {
    const char* name;
    const char* side_channels;
};

constexpr const char* constant_time = "constant time";

constexpr TargetText texts[target_count] = {
    {"portable", constant_time},
    {"aesni", constant_time},
    {"avx2", constant_time},
    {"vaes256", constant_time},
    {"vaes512", constant_time},
    {"cuda",
     "constant time, or tables in shared memory with a copy for every lane's bank (no conflict "
     "depends on data): by cipher"},
};

// Parses comma-separated device numbers. Returns false if one is malformed or occurs twice, or if
// there are more than most_gpus.
bool parse_numbers(const char* text, std::vector<int>& all) {
    const char* end = text + std::strlen(text);
    for (;; ++text) {
        int number = -1;
        const auto [rest, error] = std::from_chars(text, end, number);
        if (error != std::errc() || number < 0 ||
            std::find(all.begin(), all.end(), number) != all.end())
            return false;
        all.push_back(number);
        text = rest;
        if (text == end) return all.size() <= most_gpus;
        if (*text != ',') return false;
    }
}

}  // namespace

const char* target_name(Target target) { return texts[static_cast<int>(target)].name; }

const char* shared_name(Target core) {
    constexpr const char* names[cpu_target_count] = {"cuda+portable", "cuda+aesni", "cuda+avx2",
                                                     "cuda+vaes256", "cuda+vaes512"};
    return names[static_cast<int>(core)];
}

const char* target_side_channels(Target target) {
    return texts[static_cast<int>(target)].side_channels;
}

const char* representation_side_channels(Target target, const std::string& representation) {
    if (representation == "table-based")
        return "tables in shared memory, a copy for every lane's bank: no conflict, so no time, "
               "depends on data";
    // On a GPU, bitsliced kernels take only full groups of blocks. The remainder, serial modes and
    // per-message keys use the cipher's tables.
    if (target == Target::cuda && representation == "bitsliced")
        return "bitsliced in bulk, else tables in shared memory, a copy for every lane's bank: no "
               "conflict, so no time, depends on data";
    return constant_time;
}

bool target_by_name(const std::string& name, Target& target) {
    for (int i = 0; i < target_count; ++i) {
        if (name != texts[i].name) continue;
        target = static_cast<Target>(i);
        return true;
    }
    return false;
}

warpseal_status unmasked_targets(const char* text, TargetSet& allowed) {
    const std::string list = text == nullptr ? "" : text;
    allowed.fill(list.empty());
    for (size_t begin = 0; !list.empty() && begin <= list.size();) {
        const size_t end = std::min(list.find(',', begin), list.size());
        Target target;
        const std::string name = list.substr(begin, end - begin);
        if (!target_by_name(name, target))
            return refuse("WARPSEAL_TARGETS has %.40s: warpseal_target_at lists the targets",
                          name.c_str());
        allowed[static_cast<size_t>(target)] = true;
        begin = end + 1;
    }
    return WARPSEAL_OK;
}

warpseal_status choose_device(const std::string& option, DeviceChoice& choice) {
    choice = {};
    choice.named = option != "auto";
    Target target;
    if (option == "auto" || option == "cpu") {
        choice.targets.fill(true);
        choice.targets[static_cast<size_t>(Target::cuda)] = option == "auto";
    } else if (target_by_name(option, target)) {
        choice.targets[static_cast<size_t>(target)] = true;
        if (target == Target::cuda) choice.cuda_devices = {0};
    } else if (option.compare(0, 5, "cuda:") == 0) {
        if (!parse_numbers(option.c_str() + 5, choice.cuda_devices))
            return refuse("device is %.40s: give cuda:0, or cuda:0,1 for two GPUs", option.c_str());
        choice.targets[static_cast<size_t>(Target::cuda)] = true;
    } else {
        return refuse("device is %.40s: give auto, cpu, a target's name, or cuda:0",
                      option.c_str());
    }
    return WARPSEAL_OK;
}

}  // namespace warpseal
