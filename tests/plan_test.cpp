// The plan is a pure function: size, place, cipher, mode and machine in, target and pieces out.
#include "engine/plan.h"

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

MachineFacts machine(std::initializer_list<Target> targets, unsigned threads = 16) { return {threads, set(targets), true, 25}; }

const auto all_cores = {Target::portable, Target::aesni, Target::avx2, Target::vaes256, Target::vaes512};
const auto all_forms = {Form::instructions, Form::bytes, Form::words, Form::planes};

TEST(Plan, TheSmallestInputsStayWithTheCaller) {
    for (const warpseal_mode mode : {WARPSEAL_ECB, WARPSEAL_CTR, WARPSEAL_GCM})
        for (const uint64_t bytes : {0, 1, 16, 4096, 16384}) {
            const Plan p = plan({bytes, Place::host, 16, mode, Direction::encrypt}, machine(all_cores));
            EXPECT_EQ(p.threads, 1u) << bytes;
            EXPECT_EQ(p.target, Target::vaes512);
            EXPECT_EQ(p.piece_bytes, bytes);
        }
}

TEST(Plan, BigInputsUseEveryThreadInWholePieces) {
    for (const Target target : all_cores)
        for (const unsigned threads : {2u, 3u, 16u, 200u}) {
            const Plan p = plan({gib, Place::host, 16, WARPSEAL_CTR, Direction::encrypt}, machine({target}, threads));
            EXPECT_EQ(p.target, target);
            EXPECT_EQ(p.threads, threads);
            EXPECT_EQ(p.piece_bytes % (16 * kib), 0u);
            EXPECT_GE(gib / p.piece_bytes, threads * uint64_t{2}) << "so that a slow core holds nobody up";
            EXPECT_LE(p.piece_bytes, 4 * mib);
        }
}

TEST(Plan, ThreadsNeverOutnumberPieces) {
    for (uint64_t bytes = 1; bytes < 64 * mib; bytes = bytes * 3 / 2 + 1)
        for (const Target target : all_cores)
            for (const Form form : all_forms)
                for (const warpseal_mode mode : {WARPSEAL_ECB, WARPSEAL_CTR, WARPSEAL_GCM, WARPSEAL_CBC, WARPSEAL_XTS}) {
                    const Plan p = plan({bytes, Place::host, 16, mode, Direction::decrypt, form}, machine({target}, 64));
                    ASSERT_GE(p.threads, 1u);
                    ASSERT_LE(p.threads, 64u);
                    if (p.threads > 1) {
                        ASSERT_GE((bytes + p.piece_bytes - 1) / p.piece_bytes, p.threads) << bytes;
                        ASSERT_EQ(p.piece_bytes % 4096, 0u);
                    }
                }
}

// What is slower on a core is worth a thread sooner.
TEST(Plan, SlowFormsAreSharedOutEarlier) {
    for (const Target target : all_cores) {
        uint64_t least[2] = {};
        for (const Form form : {Form::instructions, Form::planes}) {
            uint64_t& bytes = least[form == Form::planes ? 1 : 0];
            for (bytes = kib; plan({bytes, Place::host, 8, WARPSEAL_ECB, Direction::encrypt, form}, machine({target})).threads == 1;
                 bytes *= 2) {
            }
        }
        EXPECT_LE(least[1], least[0]) << target_name(target);
        EXPECT_LE(least[1], 64 * kib);
    }
}

TEST(Plan, OneChainOfBlocksHasOneThread) {
    for (const Target target : all_cores)
        for (const bool gpu : {false, true}) {
            MachineFacts facts = machine({target});
            facts.usable[static_cast<size_t>(Target::cuda)] = gpu;
            const Plan p = plan({gib, Place::host, 16, WARPSEAL_OFB, Direction::encrypt, Form::bytes, 1}, facts);
            EXPECT_EQ(p.threads, 1u);
            EXPECT_EQ(p.target, target) << "a lane of a GPU is slower than a core";
            EXPECT_EQ(p.piece_bytes, gib);
        }
    EXPECT_EQ(plan({gib, Place::host, 16, WARPSEAL_OFB, Direction::encrypt, Form::bytes, 1}, machine({Target::cuda})).target, Target::cuda);
}

