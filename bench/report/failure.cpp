// Failure of a measurement.
#include "bench/report/failure.h"

#include <string>

namespace warpseal::bench {

void require_ok(warpseal_status status, const char* what) {
    if (status != WARPSEAL_OK)
        throw BenchWrong(std::string(what) + ": " + warpseal_status_text(status));
}

}  // namespace warpseal::bench
