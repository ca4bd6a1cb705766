// Clock rates of a GPU, used by the bounds of its figures.
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

}  // namespace warpseal::bench
