// CUDA backend interface for key encapsulation: parameter sets by name.
#include <cstring>

#include "backends/kem_catalogue.h"

namespace warpseal {

#include "cuda_kem_exports.h"

const CudaKem* cuda_kem(const char* name) {
    for (const CudaKem* kem : cuda_kem_exports)
        if (strcmp(kem->set->name, name) == 0) return kem;
    return nullptr;
}

}  // namespace warpseal
