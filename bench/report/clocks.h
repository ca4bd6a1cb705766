// Clock rates of a GPU and of a core, used by the bounds of figures and by their comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace warpseal::bench {

struct GpuClocks {
    uint32_t megahertz;                // highest clock of the multiprocessors
    uint64_t memory_bytes_per_second;  // Memory clock times bus width, reads and writes together.
};

// Returns the clocks of GPU `index` as the driver reports them, or nothing if there is no driver.
std::optional<GpuClocks> gpu_clocks(size_t index);

// Returns the highest clock that the calling core reaches within some milliseconds, in GHz, or
// nothing if the processor's latency of a multiplication is not known here.
std::optional<double> core_gigahertz();

}  // namespace warpseal::bench
