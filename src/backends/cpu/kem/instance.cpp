// NTRU's six sets for one CPU target: this object's only export is its door, in the order of
// kem::sets.
#include WARPSEAL_TARGET_HEADER
#include "backends/cpu/kem/batch.h"

namespace {
template <const warpseal::kem::Params& set>
constexpr warpseal::CpuKem door = warpseal::cpu::Operations<warpseal::cpu::Arithmetic, set>::door;
}

extern "C" const warpseal::CpuKem WARPSEAL_DOOR[warpseal::kem::set_count];
const warpseal::CpuKem WARPSEAL_DOOR[warpseal::kem::set_count] = {
    door<warpseal::kem::ntruhps2048509>, door<warpseal::kem::ntruhps2048677>,
    door<warpseal::kem::ntruhps4096821>, door<warpseal::kem::ntruhps40961229>,
    door<warpseal::kem::ntruhrss701>,    door<warpseal::kem::ntruhrss1373>};