TEST(Plan, FewChainsHaveAThreadEachAndStayOnTheCores) {
    const auto call = [](uint64_t chains) {
        return CallFacts{gib, Place::host, 16, WARPSEAL_CBC, Direction::encrypt, Form::planes, chains};
    };
    const MachineFacts facts = machine({Target::portable, Target::aesni, Target::cuda}, 16);
    EXPECT_EQ(plan(call(3), facts).threads, 3u);
    EXPECT_EQ(plan(call(3), facts).target, Target::aesni);
    EXPECT_EQ(plan(call(1000), facts).threads, 16u);
    EXPECT_EQ(plan(call(1000000), facts).target, Target::cuda);
}

TEST(Plan, FormsByName) {
    const std::pair<const char*, Form> forms[] = {
        {"instructions", Form::instructions}, {"bytes", Form::bytes}, {"words", Form::words}, {"planes", Form::planes}};
    for (const auto& [name, form] : forms) {
        CpuCipher cipher = {};
        cipher.form = name;
        EXPECT_EQ(form_of(cipher), form) << name;
    }
}

TEST(Plan, OneThreadIsTheCallerWhateverTheSize) {
    const Plan p = plan({64 * gib, Place::file, 16, WARPSEAL_GCM, Direction::encrypt}, machine(all_cores, 1));
    EXPECT_EQ(p.threads, 1u);
    EXPECT_EQ(p.piece_bytes, 64 * gib);
}

TEST(Plan, TheBestUsableCoreTargetIsTaken) {
    const CallFacts call{mib, Place::host, 16, WARPSEAL_CTR, Direction::encrypt};
    EXPECT_EQ(plan(call, machine({Target::portable, Target::aesni})).target, Target::aesni);
    EXPECT_EQ(plan(call, machine({Target::portable, Target::aesni, Target::avx2})).target, Target::avx2);
    EXPECT_EQ(plan(call, machine({Target::portable, Target::aesni, Target::avx2, Target::vaes256})).target, Target::vaes256);
    EXPECT_EQ(plan(call, machine({Target::portable})).target, Target::portable);
}

TEST(Plan, AesInHostMemoryStaysOnCoresWithAesInstructions) {
    for (const Target target : {Target::aesni, Target::avx2, Target::vaes256, Target::vaes512})
        for (const Place place : {Place::host, Place::pinned, Place::file})
            for (const unsigned threads : {1u, 2u, 16u})
                for (const uint64_t bytes : {kib, mib, gib, 64 * gib}) {
                    const Plan p = plan({bytes, place, 16, WARPSEAL_GCM, Direction::encrypt},
                                        machine({Target::portable, target, Target::cuda}, threads));
                    ASSERT_EQ(p.target, target);
                }
}

TEST(Plan, WithoutAesInstructionsBigInputsGoToTheGpu) {
    const auto no_aes = {Target::portable, Target::cuda};
    for (const Place place : {Place::host, Place::pinned, Place::file}) {
        EXPECT_EQ(plan({gib, place, 16, WARPSEAL_CTR, Direction::encrypt}, machine(no_aes, 2)).target, Target::cuda);
        EXPECT_EQ(plan({64 * kib, place, 16, WARPSEAL_CTR, Direction::encrypt}, machine(no_aes, 2)).target, Target::portable);
    }
}

TEST(Plan, CiphersWithoutInstructionsGoToTheGpuWhereFewCoresAreSlower) {
    const auto call = [](Form form) { return CallFacts{gib, Place::host, 16, WARPSEAL_CTR, Direction::encrypt, form}; };
    for (const Form form : {Form::bytes, Form::words, Form::planes})
        EXPECT_EQ(plan(call(form), machine({Target::portable, Target::aesni, Target::cuda}, 2)).target, Target::cuda);
    EXPECT_EQ(plan(call(Form::bytes), machine({Target::vaes512, Target::cuda}, 16)).target, Target::vaes512);
    EXPECT_EQ(plan(call(Form::planes), machine({Target::vaes512, Target::cuda}, 2)).target, Target::cuda);
}

