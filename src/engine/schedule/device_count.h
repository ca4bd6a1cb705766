// Number of GPUs that the driver has.
#pragma once

#include "backends/gpu_backend.h"

namespace warpseal {

// Loads the driver's library before the backend does, with forks excluded. A child forked while a
// thread of its parent loads a library cannot load any itself: glibc aborts it.
warpseal_status count_devices(const GpuBackend& backend, int* count);

}  // namespace warpseal
