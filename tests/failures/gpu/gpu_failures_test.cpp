// Calls of the CUDA runtime fail at any moment on a real GPU: without memory, at one launch, copy
// or wait, or for good. Every public call returns a documented status, writes no output in part,
// and neither leaks nor hangs. With "auto" the cores finish it.
#include <gtest/gtest.h>

#include <cstdio>

#include "../handles.h"
#include "../runner.h"
#include "cuda_calls.h"
#include "works_auto.h"
#include "works_changed.h"

namespace {

using injection::Fault;
using runner::Named;

const std::vector<Fault> all_faults = {Fault::gpu_memory, Fault::gpu_launch, Fault::gpu_lost};

Named anywhere(const char* name, works::Work work) { return {name, work, all_faults}; }
Named on_gpu(const char* name, works::Work work) {
    Named named = {name, work, all_faults};
    named.needs_gpu = true;
    return named;
}
Named without_memory(const char* name, works::Work work) {
    Named named = {name, work, {Fault::gpu_memory}};
    named.needs_gpu = true;
    return named;
}
Named on_auto(const char* name, works::Work work) {
    Named named = {name, work, all_faults};
    named.always_succeeds = true;
    return named;
}

const Named all[] = {
    anywhere("messages", works::messages),
    anywhere("batches", works::batches),
    anywhere("files", works::files),
    anywhere("reader", works::reader),
    anywhere("changed_files", works::changed_files),
    anywhere("host_memory", works::host_memory),
    anywhere("drbg", works::drbg),
    anywhere("kem_one", works::kem_one),
    anywhere("kem_many", works::kem_many),
    anywhere("pool", works::pool),
    anywhere("batcher", works::batcher),
    on_gpu("device_memory", works::device_memory),
    on_gpu("device_batches", works::device_batches),
    without_memory("device_openings", works::device_openings),
    on_gpu("device_kem", works::device_kem),
    on_gpu("device_files", works::device_files),
    on_auto("auto_messages", works::auto_messages),
    on_auto("auto_batches", works::auto_batches),
    on_auto("auto_files", works::auto_files),
    on_auto("auto_changed_files", works::auto_changed_files),
};

// This process computes the right results on the cores. It makes no call of CUDA.
void prepare() {
    static const bool done = [] {
        constexpr size_t bytes_on_gpu = 65536;
        works::device = "cpu";
        works::text_bytes = bytes_on_gpu;
        works::prepare();
        works::prepare_auto();
        works::prepare_changed();
        works::device = "cuda";
        return true;
    }();
    (void)done;
}

class GpuFailures : public testing::TestWithParam<Named> {
protected:
    void SetUp() override {
        static const bool found = injection::has_gpu();
        if (!found) GTEST_SKIP() << "no GPU";
    }
};

TEST_P(GpuFailures, EveryOneEndsInAStatus) {
    prepare();
    injection::use_cuda_runtime();
    const runner::Outcome outcome = runner::run(GetParam());
    for (const std::string& complaint : outcome.complaints) ADD_FAILURE() << complaint;
    long points = 0, statuses = 0;
    for (const auto& [name, one] : outcome.functions)
        points += one.points, statuses += one.statuses;
    EXPECT_GT(points, 2) << "nothing fails";
    std::printf("%s: %ld runs, %ld faults, %ld of them ended in a status\n", GetParam().name,
                outcome.runs, points, statuses);
}

INSTANTIATE_TEST_SUITE_P(Works, GpuFailures, testing::ValuesIn(all),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
