// Target names, the WARPSEAL_TARGETS mask and the `device` option.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "backends/cipher_backend.h"

namespace warpseal {

using TargetSet = std::array<bool, target_count>;

// From fastest to most portable.
inline constexpr Target cpu_targets_best_first[cpu_target_count] = {
    Target::vaes512, Target::vaes256, Target::avx2, Target::aesni, Target::portable};

const char* target_name(Target target);
// Name of a call that GPUs and a CPU target share, for example "cuda+vaes512".
const char* shared_name(Target core);
bool target_by_name(const std::string& name, Target& target);
// Describes what makes a target resistant to timing attacks: for all its ciphers, or for a cipher
// with this representation.
const char* target_side_channels(Target target);
const char* representation_side_channels(Target target, const std::string& representation);

// Parses `text`, the value of WARPSEAL_TARGETS: a comma-separated list of allowed targets. Null or
// empty allows all.
// Returns WARPSEAL_INVALID_ARGUMENT for an unknown name.
warpseal_status unmasked_targets(const char* text, TargetSet& allowed);

// Maximum number of GPUs of one engine.
inline constexpr unsigned most_gpus = 16;

// Parsed `device` option: "auto", "cpu", "cuda", "cuda:N", "cuda:N,M,..." or a target's name.
struct DeviceChoice {
    TargetSet targets = {};         // targets that the option allows
    bool named = false;             // anything but "auto": creation does not fall back
    std::vector<int> cuda_devices;  // "cuda" means the first; empty means all GPUs
};
// Returns WARPSEAL_INVALID_ARGUMENT for any other option.
warpseal_status choose_device(const std::string& option, DeviceChoice& choice);

}  // namespace warpseal
