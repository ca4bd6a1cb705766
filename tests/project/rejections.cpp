// Linked with tests/kem/rejection_test.cpp by tests/project/rejections instead of the library:
// NTRU's portable target, with a set of each family.
#include <string>

#include "backends/cpu/kem/batch.h"
#include "backends/cpu/kem/portable.h"

namespace warpseal {

bool cpu_has_kem(Target target) { return target == Target::portable; }

const CpuKem* cpu_kem(Target, const char* name) {
    using cpu::KemPortable, cpu::Operations;
    for (const CpuKem* kem : {&Operations<KemPortable, kem::ntruhps2048509>::backend,
                              &Operations<KemPortable, kem::ntruhrss701>::backend})
        if (std::string(name) == kem->params->name) return kem;
    return nullptr;
}

}  // namespace warpseal

warpseal_status warpseal_target_at(size_t index, warpseal_target_info* info) {
    if (index != static_cast<size_t>(warpseal::Target::portable)) return WARPSEAL_INVALID_ARGUMENT;
    *info = {"portable", 1, "", ""};
    return WARPSEAL_OK;
}
