// The engine on this machine's cores: options and masks, splits that do not change outputs, limits,
// keys, and many threads on one engine.
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "engine/engine_impl.h"
#include "engine/engines.h"
#include "engine/fake_cores.h"
#include "support/fake_backend.h"

namespace {

using namespace warpseal;
using tests::create;
using tests::key_of;
using tests::Text;

struct Mask {
    explicit Mask(const char* names) { setenv("WARPSEAL_TARGETS", names, 1); }
    ~Mask() { unsetenv("WARPSEAL_TARGETS"); }
};

// ---- creation

TEST(Engine, RefusesUnknownDevicesAndTargets) {
    std::unique_ptr<Engine> engine;
    EXPECT_EQ(create("gpu", engine), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(create("cuda", engine), WARPSEAL_NO_DEVICE);
    EXPECT_FALSE(engine);
    const Mask mask("vaes1024");
    EXPECT_EQ(create("auto", engine), WARPSEAL_INVALID_ARGUMENT);
}

TEST(Engine, MasksApplyToNamedTargetsToo) {
    std::unique_ptr<Engine> engine;
    const Mask mask("portable");
    EXPECT_EQ(create("auto", engine), WARPSEAL_OK);
    EXPECT_STREQ(engine->pick("aes-256", WARPSEAL_CTR, 1 << 20), "portable");
    EXPECT_EQ(create("cpu", engine), WARPSEAL_OK);
    EXPECT_STREQ(engine->pick("aes-256", WARPSEAL_CTR, 1 << 20), "portable");
    EXPECT_EQ(create("portable", engine), WARPSEAL_OK);
    for (const char* masked : {"aesni", "avx2", "vaes256", "vaes512"})
        EXPECT_EQ(create(masked, engine), WARPSEAL_NO_DEVICE) << masked;
    EXPECT_EQ(create("cuda", engine, 1, tests::fake_backend()), WARPSEAL_NO_DEVICE);
    EXPECT_EQ(tests::script().steps, 0u);
}

TEST(Engine, AMaskOfTheGpuAloneRunsEverythingThere) {
    std::unique_ptr<Engine> engine;
    const Mask mask("cuda");
    EXPECT_EQ(create("auto", engine), WARPSEAL_NO_DEVICE);
    EXPECT_EQ(create("cpu", engine), WARPSEAL_NO_DEVICE);
    ASSERT_EQ(create("auto", engine, 1, tests::fake_backend()), WARPSEAL_OK);
    EXPECT_STREQ(engine->pick("aes-256", WARPSEAL_GCM, 16), "cuda");
}

TEST(Engine, ATargetThatTheMachineLacksIsNoDevice) {
    for (const Target target : cpu_targets_best_first) {
        EngineOptions options;
        options.device = target_name(target);
        options.cores_have = tests::portable_alone;
        std::unique_ptr<Engine> engine;
        EXPECT_EQ(Engine::create(options, engine),
                  target == Target::portable ? WARPSEAL_OK : WARPSEAL_NO_DEVICE);
    }
}

TEST(Engine, ThreadsAreTheOption) {
    std::unique_ptr<Engine> engine;
    ASSERT_EQ(create("cpu", engine, 3), WARPSEAL_OK);
    EXPECT_EQ(engine->threads(), 3u);
    ASSERT_EQ(create("cpu", engine, 0), WARPSEAL_OK);
    EXPECT_GE(engine->threads(), 1u);
    ASSERT_EQ(create("cpu", engine, most_threads), WARPSEAL_OK);
    std::atomic<int> shards{0};
    engine->parallel(8, [&](size_t) { ++shards; });
    EXPECT_EQ(shards, 8) << "no memory is allocated for unused threads";
    EXPECT_EQ(create("cpu", engine, most_threads + 1), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(create("cpu", engine, UINT32_MAX), WARPSEAL_INVALID_ARGUMENT);
}

TEST(Engine, PickOfAnUnknownCipherOrMode) {
    std::unique_ptr<Engine> engine;
    ASSERT_EQ(create("cpu", engine), WARPSEAL_OK);
    EXPECT_STREQ(engine->pick("rot-13", WARPSEAL_CTR, 16), "");
    EXPECT_STREQ(engine->pick("aes-256", WARPSEAL_MODE_COUNT, 16), "");
}

// ---- keys

TEST(Keys, LengthsAndNames) {
    std::unique_ptr<Engine> engine;
    ASSERT_EQ(create("cpu", engine), WARPSEAL_OK);
    const Text secret(64);
    std::unique_ptr<Key> key;
    for (size_t bytes = 0; bytes <= secret.size(); ++bytes) {
        EXPECT_EQ(engine->key("aes-128", {secret.data(), bytes}, key),
                  bytes == 16 ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT);
        EXPECT_EQ(engine->key("aes-192", {secret.data(), bytes}, key),
                  bytes == 24 ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT);
        EXPECT_EQ(engine->key("aes-256", {secret.data(), bytes}, key),
                  bytes == 32 ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT);
    }
    EXPECT_EQ(engine->key("aes-512", {secret.data(), 64}, key), WARPSEAL_UNSUPPORTED);
    EXPECT_EQ(engine->key("", {secret.data(), 0}, key), WARPSEAL_UNSUPPORTED);
}

// ---- splits

// The same message on one thread and on several, in place and not: every length around a shard's
// end.
TEST(Split, DoesNotChangeTheOutput) {
    for (const Target target : cpu_targets_best_first) {
        if (!cpu_has(target)) continue;
        std::unique_ptr<Engine> one, many;
        ASSERT_EQ(create(target_name(target), one, 1), WARPSEAL_OK);
        ASSERT_EQ(create(target_name(target), many, 5), WARPSEAL_OK);
        const auto key_one = key_of(*one), key_many = key_of(*many);
        const size_t base = target == Target::portable ? 200000 : 3000000;
        for (const size_t bytes : {base, base / 65536 * 65536, base / 65536 * 65536 + 1,
                                   base / 65536 * 65536 + 15, base + 4097}) {
            const Text in = tests::pattern(bytes, 5), iv = tests::pattern(16, 6),
                       aad = tests::pattern(100, 7);
            MachineFacts machine;
            machine.threads = 5;
            machine.usable[static_cast<size_t>(target)] = true;
            const Plan plan_many =
                plan({bytes, MemoryKind::host, 16, WARPSEAL_CTR, Direction::encrypt}, machine);
            ASSERT_GT(plan_many.threads, 1u) << "otherwise the test is blind";
            for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
                Text alone(bytes), split(bytes), in_place(in);
                ASSERT_EQ(one->message(*key_one, WARPSEAL_CTR, direction, {iv.data(), 16},
                                       in.data(), alone.data(), bytes),
                          WARPSEAL_OK);
                ASSERT_EQ(many->message(*key_many, WARPSEAL_CTR, direction, {iv.data(), 16},
                                        in.data(), split.data(), bytes),
                          WARPSEAL_OK);
                ASSERT_EQ(many->message(*key_many, WARPSEAL_CTR, direction, {iv.data(), 16},
                                        in_place.data(), in_place.data(), bytes),
                          WARPSEAL_OK);
                EXPECT_TRUE(split == alone && in_place == alone)
                    << target_name(target) << " ctr " << bytes;
                const size_t whole = bytes / 16 * 16;
                alone.resize(whole), split.resize(whole),
                    in_place.assign(in.begin(), in.begin() + static_cast<ptrdiff_t>(whole));
                ASSERT_EQ(one->message(*key_one, WARPSEAL_ECB, direction, {}, in.data(),
                                       alone.data(), whole),
                          WARPSEAL_OK);
                ASSERT_EQ(many->message(*key_many, WARPSEAL_ECB, direction, {}, in.data(),
                                        split.data(), whole),
                          WARPSEAL_OK);
                ASSERT_EQ(many->message(*key_many, WARPSEAL_ECB, direction, {}, in_place.data(),
                                        in_place.data(), whole),
                          WARPSEAL_OK);
                EXPECT_TRUE(split == alone && in_place == alone)
                    << target_name(target) << " ecb " << whole;
            }
            Text alone(bytes), split(bytes);
            uint8_t tag_one[16], tag_many[16];
            ASSERT_EQ(one->seal(*key_one, WARPSEAL_GCM, {iv.data(), 12}, {aad.data(), 100},
                                in.data(), alone.data(), bytes, tag_one, 16),
                      WARPSEAL_OK);
            ASSERT_EQ(many->seal(*key_many, WARPSEAL_GCM, {iv.data(), 12}, {aad.data(), 100},
                                 in.data(), split.data(), bytes, tag_many, 16),
                      WARPSEAL_OK);
            EXPECT_TRUE(split == alone && std::memcmp(tag_one, tag_many, 16) == 0)
                << target_name(target) << " gcm " << bytes;
            ASSERT_EQ(many->open(*key_many, WARPSEAL_GCM, {iv.data(), 12}, {aad.data(), 100},
                                 split.data(), split.data(), bytes, tag_one, 16),
                      WARPSEAL_OK);
            EXPECT_TRUE(split == in);
        }
    }
}

TEST(Split, BatchesOnOneOrManyThreadsAreEqual) {
    std::unique_ptr<Engine> engine;
    ASSERT_EQ(create("cpu", engine, 5), WARPSEAL_OK);
    const auto key = key_of(*engine);
    constexpr uint64_t count = 3001, bytes = 1500;
    const Text in = tests::pattern(count * bytes, 8), ivs = tests::pattern(count * 12, 9);
    Text out[2], tags[2];
    std::vector<int32_t> statuses[2];
    for (const int caller_only : {0, 1}) {
        out[caller_only].resize(in.size()), tags[caller_only].resize(count * 16),
            statuses[caller_only].assign(count, 77);
        warpseal_batch batch = {};
        batch.struct_bytes = sizeof batch;
        batch.iv_bytes = 12, batch.tag_bytes = 16, batch.message_count = count,
        batch.message_bytes = bytes;
        batch.ivs = ivs.data(), batch.iv_stride = 12, batch.in = in.data(),
        batch.in_stride = batch.out_stride = bytes;
        batch.out = out[caller_only].data(), batch.tags = tags[caller_only].data(),
        batch.tag_stride = 16, batch.statuses = statuses[caller_only].data();
        const char* target = "";
        ASSERT_EQ(
            engine->batch(*key, WARPSEAL_GCM, Direction::encrypt, batch,
                          caller_only ? Engine::Threads::caller : Engine::Threads::all, &target),
            WARPSEAL_OK);
        EXPECT_STREQ(target, engine->pick("aes-256", WARPSEAL_GCM, in.size()));
        // Forges every hundredth message: those and no others are refused and zeroized.
        for (uint64_t i = 0; i < count; i += 100) tags[caller_only][i * 16 + 3] ^= 4;
        batch.in = out[caller_only].data();
        EXPECT_EQ(engine->batch(*key, WARPSEAL_GCM, Direction::decrypt, batch,
                                caller_only ? Engine::Threads::caller : Engine::Threads::all),
                  WARPSEAL_NOT_AUTHENTIC);
        for (uint64_t i = 0; i < count; ++i) {
            ASSERT_EQ(statuses[caller_only][i],
                      i % 100 == 0 ? WARPSEAL_NOT_AUTHENTIC : WARPSEAL_OK);
            const Text wiped(bytes);
            ASSERT_EQ(std::memcmp(&out[caller_only][i * bytes],
                                  i % 100 == 0 ? wiped.data() : &in[i * bytes], bytes),
                      0)
                << i;
        }
    }
    EXPECT_EQ(tags[0], tags[1]);
}

// ---- limits; the pointers are never dereferenced

TEST(Limits, OfTheStandard) {
    std::unique_ptr<Engine> engine;
    ASSERT_EQ(create("cpu", engine), WARPSEAL_OK);
    const auto key = key_of(*engine);
    uint8_t block[32] = {}, iv[32] = {}, tag[16];
    const auto seal = [&](size_t iv_bytes, size_t aad_bytes, size_t bytes, size_t tag_bytes) {
        return engine->seal(*key, WARPSEAL_GCM, {iv, iv_bytes}, {iv, aad_bytes}, block, block,
                            bytes, tag, tag_bytes);
    };
    EXPECT_EQ(seal(12, 0, (size_t{1} << 36) - 31, 16), WARPSEAL_LIMIT_EXCEEDED);
    EXPECT_EQ(seal(12, size_t{1} << 61, 16, 16), WARPSEAL_LIMIT_EXCEEDED);
    EXPECT_EQ(seal(size_t{1} << 61, 0, 16, 16), WARPSEAL_LIMIT_EXCEEDED);
    EXPECT_EQ(seal(0, 0, 16, 16), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(seal(12, 0, 16, 0), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(seal(12, 0, 16, 17), WARPSEAL_INVALID_ARGUMENT);
    for (size_t tag_bytes = 1; tag_bytes <= 16; ++tag_bytes)
        EXPECT_EQ(seal(12, 0, 16, tag_bytes), WARPSEAL_OK);
    for (size_t bytes = 0; bytes <= 32; ++bytes)
        EXPECT_EQ(engine->message(*key, WARPSEAL_ECB, Direction::encrypt, {}, block, block, bytes),
                  bytes % 16 == 0 ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT);
    for (size_t iv_bytes = 0; iv_bytes <= 32; ++iv_bytes)
        EXPECT_EQ(engine->message(*key, WARPSEAL_CTR, Direction::encrypt, {block, iv_bytes}, block,
                                  block, 16),
                  iv_bytes == 16 ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(
        engine->message(*key, WARPSEAL_ECB, Direction::encrypt, {block, 16}, block, block, 16),
        WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(
        engine->message(*key, WARPSEAL_GCM, Direction::encrypt, {block, 12}, block, block, 16),
        WARPSEAL_INVALID_ARGUMENT);
}

// Lengths beyond a test's memory: the longest that the standard allows, and one more.
TEST(Limits, TheLongestMessagesOfGcmAndCcm) {
    const CpuCipher& cipher = *cpu_cipher(Target::portable, "aes-128");
    const uint64_t gcm = (uint64_t{1} << 36) - 32;
    EXPECT_EQ(check_text(WARPSEAL_GCM, cipher, 12, gcm), WARPSEAL_OK);
    EXPECT_EQ(check_text(WARPSEAL_GCM, cipher, 12, gcm + 1), WARPSEAL_LIMIT_EXCEEDED);
    for (const uint64_t iv_bytes : {8, 12, 13}) {
        const uint64_t ccm = uint64_t{1} << 8 * (15 - iv_bytes);
        EXPECT_EQ(check_text(WARPSEAL_CCM, cipher, iv_bytes, ccm - 1), WARPSEAL_OK);
        EXPECT_EQ(check_text(WARPSEAL_CCM, cipher, iv_bytes, ccm), WARPSEAL_LIMIT_EXCEEDED);
    }
}

TEST(Limits, BatchesThatReachOutsideAreRefused) {
    std::unique_ptr<Engine> engine;
    ASSERT_EQ(create("cpu", engine), WARPSEAL_OK);
    const auto key = key_of(*engine);
    uint8_t memory[256] = {};
    int32_t statuses[4];
    warpseal_batch good = {};
    good.struct_bytes = sizeof good;
    good.iv_bytes = 12, good.tag_bytes = 16, good.message_count = 2, good.message_bytes = 32;
    good.ivs = memory, good.iv_stride = 12, good.in = memory, good.in_stride = 32,
    good.out = memory, good.out_stride = 32;
    good.tags = memory + 128, good.tag_stride = 16, good.statuses = statuses;
    const auto outcome = [&](auto change, Direction direction = Direction::encrypt,
                             warpseal_mode mode = WARPSEAL_GCM) {
        warpseal_batch batch = good;
        change(batch);
        return engine->batch(*key, mode, direction, batch);
    };
    EXPECT_EQ(outcome([](auto&) {}), WARPSEAL_OK);
    EXPECT_EQ(outcome([](auto& b) { b.message_count = 0, b.in = nullptr, b.ivs = nullptr; }),
              WARPSEAL_OK);
    EXPECT_EQ(outcome([](auto& b) { b.ivs = nullptr; }), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(outcome([](auto& b) { b.iv_bytes = 0; }), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(outcome([](auto& b) { b.tags = nullptr; }), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(outcome([](auto& b) { b.tag_bytes = 17; }), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(outcome([](auto& b) { b.tag_stride = 15; }), WARPSEAL_INVALID_ARGUMENT)
        << "tags would overlap";
    EXPECT_EQ(outcome([](auto& b) { b.in = nullptr; }), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(outcome([](auto& b) { b.out = nullptr; }), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(outcome([](auto& b) { b.out_stride = 31; }), WARPSEAL_INVALID_ARGUMENT)
        << "outputs would overlap";
    EXPECT_EQ(outcome([](auto& b) { b.out += 64, b.out_stride = 31; }), WARPSEAL_INVALID_ARGUMENT)
        << "disjoint from the other inputs too";
    EXPECT_EQ(outcome([](auto& b) { b.out += 1; }), WARPSEAL_INVALID_ARGUMENT)
        << "out overlaps its in";
    EXPECT_EQ(outcome([](auto& b) { b.aad_bytes = 1; }), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(outcome([](auto& b) { b.reserved = 1; }), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(outcome([](auto& b) { b.in_stride = UINT64_MAX; }), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(outcome([](auto& b) {
                  b.message_bytes = (uint64_t{1} << 36) - 31,
                  b.out_stride = b.in_stride = b.message_bytes;
              }),
              WARPSEAL_LIMIT_EXCEEDED);
    EXPECT_EQ(outcome([](auto& b) { b.statuses = nullptr; }, Direction::decrypt),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(outcome([](auto&) {}, Direction::encrypt, WARPSEAL_ECB), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(outcome([](auto&) {}, Direction::encrypt, WARPSEAL_CTR), WARPSEAL_INVALID_ARGUMENT)
        << "CTR has no tags";
    const uint64_t far_lengths[2] = {uint64_t{1} << 36, 0},
                   huge_lengths[2] = {UINT64_MAX, UINT64_MAX},
                   huge_offsets[2] = {0, UINT64_MAX - 3};
    EXPECT_EQ(outcome([&](auto& b) { b.lengths = far_lengths; }), WARPSEAL_LIMIT_EXCEEDED);
    EXPECT_EQ(outcome([&](auto& b) { b.lengths = huge_lengths; }), WARPSEAL_LIMIT_EXCEEDED);
    EXPECT_EQ(outcome([&](auto& b) { b.in_offsets = huge_offsets; }), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(outcome([&](auto& b) { b.out_offsets = huge_offsets; }), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(outcome(
                  [&](auto& b) {
                      b.tags = nullptr, b.tag_bytes = 0, b.iv_bytes = 16, b.lengths = huge_lengths;
                  },
                  Direction::encrypt, WARPSEAL_CTR),
              WARPSEAL_INVALID_ARGUMENT);
}

// ---- opening

TEST(Open, ZeroizesUnverifiedText) {
    std::unique_ptr<Engine> engine;
    ASSERT_EQ(create("cpu", engine, 3), WARPSEAL_OK);
    const auto key = key_of(*engine);
    for (const size_t bytes : {size_t{1}, size_t{16}, size_t{1000}, size_t{3000000}}) {
        const Text in = tests::pattern(bytes, 10), iv = tests::pattern(12, 11);
        Text sealed(bytes), out(bytes, 0xa5);
        uint8_t tag[16];
        ASSERT_EQ(engine->seal(*key, WARPSEAL_GCM, {iv.data(), 12}, {}, in.data(), sealed.data(),
                               bytes, tag, 16),
                  WARPSEAL_OK);
        for (int bit = 0; bit<128; bit += bytes> 10000 ? 37 : 1) {
            tag[bit / 8] = static_cast<uint8_t>(tag[bit / 8] ^ 1 << bit % 8);
            ASSERT_EQ(engine->open(*key, WARPSEAL_GCM, {iv.data(), 12}, {}, sealed.data(),
                                   out.data(), bytes, tag, 16),
                      WARPSEAL_NOT_AUTHENTIC);
            ASSERT_TRUE(out == Text(bytes));
            tag[bit / 8] = static_cast<uint8_t>(tag[bit / 8] ^ 1 << bit % 8);
        }
        ASSERT_EQ(engine->open(*key, WARPSEAL_GCM, {iv.data(), 12}, {}, sealed.data(),
                               sealed.data(), bytes, tag, 16),
                  WARPSEAL_OK);
        EXPECT_TRUE(sealed == in);
        sealed[bytes - 1] ^= 1;
        ASSERT_EQ(engine->open(*key, WARPSEAL_GCM, {iv.data(), 12}, {}, sealed.data(),
                               sealed.data(), bytes, tag, 16),
                  WARPSEAL_NOT_AUTHENTIC);
        EXPECT_TRUE(sealed == Text(bytes)) << "in place too";
    }
}

// ---- many threads on one engine, including the first use

TEST(Threads, FirstUseFromManyAtOnce) {
    tests::mend_cores();  // no self-test has been run yet
    EngineOptions options;
    options.threads = 3;
    options.cuda = nullptr;
    options.cores = tests::machine_cipher;
    options.cores_have = tests::machine_has;
    std::unique_ptr<Engine> engine;
    ASSERT_EQ(Engine::create(options, engine), WARPSEAL_OK);
    const auto key = key_of(*engine);
    const Text in = tests::pattern(400000, 12), iv = tests::pattern(16, 13);
    Text expected(in.size());
    std::unique_ptr<Engine> plain;
    ASSERT_EQ(create("portable", plain), WARPSEAL_OK);
    ASSERT_EQ(plain->message(*key_of(*plain), WARPSEAL_CTR, Direction::encrypt, {iv.data(), 16},
                             in.data(), expected.data(), in.size()),
              WARPSEAL_OK);
    std::atomic<int> right{0};
    std::vector<std::thread> callers;
    for (int c = 0; c < 8; ++c)
        callers.emplace_back([&] {
            for (int round = 0; round < 5; ++round) {
                Text out(in.size());
                const warpseal_status status =
                    engine->message(*key, WARPSEAL_CTR, Direction::encrypt, {iv.data(), 16},
                                    in.data(), out.data(), in.size());
                right += status == WARPSEAL_OK && out == expected ? 1 : 0;
            }
        });
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(right, 40);
}

int threads_of_this_process() {
    FILE* status = fopen("/proc/self/status", "r");
    int threads = 0;
    for (char line[256]; status != nullptr && fgets(line, sizeof line, status) != nullptr;)
        (void)sscanf(line, "Threads: %d", &threads);
    if (status != nullptr) fclose(status);
    return threads;
}

TEST(Threads, SmallMessagesStartNone) {
    std::unique_ptr<Engine> engine;
    ASSERT_EQ(create("cpu", engine, 8), WARPSEAL_OK);
    const auto key = key_of(*engine);
    Text text(4096), iv(16);
    uint8_t tag[16];
    const int before = threads_of_this_process();
    ASSERT_GE(before, 1);
    for (int i = 0; i < 100; ++i)
        ASSERT_EQ(engine->seal(*key, WARPSEAL_GCM, {iv.data(), 12}, {}, text.data(), text.data(),
                               text.size(), tag, 16),
                  WARPSEAL_OK);
    EXPECT_EQ(threads_of_this_process(), before);
    Text big(8 << 20);
    ASSERT_EQ(engine->seal(*key, WARPSEAL_GCM, {iv.data(), 12}, {}, big.data(), big.data(),
                           big.size(), tag, 16),
              WARPSEAL_OK);
    EXPECT_GT(threads_of_this_process(), before);
}

}  // namespace
