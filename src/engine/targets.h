// The targets by name, the mask of WARPSEAL_TARGETS, and the `device` option.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "backends/cipher_backend.h"

namespace warpseal {

using TargetSet = std::array<bool, target_count>;

// From the fastest to the one that runs anywhere.
inline constexpr Target cpu_targets_best_first[cpu_target_count] = {
    Target::vaes512, Target::vaes256, Target::avx2, Target::aesni, Target::portable};

const char* target_name(Target target);
// Where GPUs and a core target share a call: "cuda+vaes512".
const char* shared_name(Target core);
bool target_by_name(const std::string& name, Target& target);
// What a target's resistance to timing attacks relies on, in a few words: over all its ciphers, and
// for a cipher that runs there in `form`.
const char* target_side_channels(Target target);
const char* representation_side_channels(Target target, const std::string& representation);

// The targets that `text`, the value of WARPSEAL_TARGETS, leaves: names between commas. Null or
// empty leaves all. WARPSEAL_INVALID_ARGUMENT: an unknown name.
warpseal_status unmasked_targets(const char* text, TargetSet& allowed);

// GPUs of one engine.
inline constexpr unsigned most_gpus = 16;

// The `device` option: "auto", "cpu", "cuda", "cuda:N", "cuda:N,M,..." or a target's name.
struct DeviceChoice {
    TargetSet targets = {};         // those it speaks of
    bool named = false;             // anything but auto: no fall-back at creation
    std::vector<int> cuda_devices;  // "cuda": the first; none: all that there are
};
// WARPSEAL_INVALID_ARGUMENT: not one of these.
warpseal_status choose_device(const std::string& option, DeviceChoice& choice);

}  // namespace warpseal
