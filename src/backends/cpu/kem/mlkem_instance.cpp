// Instantiates the three parameter sets of ML-KEM for one CPU target. The object's only export is
// its array of CpuKem, in the order of kem::mlkem_sets.
#include WARPSEAL_TARGET_HEADER
#include "backends/cpu/kem/mlkem_batch.h"

namespace {
template <const warpseal::kem::MlKemParams& set>
constexpr warpseal::CpuKem backend =
    warpseal::cpu::MlKemOperations<warpseal::cpu::WARPSEAL_TARGET, set>::backend;
}

extern "C" const warpseal::CpuKem WARPSEAL_EXPORT[warpseal::kem::mlkem_set_count];
const warpseal::CpuKem WARPSEAL_EXPORT[warpseal::kem::mlkem_set_count] = {
    backend<warpseal::kem::mlkem512>, backend<warpseal::kem::mlkem768>,
    backend<warpseal::kem::mlkem1024>};
