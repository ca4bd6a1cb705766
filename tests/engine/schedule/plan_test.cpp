// The plan is a pure function: size, memory kind, cipher, mode and machine in, target and shards
// out.
#include "engine/schedule/plan.h"

#include <gtest/gtest.h>

#include "engine/targets.h"

namespace {

using namespace warpseal;

TargetSet set(std::initializer_list<Target> targets) {
    TargetSet all = {};
    for (const Target target : targets) all[static_cast<size_t>(target)] = true;
    return all;
}

constexpr uint64_t kib = 1024, mib = kib * kib, gib = mib * kib;

// With Target::cuda: one open GPU.
MachineFacts machine(std::initializer_list<Target> targets, unsigned threads = 16) {
    MachineFacts facts;
    facts.threads = threads;
    facts.usable = set(targets);
    facts.gpu_count = facts.usable[static_cast<size_t>(Target::cuda)] ? 1 : 0;
    facts.gpus[0].open = true;
    return facts;
}

uint64_t sum_of(const Plan& p) {
    uint64_t sum = p.core_bytes;
    for (const uint64_t bytes : p.gpu_bytes) sum += bytes;
    return sum;
}

const auto all_cores = {Target::portable, Target::aesni, Target::avx2, Target::vaes256,
                        Target::vaes512};
const auto all_representations = {Representation::instructions, Representation::byte_sliced,
                                  Representation::word_sliced, Representation::bitsliced};

TEST(Plan, TheSmallestInputsRunOnTheCallersThread) {
    for (const warpseal_mode mode : {WARPSEAL_ECB, WARPSEAL_CTR, WARPSEAL_GCM})
        for (const uint64_t bytes : {0, 1, 16, 4096, 16384}) {
            const Plan p =
                plan({bytes, MemoryKind::host, 16, mode, Direction::encrypt}, machine(all_cores));
            EXPECT_EQ(p.threads, 1u) << bytes;
            EXPECT_EQ(p.target, Target::vaes512);
            EXPECT_EQ(p.chunk_bytes, bytes);
        }
}

TEST(Plan, LargeInputsUseEveryThreadInWholeShards) {
    for (const Target target : all_cores)
        for (const unsigned threads : {2u, 3u, 16u, 200u}) {
            const Plan p = plan({gib, MemoryKind::host, 16, WARPSEAL_CTR, Direction::encrypt},
                                machine({target}, threads));
            EXPECT_EQ(p.target, target);
            EXPECT_EQ(p.threads, threads);
            EXPECT_EQ(p.chunk_bytes % (16 * kib), 0u);
            EXPECT_GE(gib / p.chunk_bytes, threads * uint64_t{2})
                << "so that a slow core delays no thread";
            EXPECT_LE(p.chunk_bytes, 4 * mib);
        }
}

TEST(Plan, ThreadsNeverOutnumberShards) {
    for (uint64_t bytes = 1; bytes < 64 * mib; bytes = bytes * 3 / 2 + 1)
        for (const Target target : all_cores)
            for (const Representation representation : all_representations)
                for (const warpseal_mode mode :
                     {WARPSEAL_ECB, WARPSEAL_CTR, WARPSEAL_GCM, WARPSEAL_CBC, WARPSEAL_XTS}) {
                    const Plan p = plan(
                        {bytes, MemoryKind::host, 16, mode, Direction::decrypt, representation},
                        machine({target}, 64));
                    ASSERT_GE(p.threads, 1u);
                    ASSERT_LE(p.threads, 64u);
                    if (p.threads > 1) {
                        ASSERT_GE((bytes + p.chunk_bytes - 1) / p.chunk_bytes, p.threads) << bytes;
                        ASSERT_EQ(p.chunk_bytes % 4096, 0u);
                    }
                }
}

// Slower representations are split over threads at smaller sizes.
TEST(Plan, SlowRepresentationsAreSplitAtSmallerSizes) {
    for (const Target target : all_cores) {
        uint64_t least[2] = {};
        for (const Representation representation :
             {Representation::instructions, Representation::bitsliced}) {
            uint64_t& bytes = least[representation == Representation::bitsliced ? 1 : 0];
            for (bytes = kib; plan({bytes, MemoryKind::host, 8, WARPSEAL_ECB, Direction::encrypt,
                                    representation},
                                   machine({target}))
                                  .threads == 1;
                 bytes *= 2) {
            }
        }
        EXPECT_LE(least[1], least[0]) << target_name(target);
        EXPECT_LE(least[1], 64 * kib);
    }
}

TEST(Plan, OneSerialMessageHasOneThread) {
    for (const Target target : all_cores)
        for (const bool gpu : {false, true}) {
            MachineFacts facts = machine({target});
            facts.gpu_count = gpu ? 1 : 0;
            facts.gpus[0].open = true;
            const Plan p = plan({gib, MemoryKind::host, 16, WARPSEAL_OFB, Direction::encrypt,
                                 Representation::byte_sliced, 1},
                                facts);
            EXPECT_EQ(p.threads, 1u);
            EXPECT_EQ(p.target, target) << "a lane of a GPU is slower than a core";
            EXPECT_EQ(p.chunk_bytes, gib);
        }
    EXPECT_EQ(plan({gib, MemoryKind::host, 16, WARPSEAL_OFB, Direction::encrypt,
                    Representation::byte_sliced, 1},
                   machine({Target::cuda}))
                  .target,
              Target::cuda);
}

TEST(Plan, FewChainsHaveAThreadEachOnTheCores) {
    const auto call = [](uint64_t chains) {
        return CallFacts{gib,          MemoryKind::host,   16,
                         WARPSEAL_CBC, Direction::encrypt, Representation::bitsliced,
                         chains};
    };
    const MachineFacts facts = machine({Target::portable, Target::aesni, Target::cuda}, 16);
    EXPECT_EQ(plan(call(3), facts).threads, 3u);
    EXPECT_EQ(plan(call(3), facts).target, Target::aesni);
    EXPECT_EQ(plan(call(1000), facts).threads, 16u);
    EXPECT_EQ(plan(call(1000000), facts).target, Target::cuda);
}

TEST(Plan, RepresentationsByName) {
    const std::pair<const char*, Representation> representations[] = {
        {"instructions", Representation::instructions},
        {"byte-sliced", Representation::byte_sliced},
        {"word-sliced", Representation::word_sliced},
        {"bitsliced", Representation::bitsliced}};
    for (const auto& [name, representation] : representations) {
        CpuCipher cipher = {};
        cipher.representation = name;
        EXPECT_EQ(representation_of(cipher), representation) << name;
    }
}

TEST(Plan, OneThreadIsTheCallerWhateverTheSize) {
    const Plan p = plan({64 * gib, MemoryKind::host, 16, WARPSEAL_GCM, Direction::encrypt},
                        machine(all_cores, 1));
    EXPECT_EQ(p.threads, 1u);
    EXPECT_EQ(p.chunk_bytes, 64 * gib);
}

TEST(Plan, TheBestUsableCoreTargetIsTaken) {
    const CallFacts call{mib, MemoryKind::host, 16, WARPSEAL_CTR, Direction::encrypt};
    EXPECT_EQ(plan(call, machine({Target::portable, Target::aesni})).target, Target::aesni);
    EXPECT_EQ(plan(call, machine({Target::portable, Target::aesni, Target::avx2})).target,
              Target::avx2);
    EXPECT_EQ(plan(call, machine({Target::portable, Target::aesni, Target::avx2, Target::vaes256}))
                  .target,
              Target::vaes256);
    EXPECT_EQ(plan(call, machine({Target::portable})).target, Target::portable);
}

TEST(Plan, AesInPageableMemoryRunsOnManyCoresWithAesInstructions) {
    for (const Target target : {Target::aesni, Target::avx2, Target::vaes256, Target::vaes512})
        for (const uint64_t bytes : {kib, mib, gib, 64 * gib}) {
            MachineFacts facts = machine({Target::portable, target, Target::cuda}, 16);
            facts.cores = {40, 30};  // memory bandwidth, measured
            facts.gpus[0].speed = {22, 8};
            const Plan p =
                plan({bytes, MemoryKind::host, 16, WARPSEAL_GCM, Direction::encrypt}, facts);
            ASSERT_EQ(p.target, target);
            ASSERT_EQ(p.core_bytes, bytes);
        }
}

TEST(Plan, TheFasterSideByThroughputIsUsed) {
    MachineFacts facts = machine({Target::vaes512, Target::cuda}, 16);
    const auto targets = [&](double cores, double gpu, MemoryKind memory_kind) {
        facts.cores = {cores, cores / 100};  // together they are slow: nothing is shared
        facts.gpus[0].speed = {gpu, gpu / 100};
        return plan({gib, memory_kind, 16, WARPSEAL_CTR, Direction::encrypt}, facts).target;
    };
    EXPECT_EQ(targets(35, 45, MemoryKind::pinned), Target::cuda);
    EXPECT_EQ(targets(45, 35, MemoryKind::pinned), Target::vaes512);
    EXPECT_EQ(targets(15, 20, MemoryKind::host), Target::cuda);
    EXPECT_EQ(targets(35, 20, MemoryKind::pinned_in_place), Target::vaes512);
}

TEST(Plan, CoresAndGpuShareByThroughput) {
    MachineFacts facts = machine({Target::vaes512, Target::cuda}, 16);
    facts.cores = {15, 10};
    facts.gpus[0].speed = {45, 40};
    const Plan p =
        plan({10 * gib, MemoryKind::pinned, 16, WARPSEAL_CTR, Direction::encrypt}, facts);
    EXPECT_TRUE(p.shared());
    EXPECT_EQ(sum_of(p), 10 * gib);
    EXPECT_NEAR(static_cast<double>(p.gpu_bytes[0]) / static_cast<double>(p.core_bytes), 4, 0.1);
    EXPECT_EQ(p.gpu_bytes[0] % (64 * kib), 0u);
    EXPECT_EQ(p.threads, 16u);
    facts.cores.shared = 1;  // which costs the GPU more than it gains
    facts.gpus[0].speed.shared = 43;
    EXPECT_FALSE(
        plan({10 * gib, MemoryKind::pinned, 16, WARPSEAL_CTR, Direction::encrypt}, facts).shared());
}

// Without measurements: six threads feed each GPU, the others run as they would alone.
TEST(Plan, EachGpuTakesThreadsFromTheCores) {
    MachineFacts facts = machine({Target::vaes512, Target::cuda}, 16);
    facts.cores = {32, 0};
    facts.gpu_count = 2;
    facts.gpus[0] = {true, {20, 0}};
    facts.gpus[1] = {true, {20, 0}};
    facts.gpu_numbers[1] = 1;
    const Plan p = plan({10 * gib, MemoryKind::host, 16, WARPSEAL_CTR, Direction::encrypt}, facts);
    EXPECT_NEAR(static_cast<double>(p.core_bytes) / (10.0 * gib), 8.0 / 48, 0.01);
}

TEST(Plan, ChainsAreNotSharedBetweenCoresAndGpus) {
    MachineFacts facts = machine({Target::vaes512, Target::cuda}, 16);
    facts.cores = facts.gpus[0].speed = {10, 10};
    EXPECT_TRUE(
        plan({gib, MemoryKind::host, 16, WARPSEAL_CBC, Direction::decrypt}, facts).shared());
    EXPECT_FALSE(plan({gib, MemoryKind::host, 16, WARPSEAL_CBC, Direction::encrypt,
                       Representation::instructions, 100000},
                      facts)
                     .shared());
}

TEST(Plan, GcmCiphersAndHashes) {
    for (const Target target : all_cores)
        for (const Representation representation : all_representations) {
            const double ctr = default_core_speed(target, {gib, MemoryKind::host, 16, WARPSEAL_CTR,
                                                           Direction::encrypt, representation});
            const double gcm = default_core_speed(target, {gib, MemoryKind::host, 16, WARPSEAL_GCM,
                                                           Direction::encrypt, representation});
            EXPECT_LT(gcm, 0.999 * ctr) << target_name(target);
        }
}

TEST(Plan, SmallCallsAreNeverShared) {
    for (const unsigned gpus : {1u, 2u, 16u})
        for (uint64_t bytes = 1; bytes < least_shared_bytes; bytes = bytes * 3 / 2 + 1)
            for (const double cores : {0.01, 1.0, 20.0, 100.0}) {
                MachineFacts facts = machine({Target::vaes512, Target::cuda}, 16);
                facts.gpu_count = gpus;
                for (unsigned i = 0; i < gpus; ++i)
                    facts.gpus[i] = {true, {30, 30}}, facts.gpu_numbers[i] = i;
                facts.cores = {cores, cores};
                const Plan p =
                    plan({bytes, MemoryKind::host, 16, WARPSEAL_CTR, Direction::encrypt}, facts);
                ASSERT_FALSE(p.shared()) << bytes;
                ASSERT_EQ(sum_of(p), bytes);
                ASSERT_TRUE(p.core_bytes == bytes || p.gpu_bytes[p.first_gpu()] == bytes);
            }
}

TEST(Plan, EqualGpusHaveEqualShards) {
    for (const unsigned gpus : {2u, 3u, 8u, 16u}) {
        MachineFacts facts = machine({Target::cuda}, 16);
        facts.gpu_count = gpus;
        for (unsigned i = 0; i < gpus; ++i)
            facts.gpus[i] = {true, {45, 45}}, facts.gpu_numbers[i] = i;
        const Plan p =
            plan({32 * gib, MemoryKind::pinned, 16, WARPSEAL_CTR, Direction::encrypt}, facts);
        EXPECT_EQ(p.target, Target::cuda);
        EXPECT_EQ(p.core_bytes, 0u);
        EXPECT_EQ(sum_of(p), 32 * gib);
        for (unsigned i = 0; i < gpus; ++i)
            EXPECT_NEAR(static_cast<double>(p.gpu_bytes[i]) / (32.0 * gib / gpus), 1, 0.01)
                << i << " of " << gpus;
    }
}

TEST(Plan, AGpuThatIsNotOpenComesInWhereTheCallIsLongEnough) {
    MachineFacts facts = machine({Target::cuda}, 16);
    facts.gpu_count = 2;
    facts.gpus[1] = {false, {45, 45}};
    facts.gpus[0].speed = {45, 45};
    facts.gpu_numbers[1] = 1;
    const auto bytes_of_second = [&](uint64_t bytes) {
        return plan({bytes, MemoryKind::pinned, 16, WARPSEAL_CTR, Direction::encrypt}, facts)
            .gpu_bytes[1];
    };
    EXPECT_EQ(bytes_of_second(gib), 0u);
    EXPECT_GT(bytes_of_second(100 * gib), 30 * gib);
}

TEST(Plan, OneGpuIsTheFastestOfThoseThatAreOpen) {
    for (const unsigned fast : {0u, 1u}) {
        MachineFacts facts = machine({Target::vaes512, Target::cuda}, 16);
        facts.cores = {1, 1};
        facts.gpu_count = 2;
        facts.gpu_numbers[1] = 1;
        facts.gpus[fast] = {true, {45, 45}};
        facts.gpus[1 - fast] = {true, {20, 20}};
        CallFacts call{4 * mib, MemoryKind::pinned, 16, WARPSEAL_CTR,
                       Direction::encrypt};  // too little to share
        EXPECT_EQ(plan(call, facts).gpu_bytes[fast], call.bytes);
        facts.gpus[fast].open = false;
        EXPECT_EQ(plan(call, facts).gpu_bytes[1 - fast], call.bytes);
    }
}

// Segments go whole to one side: the faster one gets them all.
TEST(Plan, WholeSegmentsRunOnTheCoresOrTheGpus) {
    MachineFacts facts = machine({Target::vaes512, Target::cuda}, 16);
    facts.gpu_count = 2;
    facts.gpu_numbers[1] = 1;
    for (GpuFacts& gpu : facts.gpus) gpu = {true, {20, 20}};
    CallFacts call{gib, MemoryKind::host, 16, WARPSEAL_GCM, Direction::encrypt};
    call.mixed = false;
    for (const double cores : {10.0, 30.0, 50.0}) {
        facts.cores = {cores, cores};
        const Plan p = plan(call, facts);
        EXPECT_EQ(p.core_bytes, cores > 40 ? gib : 0) << cores;
        EXPECT_EQ(sum_of(p), gib);
    }
}

TEST(Plan, ExcludedGpusKeepTheirNumbers) {
    MachineFacts facts = machine({Target::cuda}, 16);
    facts.gpu_numbers[0] = 5;
    const Plan p = plan({gib, MemoryKind::host, 16, WARPSEAL_CTR, Direction::encrypt}, facts);
    EXPECT_EQ(p.gpu_bytes[5], gib);
    EXPECT_EQ(p.first_gpu(), 5u);
}

TEST(Plan, ShardsSumToTheCallForAnyThroughput) {
    const double rates[] = {0.001, 0.3, 7, 45, 900};
    for (const double cores : rates)
        for (const double first : rates)
            for (const double second : rates)
                for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, least_shared_bytes,
                                             least_shared_bytes + 17, gib + 1, 500 * gib}) {
                    MachineFacts facts = machine({Target::aesni, Target::cuda}, 4);
                    facts.cores = {cores, cores};
                    facts.gpu_count = 2;
                    facts.gpus[0].speed = {first, first};
                    facts.gpus[1] = {true, {second, second}};
                    facts.gpu_numbers[1] = 1;
                    const Plan p = plan(
                        {bytes, MemoryKind::host, 16, WARPSEAL_ECB, Direction::decrypt}, facts);
                    ASSERT_EQ(sum_of(p), bytes);
                    ASSERT_EQ(p.target == Target::cuda, p.core_bytes != bytes);
                    const Plan again = plan(
                        {bytes, MemoryKind::host, 16, WARPSEAL_ECB, Direction::decrypt}, facts);
                    ASSERT_EQ(p.core_bytes, again.core_bytes);
                    ASSERT_EQ(p.gpu_bytes[0], again.gpu_bytes[0]);
                }
}

