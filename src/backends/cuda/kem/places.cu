// Secret keys of a pool between their places and a batch side by side, and wiped: a warp for each.
#include "backends/cuda/kem/places.h"

#include "backends/cuda/device.h"
#include "backends/cuda/launch.cuh"
#include "backends/cuda/tuning.h"

namespace warpseal::cuda {
namespace {

struct PlacesJob {
    KemPlaced what;
    uint4* places;
    uint4* items;
    uint64_t units;  // of 16 bytes, of an item
    const uint32_t* numbers;
    uint64_t count;
};

__global__ void __launch_bounds__(tuning::threads) move_keys(const PlacesJob job) {
    const uint4 zero = make_uint4(0, 0, 0, 0);
    for (uint64_t i = first_item(); i < job.count; i += item_step()) {
        const uint64_t number = job.numbers == nullptr ? i : job.numbers[i];
        const bool nowhere = number == kem_nowhere;
        uint4* const place = job.places + number * job.units;
        uint4* const item = job.items + i * job.units;
        for (uint64_t unit = threadIdx.x % 32; unit < job.units; unit += 32) {
            if (job.what == KemPlaced::get) item[unit] = nowhere ? zero : place[unit];
            if (job.what == KemPlaced::put && !nowhere) place[unit] = item[unit];
            if (job.what == KemPlaced::put) item[unit] = zero;
            if (job.what == KemPlaced::wipe && !nowhere) place[unit] = zero;
        }
    }
}

}  // namespace

warpseal_status kem_placed(int device, KemPlaced what, void* places, void* items, size_t stride,
                           const uint32_t* numbers, uint64_t count, void* stream) {
    const CurrentDevice current(device);
    if (current.status() != WARPSEAL_OK || count == 0) return current.status();
    Limits limits;
    const warpseal_status status = current_limits(limits);
    if (status != WARPSEAL_OK) return status;
    const PlacesJob job{what,
                        static_cast<uint4*>(places),
                        static_cast<uint4*>(items),
                        stride / sizeof(uint4),
                        numbers,
                        count};
    return launch(move_keys, blocks_for(count, limits), 0, job, static_cast<cudaStream_t>(stream));
}

}  // namespace warpseal::cuda
