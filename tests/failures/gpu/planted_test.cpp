// Functions that handle a failure of the CUDA runtime wrongly. The runner must report each.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <string>

#include "../handles.h"
#include "../runner.h"
#include "cuda_calls.h"

namespace {

using injection::Fault;

enum class Flaw : unsigned char { none, keeps_memory, calls_lost_gpu };

// Allocates twice and frees both.
template <Flaw flaw>
warpseal_status planted() {
    return works::checked("planted", {}, [] {
        void *first = nullptr, *second = nullptr;
        if (flaw == Flaw::calls_lost_gpu) (void)cudaFree(nullptr);
        const cudaError_t error = cudaMalloc(&first, 100);
        if (error != cudaSuccess)
            return error == cudaErrorMemoryAllocation ? WARPSEAL_OUT_OF_MEMORY : WARPSEAL_NO_DEVICE;
        const cudaError_t next = cudaMalloc(&second, 100);
        const bool lost = next != cudaSuccess && next != cudaErrorMemoryAllocation;
        if (next == cudaSuccess) (void)cudaFree(second);
        if (!lost && (next == cudaSuccess || flaw != Flaw::keeps_memory)) (void)cudaFree(first);
        if (next == cudaSuccess) return WARPSEAL_OK;
        return lost ? WARPSEAL_NO_DEVICE : WARPSEAL_OUT_OF_MEMORY;
    });
}

class GpuPlanted : public testing::Test {
protected:
    void SetUp() override {
        if (!injection::has_gpu()) GTEST_SKIP() << "no GPU";
        injection::use_cuda_runtime();
        works::device = "cuda";
    }
    // The complaints in a line.
    static std::string complaints(works::Work work, Fault fault, bool always_succeeds = false) {
        runner::Named named = {"planted", work, {fault}};
        named.needs_gpu = true;
        named.always_succeeds = always_succeeds;
        std::string all;
        for (const std::string& complaint : runner::run(named).complaints) all += complaint + "\n";
        return all;
    }
};

TEST_F(GpuPlanted, RightOneIsNotReported) {
    EXPECT_EQ(complaints(planted<Flaw::none>, Fault::gpu_memory), "");
}

TEST_F(GpuPlanted, MemoryThatIsKept) {
    EXPECT_NE(complaints(planted<Flaw::keeps_memory>, Fault::gpu_memory).find("is not freed"),
              std::string::npos);
}

TEST_F(GpuPlanted, CallOnTheLostGpu) {
    EXPECT_NE(complaints(planted<Flaw::calls_lost_gpu>, Fault::gpu_lost).find("on the lost GPU"),
              std::string::npos);
}

TEST_F(GpuPlanted, StatusWhereTheCoresShouldGoOn) {
    EXPECT_NE(complaints(planted<Flaw::none>, Fault::gpu_memory, true).find("status "),
              std::string::npos);
}

}  // namespace