TEST(Plan, OneSerialMessageIsNeverSplit) {
    MachineFacts facts = machine({Target::cuda}, 16);
    facts.gpu_count = 2;
    facts.gpus[1].open = true;
    facts.gpu_numbers[1] = 1;
    CallFacts call{
        gib, MemoryKind::host, 16, WARPSEAL_OFB, Direction::encrypt, Representation::byte_sliced,
        1};
    call.divisible = false;
    const Plan p = plan(call, facts);
    EXPECT_EQ(p.gpu_bytes[0], gib);
}

TEST(Plan, WithoutAesInstructionsBigInputsGoToTheGpu) {
    const auto no_aes = {Target::portable, Target::cuda};
    for (const MemoryKind memory_kind :
         {MemoryKind::host, MemoryKind::pinned, MemoryKind::pinned_in_place}) {
        EXPECT_EQ(plan({gib, memory_kind, 16, WARPSEAL_CTR, Direction::encrypt}, machine(no_aes, 2))
                      .target,
                  Target::cuda);
        EXPECT_EQ(
            plan({16 * kib, memory_kind, 16, WARPSEAL_CTR, Direction::encrypt}, machine(no_aes, 2))
                .target,
            Target::portable);
    }
}

TEST(Plan, CiphersWithoutInstructionsGoToTheGpuWhereFewCoresAreSlower) {
    const auto call = [](Representation representation) {
        return CallFacts{gib,          MemoryKind::host,   16,
                         WARPSEAL_CTR, Direction::encrypt, representation};
    };
    for (const Representation representation :
         {Representation::byte_sliced, Representation::word_sliced, Representation::bitsliced})
        EXPECT_EQ(
            plan(call(representation), machine({Target::portable, Target::aesni, Target::cuda}, 2))
                .target,
            Target::cuda);
    EXPECT_EQ(plan(call(Representation::byte_sliced), machine({Target::vaes512, Target::cuda}, 16))
                  .target,
              Target::vaes512);
    EXPECT_EQ(
        plan(call(Representation::bitsliced), machine({Target::vaes512, Target::cuda}, 2)).target,
        Target::cuda);
}

