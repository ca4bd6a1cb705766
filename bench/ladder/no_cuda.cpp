// The ladder of a build without CUDA: no steps.
#include "bench/ladder/kem.h"
#include "bench/ladder/ladder.h"

namespace warpseal::ladder {

std::span<const Step> steps() { return {}; }
std::span<const KemStep> kem_steps() { return {}; }
std::span<const Component> components() { return {}; }

warpseal_status run(const Step&, const Options&, Measured*) { return WARPSEAL_NO_DEVICE; }
warpseal_status run(const KemStep&, const KemOptions&, KemMeasured*) { return WARPSEAL_NO_DEVICE; }
warpseal_status run(const Component&, const KemOptions&, KemMeasured*) {
    return WARPSEAL_NO_DEVICE;
}

}  // namespace warpseal::ladder
