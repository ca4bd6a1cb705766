// The fallback from a GPU to the cores. For every failing step, mode and direction, outputs equal
// those of the cores alone. After a loss the backend is not called again.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <string>
#include <thread>

#include "engine/fake_cores.h"
#include "engine/limits.h"
#include "engine/pattern.h"
#include "support/fake_backend.h"

namespace {

using namespace warpseal;
using tests::Text;

constexpr size_t message_bytes = 5 * 4096 + 100;

struct World {
    std::vector<std::string> notices;
    std::unique_ptr<Engine> engine;
    std::unique_ptr<Key> key, xts_key;
    warpseal_status created = WARPSEAL_OK;

    // backend null: a build without CUDA.
    World(const char* device, const GpuBackend* backend, bool (*cores_have)(Target) = cpu_has) {
        EngineOptions options;
        options.device = device;
        options.threads = 2;
        options.cuda = backend;
        options.cores_have = cores_have;
        options.notice = [this](const char* text) { notices.emplace_back(text); };
        created = Engine::create(options, engine);
        const Text secret = tests::pattern(64, 1);
        if (created == WARPSEAL_OK) created = engine->key("aes-256", {secret.data(), 32}, key);
        if (created == WARPSEAL_OK)
            created = engine->key("aes-256", {secret.data(), 64}, xts_key, KeyKind::xts);
    }
};

// One call and its whole result as text: outputs, tags, statuses, and the status of the
// call.
struct Work {
    warpseal_mode mode;
    Direction direction;
    bool batch;
    bool in_place;
};

Text result_of(World& world, const Work& work, const char** target = nullptr);

void append(Text& text, const void* bytes, size_t count) {
    text.insert(text.end(), static_cast<const uint8_t*>(bytes),
                static_cast<const uint8_t*>(bytes) + count);
}

// Opening needs sealed input, which comes from an engine without a GPU.
const Text& sealed(warpseal_mode mode, Text& tags, bool batch);

Text one_message(World& world, const Work& work) {
    const bool opening = work.direction == Direction::decrypt;
    const size_t bytes = work.mode == WARPSEAL_ECB || work.mode == WARPSEAL_CBC
                             ? message_bytes / 16 * 16
                             : message_bytes;
    Text tag(16), in = tests::pattern(bytes, 2);
    const Text iv = tests::pattern(16, 3), aad = tests::pattern(33, 4);
    if (tagged(work.mode) && opening) in = sealed(work.mode, tag, false);
    Text apart(bytes, 0xa5);
    uint8_t* out = work.in_place ? in.data() : apart.data();
    warpseal_status status;
    Engine& engine = *world.engine;
    if (aead(work.mode) && opening)
        status = engine.open(*world.key, work.mode, {iv.data(), 12}, {aad.data(), 33}, in.data(),
                             out, bytes, tag.data(), 16);
    else if (aead(work.mode))
        status = engine.seal(*world.key, work.mode, {iv.data(), 12}, {aad.data(), 33}, in.data(),
                             out, bytes, tag.data(), 16);
    else if (work.mode == WARPSEAL_CMAC)
        status =
            engine.mac(*world.key, work.mode, work.direction, {in.data(), bytes}, tag.data(), 16),
        apart = in;
    else if (work.mode == WARPSEAL_XTS)
        status =
            engine.xts(*world.xts_key, work.direction, {{0xfe, 0xff}, 700}, in.data(), out, bytes);
    else
        status = engine.message(*world.key, work.mode, work.direction,
                                {iv.data(), work.mode == WARPSEAL_ECB ? size_t{0} : 16}, in.data(),
                                out, bytes);
    Text all(out, out + bytes);
    append(all, tag.data(), 16);
    append(all, &status, sizeof status);
    return all;
}

Text one_batch(World& world, const Work& work, const char** target) {
    constexpr size_t count = 9, bytes = 704;
    const bool opening = work.direction == Direction::decrypt, tags_there = tagged(work.mode),
               mac = work.mode == WARPSEAL_CMAC;
    Text tags(16 * count), in = tests::pattern(bytes * count, 5);
    const Text ivs = tests::pattern(16 * count, 6), aad = tests::pattern(21, 7);
    if (tags_there && opening) {
        in = sealed(work.mode, tags, true);
        tags[16 * 2] ^= 1;  // forged: the third and the seventh
        in[6 * bytes + 5] ^= 1;
    }
    Text apart(in.size(), 0xa5);
    int32_t statuses[count];
    std::memset(statuses, 0x77, sizeof statuses);
    warpseal_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.iv_bytes = mac ? 0 : aead(work.mode) ? 12 : 16;
    batch.tag_bytes = tags_there ? 16 : 0;
    batch.message_count = count;
    batch.message_bytes = batch.in_stride = batch.out_stride = bytes;
    batch.ivs = ivs.data();
    batch.iv_stride = batch.iv_bytes;
    batch.aad = aad.data();
    batch.aad_bytes = aead(work.mode) ? 21 : 0;
    batch.in = in.data();
    batch.out = mac ? nullptr : work.in_place ? in.data() : apart.data();
    batch.tags = tags_there ? tags.data() : nullptr;
    batch.tag_stride = 16;
    batch.statuses = statuses;
    const warpseal_status status = world.engine->batch(*world.key, work.mode, work.direction, batch,
                                                       Engine::Threads::all, target);
    Text all = mac || work.in_place ? in : apart;
    append(all, tags.data(), tags.size());
    append(all, statuses, sizeof statuses);
    append(all, &status, sizeof status);
    return all;
}

Text result_of(World& world, const Work& work, const char** target) {
    return work.batch ? one_batch(world, work, target) : one_message(world, work);
}

const Text& sealed(warpseal_mode mode, Text& tags, bool batch) {
    static std::map<std::pair<warpseal_mode, bool>, std::pair<Text, Text>> known;  // texts and tags
    auto& [text, its_tags] = known[{mode, batch}];
    if (text.empty()) {
        World cores("cpu", nullptr);
        const Text all = result_of(cores, {mode, Direction::encrypt, batch, false});
        const auto bytes = static_cast<ptrdiff_t>(batch ? 9 * 704 : message_bytes);
        text.assign(all.begin(), all.begin() + bytes);
        its_tags.assign(all.begin() + bytes,
                        all.begin() + bytes + static_cast<ptrdiff_t>(tags.size()));
    }
    tags = its_tags;
    return text;
}

std::vector<Work> all_work() {
    std::vector<Work> all;
    for (int mode = 0; mode < WARPSEAL_MODE_COUNT; ++mode)
        for (const Direction direction : {Direction::encrypt, Direction::decrypt})
            for (const bool batch : {false, true})
                for (const bool in_place : {false, true}) {
                    if (batch && (mode == WARPSEAL_ECB || mode == WARPSEAL_XTS)) continue;
                    if (in_place && mode == WARPSEAL_CMAC) continue;
                    all.push_back({static_cast<warpseal_mode>(mode), direction, batch, in_place});
                }
    return all;
}

std::string text_of(const Work& work) {
    return std::string(warpseal_mode_name(work.mode)) +
           (work.direction == Direction::encrypt ? " encrypt" : " decrypt") +
           (work.batch ? " batch" : "") + (work.in_place ? " in place" : "");
}

class EachWork : public testing::TestWithParam<Work> {};

TEST_P(EachWork, TheGpuEqualsTheCores) {
    World cores("cpu", nullptr);
    World gpu("cuda", tests::fake_backend());
    ASSERT_EQ(gpu.created, WARPSEAL_OK);
    const char* target = "";
    const Text expected = result_of(cores, GetParam());
    EXPECT_EQ(result_of(gpu, GetParam(), &target), expected) << text_of(GetParam());
    EXPECT_GT(tests::script().host_calls, 0u);
    if (GetParam().batch) {
        EXPECT_STREQ(target, "cuda");
    }
    EXPECT_TRUE(gpu.notices.empty());
}

// Checks the state after a failed step in `gpu`'s work: the output, one notice, and no backend call
// if the GPU was lost.
void expect_recovered(World& gpu, const Work& work, const Text& expected, warpseal_status failure) {
    const bool lost = failure == WARPSEAL_NO_DEVICE && !tests::script().passing;
    ASSERT_EQ(tests::script().lost, lost);
    ASSERT_EQ(gpu.notices.size(), 1u) << "said once";
    // Once more: on the cores if it was lost, through the GPU if it only ran out of memory.
    const uint64_t calls = tests::script().host_calls;
    ASSERT_EQ(result_of(gpu, work), expected);
    ASSERT_EQ(tests::script().host_calls > calls, !lost);
    ASSERT_EQ(tests::script().calls_after_lost, 0u);
    ASSERT_EQ(gpu.notices.size(), 1u);
    if (!lost) return;
    ASSERT_EQ(gpu.engine->cuda_device(), -1);
    uint8_t block[16] = {};
    ASSERT_EQ(gpu.engine->sweep_device(*gpu.key, WARPSEAL_ECB, Direction::encrypt, {}, block, block,
                                       16, nullptr),
              WARPSEAL_NO_DEVICE);
    ASSERT_EQ(tests::script().calls_after_lost, 0u);
}

TEST_P(EachWork, EveryStepMayFail) {
    const Work& work = GetParam();
    World cores("cpu", nullptr);
    const Text expected = result_of(cores, work);
    const GpuBackend* backend = tests::fake_backend();
    World first("cuda", backend);
    result_of(first, work);  // with its self-test
    const uint64_t before = tests::script().steps;
    result_of(first, work);
    const uint64_t steps = tests::script().steps - before;
    ASSERT_GE(steps, work.batch                                                   ? 9u
                     : entry_of(work.mode, work.direction) == BackendEntry::batch ? 1u
                                                                                  : 5u);
    const std::pair<warpseal_status, bool> failures[] = {
        {WARPSEAL_NO_DEVICE, false}, {WARPSEAL_NO_DEVICE, true}, {WARPSEAL_OUT_OF_MEMORY, true}};
    for (const auto& [failure, passing] : failures)
        for (uint64_t n = 1; n <= steps; ++n) {
            SCOPED_TRACE(text_of(work) + ", step " + std::to_string(n));
            tests::script() = {};
            tests::script().passing = passing;
            World gpu("cuda", backend);
            ASSERT_EQ(gpu.created, WARPSEAL_OK);
            tests::script().failure = failure;
            tests::script().fail_at = tests::script().steps + n;
            ASSERT_EQ(result_of(gpu, work), expected);
            expect_recovered(gpu, work, expected, failure);
        }
}

TEST(Backend, SelfTestsThatCannotRun) {
    const Work work{WARPSEAL_GCM, Direction::encrypt, false, false};
    World cores("cpu", nullptr);
    const Text expected = result_of(cores, work);
    for (const warpseal_status failure : {WARPSEAL_NO_DEVICE, WARPSEAL_OUT_OF_MEMORY}) {
        for (uint64_t n = 3; n < 40;
             n += 6) {  // on device memory, when the key is created; calls 1 and 2 open the GPU
            SCOPED_TRACE(n);
            tests::Script script;
            script.fail_at = n;
            script.failure = failure;
            World gpu("cuda", tests::fake_backend(script));
            ASSERT_EQ(gpu.created, WARPSEAL_OK);
            ASSERT_EQ(result_of(gpu, work), expected);
            expect_recovered(gpu, work, expected, failure);
        }
        for (uint64_t n = 1; n < 40; n += 6) {  // through host memory, when the key is first used
            SCOPED_TRACE(n);
            World gpu("cuda", tests::fake_backend());
            tests::script().failure = failure;
            tests::script().fail_at = tests::script().steps + n;
            ASSERT_EQ(result_of(gpu, work), expected);
            expect_recovered(gpu, work, expected, failure);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, EachWork, testing::ValuesIn(all_work()));

TEST(Backend, CreationFailsWhereTheNamedGpuIsAbsent) {
    tests::Script none;
    none.device_count = 0;
    EXPECT_EQ(World("cuda", tests::fake_backend(none)).created, WARPSEAL_NO_DEVICE);
    EXPECT_EQ(World("cuda", nullptr).created, WARPSEAL_NO_DEVICE);
    EXPECT_EQ(World("cuda:1", tests::fake_backend()).created, WARPSEAL_NO_DEVICE);
    EXPECT_EQ(World("cuda:0", tests::fake_backend()).created, WARPSEAL_OK);
    for (uint64_t step = 1; step <= 2; ++step) {  // counting devices, and describing the one device
        tests::Script script;
        script.fail_at = step;
        EXPECT_EQ(World("cuda", tests::fake_backend(script)).created, WARPSEAL_NO_DEVICE);
        EXPECT_EQ(World("cuda", tests::fake_backend(script)).notices.size(), 0u);
    }
    tests::Script lost;
    lost.lost = true;
    EXPECT_EQ(World("cuda", tests::fake_backend(lost)).created, WARPSEAL_NO_DEVICE);
    EXPECT_EQ(tests::script().calls_after_lost, 0u);
}

TEST(Backend, EachGpuIsTestedOnceAndForItself) {
    tests::Script two;
    two.device_count = 2;
    const GpuBackend* backend = tests::fake_backend(two);
    uint64_t steps[3];
    const char* const devices[3] = {"cuda:0", "cuda:1", "cuda:0"};
    for (int i = 0; i < 3; ++i) {
        const uint64_t before = tests::script().steps;
        const World world(devices[i], backend);
        ASSERT_EQ(world.created, WARPSEAL_OK);
        steps[i] = tests::script().steps - before;
    }
    EXPECT_GT(steps[0], 100u);
    EXPECT_EQ(steps[1], steps[0]);
    EXPECT_EQ(steps[2], 2u) << "opened again, not tested again";
}

TEST(Backend, AutoDoesNotOpenTheGpuWhereTheCoresAreFaster) {
    if (!cpu_has(Target::aesni)) GTEST_SKIP() << "this machine has no AES instructions";
    World world("auto", tests::fake_backend());
    const char* target = "";
    for (const Work& work : all_work()) result_of(world, work, &target);
    EXPECT_EQ(tests::script().steps, 0u);
    EXPECT_STRNE(target, "cuda");
}

TEST(Backend, AutoGoesToTheGpuWhereCoresHaveNoAesInstructions) {
    World world("auto", tests::fake_backend(), tests::portable_alone);
    const Text iv(16);
    Text big(4 << 20);
    EXPECT_STREQ(world.engine->pick("aes-256", WARPSEAL_CTR, big.size()), "portable")
        << "opening it would take longer than the work";
    EXPECT_EQ(world.engine->cuda_device(), 0);
    EXPECT_STREQ(world.engine->pick("aes-256", WARPSEAL_CTR, big.size()), "cuda");
    EXPECT_STREQ(world.engine->pick("aes-256", WARPSEAL_CTR, 1000), "portable");
    const uint64_t calls = tests::script().host_calls;
    EXPECT_EQ(world.engine->message(*world.key, WARPSEAL_CTR, Direction::encrypt, {iv.data(), 16},
                                    big.data(), big.data(), big.size()),
              WARPSEAL_OK);
    EXPECT_GT(tests::script().host_calls, calls);
    EXPECT_EQ(world.engine->message(*world.key, WARPSEAL_CTR, Direction::decrypt, {iv.data(), 16},
                                    big.data(), big.data(), big.size()),
              WARPSEAL_OK);
    EXPECT_EQ(big, Text(4 << 20));
}

TEST(Backend, HostMemoryIsPinnedOnceTheGpuIsOpenAndNeverFreedThroughALostOne) {
    World world("auto", tests::fake_backend());
    void *pageable = nullptr, *pinned = nullptr, *left = nullptr;
    ASSERT_EQ(world.engine->host_alloc(100000, &pageable), WARPSEAL_OK);
    EXPECT_EQ(tests::script().live_host_allocations, 0u);
    ASSERT_EQ(world.engine->cuda_device(), 0);
    ASSERT_EQ(world.engine->host_alloc(100000, &pinned), WARPSEAL_OK);
    ASSERT_EQ(world.engine->host_alloc(100000, &left), WARPSEAL_OK);
    EXPECT_EQ(tests::script().live_host_allocations, 2u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pageable) % 4096, 0u);
    world.engine->host_free(pageable);
    world.engine->host_free(pinned);
    EXPECT_EQ(tests::script().live_host_allocations, 1u);
    tests::script().lost = true;
    world.engine->host_free(left);
    EXPECT_EQ(tests::script().calls_after_lost, 0u);
    std::free(left);
}

TEST(Backend, OrdinaryMemoryIsUsedWherePinnedIsRefused) {
    World world("cuda", tests::fake_backend());
    tests::script().fail_at = tests::script().steps + 1;
    tests::script().failure = WARPSEAL_OUT_OF_MEMORY;
    void* memory = nullptr;
    ASSERT_EQ(world.engine->host_alloc(5000, &memory), WARPSEAL_OK);
    std::memset(memory, 1, 5000);
    world.engine->host_free(memory);
    EXPECT_EQ(tests::script().live_host_allocations, 0u);
}

TEST(Backend, DeviceMemory) {
    World world("cuda", tests::fake_backend()), cores("cpu", nullptr);
    const uint64_t after_creation = tests::script().steps;
    const Text iv = tests::pattern(16, 3);
    Text text = tests::pattern(1000, 8), expected(text.size());
    ASSERT_EQ(cores.engine->message(*cores.key, WARPSEAL_CTR, Direction::encrypt, {iv.data(), 16},
                                    text.data(), expected.data(), 1000),
              WARPSEAL_OK);
    ASSERT_EQ(world.engine->sweep_device(*world.key, WARPSEAL_CTR, Direction::encrypt,
                                         {iv.data(), 16}, text.data(), text.data(), 1000, nullptr),
              WARPSEAL_OK);
    EXPECT_EQ(text, expected);
    EXPECT_EQ(tests::script().steps, after_creation + 1)
        << "only the work itself: the stream may be capturing";
    EXPECT_EQ(cores.engine->sweep_device(*cores.key, WARPSEAL_CTR, Direction::encrypt,
                                         {iv.data(), 16}, text.data(), text.data(), 16, nullptr),
              WARPSEAL_NO_DEVICE);
    tests::script().fail_at = tests::script().steps + 1;
    EXPECT_EQ(world.engine->sweep_device(*world.key, WARPSEAL_CTR, Direction::encrypt,
                                         {iv.data(), 16}, text.data(), text.data(), 16, nullptr),
              WARPSEAL_NO_DEVICE);
    EXPECT_EQ(world.notices.size(), 1u);
    EXPECT_EQ(world.engine->sweep_device(*world.key, WARPSEAL_CTR, Direction::encrypt,
                                         {iv.data(), 16}, text.data(), text.data(), 16, nullptr),
              WARPSEAL_NO_DEVICE);
    EXPECT_EQ(tests::script().calls_after_lost, 0u);
}

TEST(Backend, MemoryIsFreedByTheEnginesRecord) {
    World world("cuda", tests::fake_backend());
    void *device = nullptr, *host = nullptr;
    ASSERT_EQ(world.engine->device_alloc(5000, &device), WARPSEAL_OK);
    ASSERT_EQ(world.engine->host_alloc(3000, &host), WARPSEAL_OK);
    const auto live = [] {
        return tests::script().live_device_allocations + tests::script().live_host_allocations;
    };
    const size_t before = live();
    uint8_t foreign[16];
    world.engine->device_free(foreign);
    world.engine->device_free(host);
    world.engine->host_free(device);
    EXPECT_EQ(live(), before) << "the wrong function, or memory that is not the engine's";
    world.engine->device_free(device);
    EXPECT_EQ(tests::script().last_freed_bytes, 5000u);
    world.engine->host_free(host);
    EXPECT_EQ(tests::script().last_freed_bytes, 3000u);
    EXPECT_EQ(live(), before - 2);
    world.engine->device_free(device);
    EXPECT_EQ(live(), before - 2) << "twice";
}

TEST(Backend, AKeyUsedOnTheGpuIsZeroizedThere) {
    World world("cuda", tests::fake_backend());
    result_of(world, {WARPSEAL_CTR, Direction::encrypt, false, false});
    world.xts_key.reset();
    EXPECT_EQ(tests::script().zeroized, 0u) << "it was used only on the cores";
    world.key.reset();
    EXPECT_EQ(tests::script().zeroized, 1u);

    World lost("cuda", tests::fake_backend());
    result_of(lost, {WARPSEAL_CTR, Direction::encrypt, false, false});
    tests::script().lost = true;
    lost.key.reset();
    EXPECT_EQ(tests::script().zeroized, 0u);
    EXPECT_EQ(tests::script().calls_after_lost, 0u);
}

TEST(Backend, ACallerErrorOnDeviceMemoryDoesNotCloseTheGpu) {
    World world("cuda", tests::fake_backend());
    Text text(64), iv(16);
    tests::script().passing = true;
    tests::script().fail_at = tests::script().steps + 1;
    const auto sweep = [&] {
        return world.engine->sweep_device(*world.key, WARPSEAL_CTR, Direction::encrypt,
                                          {iv.data(), 16}, text.data(), text.data(), 64, nullptr);
    };
    EXPECT_EQ(sweep(), WARPSEAL_NO_DEVICE);
    EXPECT_TRUE(world.notices.empty());
    EXPECT_EQ(sweep(), WARPSEAL_OK);
}

TEST(Backend, AForkedChildUsesNeitherGpuNorThreadsOfItsParent) {
    const Work work{WARPSEAL_GCM, Direction::encrypt, false, false};
    World cores("cpu", nullptr), gpu("cuda", tests::fake_backend());
    const Text expected = result_of(cores, work);
    ASSERT_EQ(result_of(gpu, work), expected);
    std::atomic<int> arrived{0};
    gpu.engine->parallel(2, [&](size_t) {  // the worker has started
        ++arrived;
        while (arrived < 2) sched_yield();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const pid_t child = fork();
    if (child == 0) {
        tests::script().lost = true;  // as the real backend's result after a fork
        std::atomic<int> shards{0};
        gpu.engine->parallel(64, [&](size_t) { ++shards; });
        const bool right = result_of(gpu, work) == expected &&
                           tests::script().calls_after_lost == 0 && shards == 64;
        _exit(right ? 7 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
