// Failure of a measurement, which then has no figure.
#pragma once

#include <stdexcept>

#include "warpseal/warpseal.h"

namespace warpseal::bench {

// Thrown if a measured call fails or its output differs from the reference. The row is then
// omitted.
struct BenchWrong : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Throws BenchWrong, which names `what` and the status, unless `status` is success.
void require_ok(warpseal_status status, const char* what);

}  // namespace warpseal::bench
