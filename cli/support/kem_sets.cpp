// Parameter sets of key encapsulation.
#include "cli/support/kem_sets.h"

#include <fmt/format.h>

#include "cli/support/command.h"
#include "cli/support/format.h"
#include "cli/support/words/suggest.h"

namespace warpseal::cli {

std::vector<warpseal_kem_info> all_kem_sets() {
    std::vector<warpseal_kem_info> all;
    warpseal_kem_info set{};
    for (size_t i = 0; warpseal_kem_at(i, &set) == WARPSEAL_OK; ++i) all.push_back(set);
    return all;
}

warpseal_kem_info kem_set(const std::string& name) {
    std::vector<std::string> known;
    for (const warpseal_kem_info& set : all_kem_sets()) {
        if (name == set.name) return set;
        known.emplace_back(set.name);
    }
    throw Failure(ExitCode::unsupported,
                  cli::format("there is no set '{}': there are {}.{}", name, fmt::join(known, ", "),
                              did_you_mean(name, known)));
}

}  // namespace warpseal::cli
