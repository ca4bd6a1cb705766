// Instantiates the six parameter sets of NTRU for one CPU target. The object's only export is its
// array of CpuKem, in the order of kem::sets.
#include WARPSEAL_TARGET_HEADER
#include "backends/cpu/kem/batch.h"

namespace {
template <const warpseal::kem::Params& set>
constexpr warpseal::CpuKem backend =
    warpseal::cpu::Operations<warpseal::cpu::WARPSEAL_TARGET, set>::backend;
}

extern "C" const warpseal::CpuKem WARPSEAL_EXPORT[warpseal::kem::set_count];
const warpseal::CpuKem WARPSEAL_EXPORT[warpseal::kem::set_count] = {
    backend<warpseal::kem::ntruhps2048509>, backend<warpseal::kem::ntruhps2048677>,
    backend<warpseal::kem::ntruhps4096821>, backend<warpseal::kem::ntruhps40961229>,
    backend<warpseal::kem::ntruhrss701>,    backend<warpseal::kem::ntruhrss1373>};
