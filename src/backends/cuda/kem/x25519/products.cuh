// Kernels of X25519: a lane computes a product, alone. No branch and no address depends on a
// secret, and no secret leaves the registers. The kernels have internal linkage, because tests
// compile them for the host too.
#pragma once

#include "backends/cuda/host/tuning.h"
#include "backends/cuda/kem/lanes.cuh"
#include "backends/cuda/kem/x25519/base.cuh"
#include "backends/cuda/kem/x25519/products.h"

namespace warpseal::cuda::x25519 {

__device__ const AddendTable base_addends = addend_table();

static __global__ void __launch_bounds__(tuning::x25519_threads, tuning::x25519_blocks)
    multiply_points(const ProductJob job) {
    const uint64_t item = lane_item();
    if (item >= job.count) return;
    const Number scalar = clamped(load(string_of(job.scalars, item))),
                 point = coordinate(load(string_of(job.points, item)));
    store(string_of(job.products, item), quotient(ladder(scalar, point)));
}

static __global__ void __launch_bounds__(tuning::x25519_threads, tuning::x25519_blocks)
    multiply_base_point(const ProductJob job) {
    const uint64_t item = lane_item();
    if (item >= job.count) return;
    const Number scalar = load(string_of(job.scalars, item));
    if (job.copies.at != nullptr) store(string_of(job.copies, item), scalar);
    store(string_of(job.products, item), quotient(multiply_base(clamped(scalar), base_addends)));
}

}  // namespace warpseal::cuda::x25519
