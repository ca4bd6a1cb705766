// The ladder's steps: a consistent list, and on a GPU each step against the product and the
// portable target.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "bench/ladder/kem.h"
#include "bench/ladder/ladder.h"

namespace {

using namespace warpseal;
using ladder::Step;

const Step& named(const std::string& name) {
    for (const Step& step : ladder::steps())
        if (name == step.name) return step;
    throw std::invalid_argument(name);
}

bool gpu_present() {
    warpseal_device_info info{};
    return !ladder::steps().empty() && warpseal_device_at(0, &info) == WARPSEAL_OK;
}

class LadderOnGpu : public testing::Test {
protected:
    void SetUp() override {
        if (!gpu_present()) GTEST_SKIP() << "no GPU";
    }
    static warpseal_status run(const Step& step, uint64_t bytes, int threads = 0) {
        ladder::Measured measured{};
        const warpseal_status status = ladder::run(
            step, {.bytes = bytes, .threads_per_block = threads, .repetitions = 1}, &measured);
        if (status == WARPSEAL_OK) {
            EXPECT_GT(measured.gigabytes_per_second, 0) << step.name;
            EXPECT_EQ(measured.registers > 0, !step.product) << step.name;
        }
        return status;
    }
};

TEST(Ladder, ListIsConsistent) {
#ifdef WARPSEAL_WITH_CUDA
    ASSERT_FALSE(ladder::steps().empty());
#else
    EXPECT_TRUE(ladder::steps().empty());
#endif
    std::set<std::string> names, products;
    for (const Step& step : ladder::steps()) {
        EXPECT_TRUE(names.insert(step.name).second) << step.name << " twice";
        EXPECT_NE(std::string(step.what), "") << step.name;
        EXPECT_NE(std::string(step.taught), "") << step.name;
        if (step.product)
            products.insert(std::string(step.cipher) + step.mode +
                            (step.decrypts ? "decrypts" : ""));
    }
    for (const Step& step : ladder::steps())
        EXPECT_TRUE(products.contains(std::string(step.cipher) + step.mode +
                                      (step.decrypts ? "decrypts" : "")))
            << step.name << " does not end at a product";
}

TEST(Ladder, StepsOfNtruEndAtTheProduct) {
    EXPECT_EQ(ladder::kem_steps().empty(), ladder::steps().empty());
    std::set<std::string> names;
    std::set<std::pair<std::string, KemOperation>> products;
    for (const ladder::KemStep& step : ladder::kem_steps()) {
        EXPECT_TRUE(names.insert(step.name).second) << step.name << " twice";
        EXPECT_NE(std::string(step.what), "") << step.name;
        EXPECT_NE(std::string(step.taught), "") << step.name;
        EXPECT_EQ(step.study == nullptr, step.product) << step.name;
        if (step.product) products.emplace(step.set, step.operation);
    }
    for (const ladder::KemStep& step : ladder::kem_steps())
        EXPECT_TRUE(products.contains({step.set, step.operation}))
            << step.name << " does not end at a product";
}

TEST_F(LadderOnGpu, EveryStepIsRight) {
    for (const Step& step : ladder::steps())
        for (const uint64_t bytes : {1048592, 16, 1 << 24})
            EXPECT_EQ(run(step, bytes), WARPSEAL_OK) << step.name << ", " << bytes;
}

TEST_F(LadderOnGpu, StepsAreRightWithOtherThreads) {
    int refused = 0, all = 0;
    for (const Step& step : ladder::steps())
        for (const int threads : {16, 32, 96, 128}) {
            const warpseal_status status = run(step, 65536, threads);
            EXPECT_TRUE(status == WARPSEAL_OK || status == WARPSEAL_INVALID_ARGUMENT)
                << step.name << ", " << threads;
            refused += status != WARPSEAL_OK;
            ++all;
        }
    EXPECT_LT(refused, all / 10);  // the steps that take whole rows of counters
}

TEST_F(LadderOnGpu, RefusesInvalidOptionsOfAStep) {
    EXPECT_EQ(run(named("aes-128.words"), 65536, 1025), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(run(named("aes-128.bytes"), 65536, 24), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(run(named("aes-128.words"), 65536, -1), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(run(named("aes-128.reused-rounds"), 65536, 512), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(run(named("aes-128.words"), 8), WARPSEAL_INVALID_ARGUMENT);
}

TEST_F(LadderOnGpu, EveryStepOfNtruIsRight) {
    for (const ladder::KemStep& step : ladder::kem_steps())
        for (const uint64_t count : {1, 2, 1033}) {
            ladder::KemMeasured measured{};
            EXPECT_EQ(ladder::run(step, {.count = count, .repetitions = 1}, &measured), WARPSEAL_OK)
                << step.name << ", " << count;
            EXPECT_EQ(measured.count, count);
            EXPECT_EQ(measured.registers > 0, !step.product) << step.name;
        }
}

TEST_F(LadderOnGpu, StepsOfNtruAreRightWithOtherThreads) {
    ladder::KemMeasured measured{};
    for (const ladder::KemStep& step : ladder::kem_steps())
        for (const int threads : {1, 32, 99, 768}) {
            if (step.product) continue;
            EXPECT_EQ(
                ladder::run(step, {.count = 20, .threads_per_block = threads, .repetitions = 1},
                            &measured),
                WARPSEAL_OK)
                << step.name << ", " << threads;
        }
    EXPECT_EQ(ladder::run(ladder::kem_steps()[1], {.threads_per_block = 1024}, &measured),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(ladder::run(ladder::kem_steps()[1], {.count = 0}, &measured),
              WARPSEAL_INVALID_ARGUMENT);
}

TEST_F(LadderOnGpu, ComponentsOfNtruAreRight) {
    for (const ladder::Component& component : ladder::components())
        for (const int threads : {1, 32, 99, 768}) {
            ladder::KemMeasured measured{};
            EXPECT_EQ(ladder::run(component,
                                  {.count = 20, .threads_per_block = threads, .repetitions = 1},
                                  &measured),
                      WARPSEAL_OK)
                << component.name << ", " << threads;
        }
}

TEST_F(LadderOnGpu, GivesNoFigureForAWrongSecret) {
    ladder::KemMeasured measured{};
    ladder::KemStep encapsulates = ladder::kem_steps()[1];
    encapsulates.operation = KemOperation::decapsulate;
    EXPECT_EQ(ladder::run(encapsulates, {.count = 20}, &measured), WARPSEAL_SELF_TEST_FAILED);
}

// Kernels that compute something other than their entry says.
TEST_F(LadderOnGpu, GivesNoFigureForAWrongOutput) {
    Step ecb = named("aes-128.words");
    ecb.mode = "ctr";
    EXPECT_EQ(run(ecb, 65536), WARPSEAL_SELF_TEST_FAILED);
    Step keystream = named("camellia-192.merged");
    keystream.study = named("camellia-256.merged").study;
    EXPECT_EQ(run(keystream, 65536), WARPSEAL_SELF_TEST_FAILED);
    Step forwards = named("gkrypt.unrolled");
    forwards.decrypts = true;
    EXPECT_EQ(run(forwards, 65536), WARPSEAL_SELF_TEST_FAILED);
}

}  // namespace
