// A GPU's clocks, which the bounds of `warpseal bench --html` rest on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace warpseal::cli {

struct GpuClocks {
    uint32_t megahertz;                // the multiprocessors' highest
    uint64_t memory_bytes_per_second;  // what the memory's clock and width come to, reading and
                                       // writing together
};

// Of the GPU with that number, as the driver tells; none where there is no driver.
std::optional<GpuClocks> gpu_clocks(size_t index);

}  // namespace warpseal::cli