TEST(Plan, OpeningTheGpuCountsUntilItIsOpen) {
    MachineFacts facts = machine({Target::portable, Target::cuda}, 2);
    const CallFacts call{32 * mib, MemoryKind::pinned, 16, WARPSEAL_CTR, Direction::encrypt};
    EXPECT_EQ(plan(call, facts).target, Target::cuda);
    facts.gpus[0].open = false;
    EXPECT_EQ(plan(call, facts).target, Target::portable);
}

TEST(Plan, ManyPortableCoresBeatASlowLink) {
    MachineFacts facts = machine({Target::portable, Target::cuda}, 128);
    facts.gpus[0].speed = {2, 2};
    EXPECT_EQ(plan({gib, MemoryKind::pinned, 16, WARPSEAL_CTR, Direction::encrypt}, facts).target,
              Target::portable);
}

TEST(Plan, AGpuAloneTakesEverything) {
    for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, gib}) {
        const Plan p = plan({bytes, MemoryKind::host, 16, WARPSEAL_GCM, Direction::decrypt},
                            machine({Target::cuda}));
        EXPECT_EQ(p.target, Target::cuda);
        EXPECT_EQ(p.threads, 1u);
        EXPECT_EQ(p.chunk_bytes, bytes);
    }
}

TEST(Targets, MasksAreCommaSeparatedNames) {
    TargetSet allowed;
    EXPECT_EQ(unmasked_targets(nullptr, allowed), WARPSEAL_OK);
    EXPECT_EQ(allowed, set({Target::portable, Target::aesni, Target::avx2, Target::vaes256,
                            Target::vaes512, Target::cuda}));
    EXPECT_EQ(unmasked_targets("", allowed), WARPSEAL_OK);
    EXPECT_TRUE(allowed[static_cast<size_t>(Target::cuda)]);
    EXPECT_EQ(unmasked_targets("aesni,cuda", allowed), WARPSEAL_OK);
    EXPECT_EQ(allowed, set({Target::aesni, Target::cuda}));
    EXPECT_EQ(unmasked_targets("portable", allowed), WARPSEAL_OK);
    EXPECT_EQ(allowed, set({Target::portable}));
    for (const char* bad :
         {"aes", "aesni,", ",", "aesni,,cuda", " aesni", "AESNI", "all", "aesni;cuda"})
        EXPECT_EQ(unmasked_targets(bad, allowed), WARPSEAL_INVALID_ARGUMENT) << bad;
}

