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
    static warpseal_status run(const Step& step, const ladder::Options& options,
                               ladder::Measured& measured) {
        const warpseal_status status = ladder::run(step, options, &measured);
        if (status == WARPSEAL_OK) {
            EXPECT_GT(measured.gigabytes_per_second, 0) << step.name;
            EXPECT_EQ(measured.registers > 0, !step.product) << step.name;
            EXPECT_EQ(measured.resident_blocks > 0, !step.product) << step.name;
            EXPECT_EQ(measured.occupancy > 0 && measured.occupancy <= 1, !step.product)
                << step.name;
        }
        return status;
    }
    static warpseal_status run(const Step& step, uint64_t bytes, int threads = 0) {
        ladder::Measured measured{};
        return run(step, {.bytes = bytes, .threads_per_block = threads, .repetitions = 1},
                   measured);
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

// The article's blocks on a multiprocessor with 48 KB.
TEST_F(LadderOnGpu, LimitsResidentBlocks) {
    for (const auto& [name, blocks] :
         {std::pair{"gkrypt.unrolled", 6}, {"gkrypt.device-keys", 5}}) {
        ladder::Measured measured{};
        const ladder::Options options{
            .bytes = 1 << 24, .repetitions = 1, .resident_blocks = blocks};
        EXPECT_EQ(run(named(name), options, measured), WARPSEAL_OK) << name;
        EXPECT_EQ(measured.resident_blocks, blocks) << name;
        EXPECT_LE(measured.shared_bytes, 8432) << name;
    }
    // A limit of one run does not affect the next.
    ladder::Measured free{};
    EXPECT_EQ(run(named("gkrypt.shared-state"), {.bytes = 1 << 24, .repetitions = 1}, free),
              WARPSEAL_OK);
    EXPECT_GT(free.resident_blocks, 5);
}

TEST_F(LadderOnGpu, RunsOnSomeMultiprocessors) {
    const auto rate = [](const char* name, int multiprocessors) {
        ladder::Measured measured{};
        const ladder::Options options{.bytes = 1 << 28,
                                      .threads_per_block = 1024,
                                      .repetitions = 3,
                                      .multiprocessors = multiprocessors};
        EXPECT_EQ(run(named(name), options, measured), WARPSEAL_OK) << name;
        EXPECT_EQ(measured.multiprocessors, multiprocessors) << name;
        EXPECT_EQ(measured.blocks, multiprocessors) << name;
        EXPECT_EQ(measured.resident_blocks, 1) << name;
        return measured.gigabytes_per_second;
    };
    for (const char* name : {"aes-128.words-persistent", "des.words-persistent"}) {
        const double of_twelve = rate(name, 12) / rate(name, 4);
        EXPECT_GT(of_twelve, 2.4) << name;
        EXPECT_LT(of_twelve, 3.6) << name;
    }
    ladder::Measured measured{};
    for (const int wrong : {-1, 100'000})
        EXPECT_EQ(run(named("des.words-persistent"),
                      {.bytes = 1 << 20, .repetitions = 1, .multiprocessors = wrong}, measured),
                  WARPSEAL_INVALID_ARGUMENT);
    // Blocks of threads that end are on any multiprocessor.
    EXPECT_EQ(run(named("des.words"), {.bytes = 1 << 20, .repetitions = 1, .multiprocessors = 4},
                  measured),
              WARPSEAL_INVALID_ARGUMENT);
}

TEST_F(LadderOnGpu, PapersBlocksOfThreads) {
    ladder::Measured measured{};
    const ladder::Options options{.bytes = 1 << 24, .repetitions = 1};
    // P1: 16 threads for each block of text, with a copy of the S-box and the keys.
    EXPECT_EQ(run(named("aes-128.bytes"), options, measured), WARPSEAL_OK);
    EXPECT_EQ(measured.threads_per_block, 16);
    EXPECT_EQ(measured.blocks, (1 << 24) / 16);
    EXPECT_EQ(measured.shared_bytes, 256 + 176 + 2 * 16);
    // A thread for each block of text; five tables and the keys.
    EXPECT_EQ(run(named("aes-128.words"), options, measured), WARPSEAL_OK);
    EXPECT_EQ(measured.blocks * measured.threads_per_block, (1 << 24) / 16);
    EXPECT_EQ(measured.shared_bytes, 5 * 1024 + 176);
}

TEST_F(LadderOnGpu, RefusesInvalidOptionsOfAStep) {
    EXPECT_EQ(run(named("aes-128.words"), 65536, 1025), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(run(named("aes-128.bytes"), 65536, 24), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(run(named("aes-128.words"), 65536, -1), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(run(named("aes-128.reused-rounds"), 65536, 512), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(run(named("aes-128.words"), 8), WARPSEAL_INVALID_ARGUMENT);
    ladder::Measured measured{};
    for (const int blocks : {-1, 33})
        EXPECT_EQ(run(named("aes-128.words"),
                      {.bytes = 65536, .repetitions = 1, .resident_blocks = blocks}, measured),
                  WARPSEAL_INVALID_ARGUMENT)
            << blocks;
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

const ladder::KemStep& ntru(const std::string& name) {
    for (const ladder::KemStep& step : ladder::kem_steps())
        if ("ntruhps4096821." + name == step.name) return step;
    throw std::invalid_argument(name);
}

TEST_F(LadderOnGpu, StepsOfNtruAreRightWithOtherThreads) {
    ladder::KemMeasured measured{};
    for (const ladder::KemStep& step : ladder::kem_steps())
        for (const int threads : {1, 32, 64, 99, 768}) {
            if (step.product) continue;
            // Shuffles need whole warps, and 768 threads a kernel with registers for them.
            const bool shuffles = std::string(step.name).ends_with("lane-hash"),
                       may_refuse = (shuffles && threads % 32 != 0) || threads == 768;
            const warpseal_status status = ladder::run(
                step, {.count = 20, .threads_per_block = threads, .repetitions = 1}, &measured);
            EXPECT_TRUE(status == WARPSEAL_OK ||
                        (may_refuse && status == WARPSEAL_INVALID_ARGUMENT))
                << step.name << ", " << threads;
        }
    for (const char* name : {"encapsulate.block-768", "decapsulate.block-768"}) {
        EXPECT_EQ(ladder::run(ntru(name), {.count = 20, .threads_per_block = 768, .repetitions = 1},
                              &measured),
                  WARPSEAL_OK)
            << name;
        EXPECT_LE(measured.registers, 80) << name;
    }
    EXPECT_EQ(ladder::run(ntru("encapsulate.lane-hash"), {.count = 20, .threads_per_block = 99},
                          &measured),
              WARPSEAL_INVALID_ARGUMENT);
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
    // Two hashes of a ciphertext that is rejected, by lanes of two warps.
    ladder::KemStep decapsulates = ntru("decapsulate.lane-hash");
    decapsulates.operation = KemOperation::encapsulate;
    EXPECT_EQ(ladder::run(decapsulates, {.count = 20}, &measured), WARPSEAL_SELF_TEST_FAILED);
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
