// The ladder of a build without CUDA: no steps.
#include "ladder/ladder.h"

namespace warpseal::ladder {

std::span<const Step> steps() { return {}; }

warpseal_status run(const Step&, const Options&, Measured*) { return WARPSEAL_NO_DEVICE; }

}  // namespace warpseal::ladder
