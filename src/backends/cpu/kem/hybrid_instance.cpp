// Instantiates X25519 and its hybrids for one CPU target. The object's only export is its array of
// CpuKem, in the order of kem::hybrid_sets.
#include WARPSEAL_TARGET_HEADER
#include "backends/cpu/kem/hybrid.h"

namespace {
template <const warpseal::kem::HybridParams& set>
constexpr warpseal::CpuKem backend =
    warpseal::cpu::HybridOperations<warpseal::cpu::WARPSEAL_TARGET, set>::backend;
}

extern "C" const warpseal::CpuKem WARPSEAL_EXPORT[warpseal::kem::hybrid_set_count];
const warpseal::CpuKem WARPSEAL_EXPORT[warpseal::kem::hybrid_set_count] = {
    backend<warpseal::kem::x25519_set>, backend<warpseal::kem::x25519mlkem768>,
    backend<warpseal::kem::xwing>};