TEST(Targets, DeviceOption) {
    DeviceChoice choice;
    EXPECT_EQ(choose_device("auto", choice), WARPSEAL_OK);
    EXPECT_FALSE(choice.named);
    EXPECT_TRUE(choice.targets[5] && choice.targets[0]);
    EXPECT_EQ(choose_device("cpu", choice), WARPSEAL_OK);
    EXPECT_TRUE(choice.named && choice.targets[0] && choice.targets[4] && !choice.targets[5]);
    EXPECT_TRUE(choice.cuda_devices.empty());
    const std::pair<const char*, std::vector<int>> lists[] = {
        {"cuda", {0}}, {"cuda:12", {12}}, {"cuda:0,1", {0, 1}}, {"cuda:3,0,7", {3, 0, 7}}};
    for (const auto& [text, devices] : lists) {
        EXPECT_EQ(choose_device(text, choice), WARPSEAL_OK) << text;
        EXPECT_EQ(choice.cuda_devices, devices) << text;
    }
    EXPECT_EQ(choose_device("auto", choice), WARPSEAL_OK);
    EXPECT_TRUE(choice.cuda_devices.empty()) << "all available";
    EXPECT_EQ(choose_device("cuda:12", choice), WARPSEAL_OK);
    EXPECT_EQ(choice.targets, set({Target::cuda}));
    for (const Target target : all_cores) {
        EXPECT_EQ(choose_device(target_name(target), choice), WARPSEAL_OK);
        EXPECT_EQ(choice.targets, set({target}));
    }
    for (const char* bad : {"", "gpu", "cuda:", "cuda:-1", "cuda:1x", "cuda:99999999999", "CPU",
                            "auto ", "cuda:0,", "cuda:,1", "cuda:0,0", "cuda:1,0,1", "cuda:0 1",
                            "cuda:0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16"})
        EXPECT_EQ(choose_device(bad, choice), WARPSEAL_INVALID_ARGUMENT) << bad;
}

}  // namespace