TEST(Plan, OpeningTheGpuCountsUntilItIsOpen) {
    MachineFacts facts = machine({Target::portable, Target::cuda}, 2);
    const CallFacts call{32 * mib, Place::pinned, 16, WARPSEAL_CTR, Direction::encrypt};
    EXPECT_EQ(plan(call, facts).target, Target::cuda);
    facts.cuda_open = false;
    EXPECT_EQ(plan(call, facts).target, Target::portable);
}

TEST(Plan, ManyPortableCoresBeatASlowLink) {
    MachineFacts facts = machine({Target::portable, Target::cuda}, 128);
    facts.link_gigabytes = 2;
    EXPECT_EQ(plan({gib, Place::pinned, 16, WARPSEAL_CTR, Direction::encrypt}, facts).target, Target::portable);
}

TEST(Plan, DeviceMemoryIsTheGpus) {
    const Plan p = plan({1, Place::device, 16, WARPSEAL_CTR, Direction::encrypt}, machine({Target::vaes512, Target::cuda}));
    EXPECT_EQ(p.target, Target::cuda);
}

TEST(Plan, WhereTheGpuIsAllThereIsItTakesEverything) {
    for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, gib}) {
        const Plan p = plan({bytes, Place::host, 16, WARPSEAL_GCM, Direction::decrypt}, machine({Target::cuda}));
        EXPECT_EQ(p.target, Target::cuda);
        EXPECT_EQ(p.threads, 1u);
        EXPECT_EQ(p.piece_bytes, bytes);
    }
}

TEST(Targets, MasksAreNamesBetweenCommas) {
    TargetSet allowed;
    EXPECT_EQ(unmasked_targets(nullptr, allowed), WARPSEAL_OK);
    EXPECT_EQ(allowed, set({Target::portable, Target::aesni, Target::avx2, Target::vaes256, Target::vaes512, Target::cuda}));
    EXPECT_EQ(unmasked_targets("", allowed), WARPSEAL_OK);
    EXPECT_TRUE(allowed[static_cast<size_t>(Target::cuda)]);
    EXPECT_EQ(unmasked_targets("aesni,cuda", allowed), WARPSEAL_OK);
    EXPECT_EQ(allowed, set({Target::aesni, Target::cuda}));
    EXPECT_EQ(unmasked_targets("portable", allowed), WARPSEAL_OK);
    EXPECT_EQ(allowed, set({Target::portable}));
    for (const char* bad : {"aes", "aesni,", ",", "aesni,,cuda", " aesni", "AESNI", "all", "aesni;cuda"})
        EXPECT_EQ(unmasked_targets(bad, allowed), WARPSEAL_INVALID_ARGUMENT) << bad;
}

TEST(Targets, DeviceOption) {
    DeviceChoice choice;
    EXPECT_EQ(choose_device("auto", choice), WARPSEAL_OK);
    EXPECT_FALSE(choice.named);
    EXPECT_TRUE(choice.targets[5] && choice.targets[0]);
    EXPECT_EQ(choose_device("cpu", choice), WARPSEAL_OK);
    EXPECT_TRUE(choice.named && choice.targets[0] && choice.targets[4] && !choice.targets[5]);
    EXPECT_EQ(choose_device("cuda:12", choice), WARPSEAL_OK);
    EXPECT_EQ(choice.cuda_device, 12);
    EXPECT_EQ(choice.targets, set({Target::cuda}));
    for (const Target target : all_cores) {
        EXPECT_EQ(choose_device(target_name(target), choice), WARPSEAL_OK);
        EXPECT_EQ(choice.targets, set({target}));
    }
    for (const char* bad : {"", "gpu", "cuda:", "cuda:-1", "cuda:1x", "cuda:99999999999", "CPU", "auto ", "cuda:0,1"})
        EXPECT_EQ(choose_device(bad, choice), WARPSEAL_INVALID_ARGUMENT) << bad;
}

}  // namespace
