// Parameter sets of key encapsulation, as the commands name them.
#pragma once

#include <string>
#include <vector>

#include "warpseal/kem.h"

namespace warpseal::cli {

std::vector<warpseal_kem_info> all_kem_sets();
// Throws Failure (unsupported) for an unknown parameter set.
warpseal_kem_info kem_set(const std::string& name);

}  // namespace warpseal::cli
