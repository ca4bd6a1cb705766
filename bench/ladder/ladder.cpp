// List of all steps by cipher family.
#include "bench/ladder/ladder.h"

#include <vector>

#include "bench/ladder/study.h"

namespace warpseal::ladder {

std::span<const Step> steps() {
    static const std::vector<Step> all = [] {
        std::vector<Step> made;
        for (const auto& family :
             {aes_steps(), aria_steps(), des_steps(), camellia_steps(), gkrypt_steps()})
            made.insert(made.end(), family.begin(), family.end());
        return made;
    }();
    return all;
}

}  // namespace warpseal::ladder
