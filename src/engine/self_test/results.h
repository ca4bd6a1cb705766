// Result of each self-test, once per process. A path that failed stays closed.
#pragma once

#include <functional>

#include "backends/cipher_backend.h"

namespace warpseal {

enum class Path : uint8_t { cores = 0, gpu_host_memory = 1, gpu_device_memory = 2 };

struct PathName {
    const void* cipher;   // the backend's descriptor: a CpuCipher or a CudaCipher
    const void* backend;  // the GpuBackend under test; null for the CPU
    int device;           // -1 for the CPU
    Path path;
    warpseal_mode mode;
    Direction direction;
};

// Returns the recorded result, WARPSEAL_OK or WARPSEAL_SELF_TEST_FAILED, and runs `test` if there
// is none.
// Concurrent callers wait for the running test. A forked child never waits for its parent's.
// Any other status of the test (lost GPU, out of memory) is returned but not recorded.
// *failed_now is true if this call ran the test and it failed.
warpseal_status self_test_result(const PathName& name, const std::function<warpseal_status()>& test,
                                 bool* failed_now);

}  // namespace warpseal
