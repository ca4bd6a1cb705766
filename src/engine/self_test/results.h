// The outcome of each self-test, once per process: a path that failed stays closed.
#pragma once

#include <functional>

#include "backends/cipher_backend.h"

namespace warpseal {

enum class Path : uint8_t { cores = 0, gpu_host_memory = 1, gpu_device_memory = 2 };

struct PathName {
    const void* cipher;   // the backend's descriptor: a CpuCipher or a CudaCipher
    const void* backend;  // the GpuBackend it was tested through; null for cores
    int device;           // -1 for cores
    Path path;
    warpseal_mode mode;
    Direction direction;
};

// WARPSEAL_OK or WARPSEAL_SELF_TEST_FAILED, remembered. Runs `test` if there is no outcome yet; who
// asks for the same path meanwhile waits for it, but no forked child for a test of its parent's.
// What else the test returns (a lost GPU, no memory) is no outcome, and is returned but not
// remembered. failed_now: this call saw it fail.
warpseal_status self_test_result(const PathName& name, const std::function<warpseal_status()>& test,
                                 bool* failed_now);

}  // namespace warpseal
