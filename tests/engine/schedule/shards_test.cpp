// One call over several GPUs and the cores. Outputs equal those of the cores alone for any split
// and any failing step.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>
#include <thread>

#include "backends/batch_message.h"
#include "engine/calls.h"
#include "engine/engine_impl.h"
#include "engine/fake_cores.h"
#include "engine/no_memory.h"
#include "engine/pattern.h"
#include "support/fake_backend.h"

namespace {

using namespace warpseal;
using tests::Outcome;
using tests::Text;
using tests::Work;

constexpr size_t message_bytes = (size_t{9} << 20) + 48;

struct Engines {
    std::vector<std::string> notices;
    std::unique_ptr<Engine> engine;
    warpseal_status created = WARPSEAL_OK;

    Engines(const char* device, const GpuBackend* backend, std::function<Speed(int)> speeds = {},
            unsigned threads = 2) {
        EngineOptions options;
        options.device = device;
        options.threads = threads;
        options.cuda = backend;
        options.speeds = std::move(speeds);
        options.notice = [this](const char* text) { notices.emplace_back(text); };
        created = Engine::create(options, engine);
    }
};

const GpuBackend* backend_with(int gpus) {
    tests::Script script;
    script.device_count = gpus;
    return tests::fake_backend(script);
}

// Equal GPUs, and cores that are half as fast as one.
Speed half_speed_cores(int party) { return party < 0 ? Speed{1, 1} : Speed{2, 2}; }

const Work all_work[] = {{"aes-128", WARPSEAL_CTR, Direction::encrypt, false, false},
                         {"aes-128", WARPSEAL_CBC, Direction::decrypt, false, true},
                         {"aes-128", WARPSEAL_CFB, Direction::decrypt, false, false},
                         {"aes-128", WARPSEAL_XTS, Direction::encrypt, false, true},
                         {"aes-128", WARPSEAL_GCM, Direction::encrypt, false, true},
                         {"aes-128", WARPSEAL_GCM, Direction::decrypt, false, false},
                         {"aes-128", WARPSEAL_CTR, Direction::encrypt, true, true},
                         {"aes-128", WARPSEAL_GCM, Direction::decrypt, true, false}};

std::unique_ptr<Key> key_of(Engines& it, bool xts = false) {
    const Work work{"aes-128", xts ? WARPSEAL_XTS : WARPSEAL_CTR, Direction::encrypt, false, false};
    return tests::key_for(*it.engine, work, tests::pattern(xts ? 32 : 16, 1));
}

Outcome result_of(Engines& it, const Work& work) {
    return tests::outcome_of(*it.engine, work, message_bytes, 2);
}

class Shards : public testing::TestWithParam<Work> {
protected:
    static Outcome expected() {
        return tests::outcome_of(tests::cores(), GetParam(), message_bytes, 2);
    }
};

TEST_P(Shards, TwoGpusEachHaveAShard) {
    const Outcome right = expected();
    Engines two("cuda:0,1", backend_with(2));
    ASSERT_EQ(two.created, WARPSEAL_OK);
    (void)result_of(two, GetParam());  // with its self-tests
    const tests::Script before = tests::script();
    EXPECT_TRUE(result_of(two, GetParam()) == right);
    EXPECT_EQ(tests::script().host_calls_of[0], before.host_calls_of[0] + 1);
    EXPECT_EQ(tests::script().host_calls_of[1], before.host_calls_of[1] + 1);
    EXPECT_TRUE(two.notices.empty());
}

TEST_P(Shards, CoresAndGpusTogether) {
    const Outcome right = expected();
    for (const int gpus : {1, 2}) {
        Engines all("auto", backend_with(gpus), half_speed_cores);
        ASSERT_EQ(all.engine->cuda_device(), 0);
        ASSERT_EQ(all.engine->gpu_count(), static_cast<unsigned>(gpus));
        for (int gpu = 0; gpu < gpus; ++gpu)
            ASSERT_EQ(all.engine->cuda_device_number(static_cast<size_t>(gpu)), gpu);
        const Outcome got = result_of(all, GetParam());
        EXPECT_TRUE(got == right) << gpus;
        if (GetParam().batch) {
            EXPECT_EQ(std::string(got.target).substr(0, 5), "cuda+");
        }
        EXPECT_EQ(
            std::string(all.engine->pick("aes-128", WARPSEAL_CTR, message_bytes)).substr(0, 5),
            "cuda+");
        for (int gpu = 0; gpu < gpus; ++gpu)
            EXPECT_GT(tests::script().host_calls_of[gpu], 0u) << gpu;
        EXPECT_TRUE(all.notices.empty());
    }
}

// Out of memory, refused, lost: at the start, in the middle and at the end of either GPU's shard,
// with and without the cores.
TEST_P(Shards, OthersFinishTheShardOfAFailedGpu) {
    const Outcome right = expected();
    const GpuBackend* backend = backend_with(2);
    const std::pair<warpseal_status, bool> failures[] = {
        {WARPSEAL_NO_DEVICE, false}, {WARPSEAL_NO_DEVICE, true}, {WARPSEAL_OUT_OF_MEMORY, true}};
    for (const char* device : {"cuda:0,1", "auto"})
        for (const auto& [failure, passing] : failures)
            for (const int gpu : {0, 1})
                for (const uint64_t step : {1, 400}) {
                    SCOPED_TRACE(std::string(device) + ", gpu " + std::to_string(gpu) + ", step " +
                                 std::to_string(step));
                    tests::script() = {};
                    tests::script().device_count = 2;
                    Engines all(device, backend, half_speed_cores);
                    for (size_t i = 0; i < 2; ++i)
                        ASSERT_EQ(all.engine->cuda_device_number(i), static_cast<int>(i));
                    (void)result_of(all, GetParam());
                    tests::Script& script = tests::script();
                    script.failure = failure;
                    script.passing = passing;
                    script.fail_device = gpu;
                    script.fail_device_at = script.steps_of[gpu] + step;
                    const uint64_t asked = script.host_calls_of[gpu];
                    ASSERT_TRUE(result_of(all, GetParam()) == right);
                    const bool lost = failure == WARPSEAL_NO_DEVICE && !passing;
                    if (!script.lost && script.steps_of[gpu] < script.fail_device_at)
                        continue;  // its shard was shorter
                    ASSERT_EQ(script.lost, lost);
                    ASSERT_LE(script.host_calls_of[gpu], asked + 1)
                        << "a failed GPU does not finish the call";
                    ASSERT_EQ(all.notices.size(), 1u);
                    const uint64_t late = script.calls_after_lost;
                    ASSERT_LE(late, 1u) << "only the other GPU's thread may have called before";
                    const uint64_t calls = script.host_calls;
                    ASSERT_TRUE(result_of(all, GetParam()) == right) << "and again";
                    if (lost) {
                        ASSERT_EQ(script.host_calls, calls);
                    }
                    ASSERT_EQ(script.calls_after_lost, late);
                    ASSERT_EQ(all.notices.size(), 1u);
                }
}

INSTANTIATE_TEST_SUITE_P(All, Shards, testing::ValuesIn(all_work),
                         [](const auto& info) { return info.param.name(); });

TEST(Gpus, AllNamedGpusMustExist) {
    EXPECT_EQ(Engines("cuda:0,1", backend_with(1)).created, WARPSEAL_NO_DEVICE);
    EXPECT_EQ(Engines("cuda:1,0", backend_with(2)).created, WARPSEAL_OK);
    EXPECT_EQ(Engines("cuda:0,0", backend_with(2)).created, WARPSEAL_INVALID_ARGUMENT);
}

// The GPU with wrong outputs is closed, whichever it is; the other has its shard.
TEST(Gpus, EachHasItsOwnSelfTest) {
    const Work work{"aes-128", WARPSEAL_CTR, Direction::encrypt, false, false};
    const Outcome right = tests::outcome_of(tests::cores(), work, message_bytes, 2);
    for (const int bad : {0, 1}) {
        tests::Script script;
        script.device_count = 2;
        script.wrong_host = 1u << 2 * WARPSEAL_CTR;
        script.wrong_gpu = bad;
        Engines all("auto", tests::fake_backend(script), half_speed_cores);
        for (size_t i = 0; i < 2; ++i)
            ASSERT_EQ(all.engine->cuda_device_number(i), static_cast<int>(i));
        EXPECT_EQ(
            std::string(all.engine->pick("aes-128", WARPSEAL_CTR, message_bytes)).substr(0, 5),
            "cuda+");
        const tests::Script before = tests::script();
        EXPECT_TRUE(result_of(all, work) == right) << bad;
        EXPECT_EQ(tests::script().host_calls_of[bad], before.host_calls_of[bad]);
        EXPECT_EQ(tests::script().host_calls_of[1 - bad], before.host_calls_of[1 - bad] + 1);
        ASSERT_EQ(all.notices.size(), 1u);
        EXPECT_NE(all.notices[0].find("cuda failed its self-test"), std::string::npos);
    }
}

// GPUs that copy from pinned memory themselves beat these cores, but not where the text must be
// staged first.
TEST(Gpus, TheMemoryKindDecides) {
    for (const bool pinned : {false, true}) {
        Engines all("auto", backend_with(1), [](int party) {
            return party < 0 ? Speed{30, 0.001} : Speed{};
        });
        tests::script().all_pinned = pinned;
        Text in(message_bytes), out(message_bytes);
        const auto memory_kind = [&](const void* from, const void* to, uint64_t in_extent = 10,
                                     uint64_t out_extent = 10) {
            Call call{WARPSEAL_CTR, Direction::encrypt, BackendEntry::sweep, message_bytes};
            call.in = from;
            call.out = to;
            call.in_extent = in_extent;
            call.out_extent = out_extent;
            return all.engine->impl()
                .call_class_of(all.engine->impl().descriptors("aes-128"), Target::portable, call)
                .memory_kind;
        };
        EXPECT_EQ(memory_kind(in.data(), out.data()), MemoryKind::host) << "no GPU is open";
        ASSERT_EQ(all.engine->cuda_device(), 0);
        EXPECT_EQ(memory_kind(in.data(), out.data()),
                  pinned ? MemoryKind::pinned : MemoryKind::host);
        EXPECT_EQ(memory_kind(in.data(), in.data()),
                  pinned ? MemoryKind::pinned_in_place : MemoryKind::host);
        EXPECT_EQ(memory_kind(nullptr, nullptr), MemoryKind::host);
        tests::script().most_pinned = 15;
        EXPECT_EQ(memory_kind(in.data(), out.data(), 20, 10), MemoryKind::host);
        EXPECT_EQ(memory_kind(in.data(), out.data(), 10, 20), MemoryKind::host)
            << "all of what is written must be pinned too";
        EXPECT_EQ(memory_kind(in.data(), out.data(), 15, 15),
                  pinned ? MemoryKind::pinned : MemoryKind::host);
        tests::script().most_pinned = SIZE_MAX;
        const auto to_gpu = [&](const Text& from, const Text& to) {
            return std::strcmp(all.engine->pick("aes-128", WARPSEAL_CTR, uint64_t{1} << 30,
                                                from.data(), to.data()),
                               "cuda") == 0;
        };
        EXPECT_EQ(to_gpu(in, out), pinned);
        EXPECT_FALSE(to_gpu(in, in));
    }
}

// Makes one call as a worker of a pipeline does: 16 MiB under one key.
warpseal_status worker_call(Engines& it, const Key& key, Engine::Threads threads) {
    Text text(size_t{16} << 20), ivs(32);
    warpseal_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.message_count = 2;
    batch.message_bytes = batch.in_stride = batch.out_stride = text.size() / 2;
    batch.in = batch.out = text.data();
    batch.iv_bytes = 16, batch.iv_stride = 16;
    batch.ivs = ivs.data();
    return it.engine->batch(key, WARPSEAL_CTR, Direction::encrypt, batch, threads);
}

// A call by one of several workers shares its thread or GPU with the others, so it does not measure
// either.
TEST(Gpus, CallsOfWorkersAreNotMeasured) {
    for (const Engine::Threads threads : {Engine::Threads::caller, Engine::Threads::all}) {
        Engines it("auto", backend_with(1), half_speed_cores);
        ASSERT_EQ(it.engine->cuda_device(), 0);
        const auto key = key_of(it);
        for (int i = 0; i < 3; ++i) ASSERT_EQ(worker_call(it, *key, threads), WARPSEAL_OK);
        Engine::Impl& impl = it.engine->impl();
        const Key::Descriptors& descriptors = key->descriptors();
        Target core = Target::portable;
        ASSERT_EQ(impl.tested_cores(descriptors, WARPSEAL_CTR, Direction::encrypt, core),
                  WARPSEAL_OK);
        const CallClass call_class = impl.call_class_of(
            descriptors, core,
            {WARPSEAL_CTR, Direction::encrypt, BackendEntry::batch, size_t{16} << 20});
        const Speed gpu = impl.throughput.of(call_class, 0);
        EXPECT_EQ(gpu.alone, 0) << "sharing with the cores is a separate class";
        EXPECT_EQ(gpu.shared > 0, threads == Engine::Threads::all);
    }
}

// One of the engine's threads is as fast as its fraction of them.
TEST(Gpus, WorkersHaveOneThreadEach) {
    Engines it("auto", backend_with(1),
               [](int) {
                   return Speed{8, 8};
               }),
        unmeasured("auto", backend_with(1));
    ASSERT_EQ(it.engine->threads(), 2u);
    Call call{WARPSEAL_CTR, Direction::encrypt, BackendEntry::sweep, message_bytes};
    const CpuCipher& cipher = *cpu_cipher(Target::portable, "aes-128");
    const CallClass call_class{
        &cipher, WARPSEAL_CTR, Direction::encrypt, BackendEntry::sweep, MemoryKind::host, 0};
    const double usual =
        default_core_speed(Target::portable, {message_bytes, MemoryKind::host, 16, call.mode,
                                              call.direction, representation_of(cipher)});
    for (const auto& [engines, one_thread] :
         {std::pair<Engines&, double>{it, 4}, {unmeasured, usual}}) {
        call.bytes =
            static_cast<uint64_t>(1.5 * one_thread * default_gpu_delay(MemoryKind::pinned) * 1e9);
        for (const bool alone : {false, true}) {
            call.one_thread = alone;
            EXPECT_EQ(engines.engine->impl().cpu_is_faster(cipher, Target::portable, call,
                                                           call_class, nullptr),
                      !alone)
                << one_thread;
        }
    }
}

// The expected shards are known once the first GPU is open; then the others are opened too.
TEST(Gpus, AllGpusWorthASegmentAreOpened) {
    Engines it("auto", backend_with(2), half_speed_cores);
    EXPECT_TRUE(it.engine->gpus_for_segments("aes-128", WARPSEAL_GCM, Direction::encrypt,
                                             uint64_t{100} << 30));
    EXPECT_TRUE(it.engine->gpu_is_open(0) && it.engine->gpu_is_open(1));
}

// Every shard of a batch has keys, AAD, tags and statuses of its own. A forgery lies among the
// messages done by a GPU before it fails, while all others verify.
TEST(Gpus, BatchesHaveTheirOwnKeysAndData) {
    constexpr size_t count = 160, each = 65536;
    const Text keys = tests::pattern(16 * count, 3), aad = tests::pattern(24 * count, 4),
               ivs = tests::pattern(12 * count, 5);
    Text text = tests::pattern(count * each, 6), sealed(text.size()), again(text.size()),
         tags(16 * count), others(16 * count);
    std::vector<int32_t> statuses(count, -1);
    warpseal_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.message_count = count;
    batch.message_bytes = batch.in_stride = batch.out_stride = each;
    batch.keys = keys.data();
    batch.ivs = ivs.data(), batch.iv_bytes = 12, batch.iv_stride = 12;
    batch.aad = aad.data(), batch.aad_bytes = 20, batch.aad_stride = 24;
    batch.in = text.data(), batch.out = sealed.data();
    batch.tags = tags.data(), batch.tag_bytes = 16, batch.tag_stride = 16;
    const Work work{"aes-128", WARPSEAL_GCM, Direction::encrypt, true, false};
    const auto core_key = tests::key_for(tests::cores(), work, tests::pattern(16, 1));
    ASSERT_EQ(tests::cores().batch(*core_key, WARPSEAL_GCM, Direction::encrypt, batch),
              WARPSEAL_OK);

    Engines all("auto", backend_with(2), half_speed_cores);
    for (size_t i = 0; i < 2; ++i)
        ASSERT_EQ(all.engine->cuda_device_number(i), static_cast<int>(i));
    const auto key = key_of(all);
    batch.out = again.data(), batch.tags = others.data();
    ASSERT_EQ(all.engine->batch(*key, WARPSEAL_GCM, Direction::encrypt, batch), WARPSEAL_OK);
    EXPECT_TRUE(again == sealed && others == tags);
    EXPECT_TRUE(tests::script().host_calls_of[0] != 0 && tests::script().host_calls_of[1] != 0);

    batch.in = sealed.data(), batch.tags = tags.data(), batch.statuses = statuses.data();
    EXPECT_EQ(all.engine->batch(*key, WARPSEAL_GCM, Direction::decrypt, batch), WARPSEAL_OK);
    EXPECT_TRUE(again == text);
    tags[16] ^= 1;
    tests::script().fail_device = 0;
    tests::script().passing = true;
    tests::script().fail_device_at = tests::script().steps_of[0] + 4;
    EXPECT_EQ(all.engine->batch(*key, WARPSEAL_GCM, Direction::decrypt, batch),
              WARPSEAL_NOT_AUTHENTIC);
    EXPECT_EQ(all.notices.size(), 1u) << "it did fail";
    for (size_t i = 0; i < count; ++i)
        EXPECT_EQ(statuses[i], i == 1 ? WARPSEAL_NOT_AUTHENTIC : WARPSEAL_OK) << i;
}

// A slightly faster GPU does not get all segments.
TEST(Gpus, CallsOfWorkersGoToEachGpuInTurn) {
    Engines two("cuda:0,1", backend_with(2), [](int party) { return Speed{20.0 + party, 20.0}; });
    const auto key = key_of(two);
    for (int i = 0; i < 2; ++i)
        ASSERT_EQ(worker_call(two, *key, Engine::Threads::caller), WARPSEAL_OK);  // with self-tests
    const tests::Script before = tests::script();
    for (int i = 0; i < 6; ++i)
        ASSERT_EQ(worker_call(two, *key, Engine::Threads::caller), WARPSEAL_OK);
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(tests::script().host_calls_of[i], before.host_calls_of[i] + 3);
}

TEST(Gpus, AutoConsidersAllGpusOnceTheFirstIsOpen) {
    Engines it("auto", backend_with(3));
    EXPECT_EQ(tests::script().steps, 0u);
    EXPECT_EQ(it.engine->gpu_count(), 3u);
    EXPECT_EQ(it.engine->cuda_device_number(2), 2);
    EXPECT_EQ(it.engine->cuda_device_number(3), -1);
}

// Data on GPUs is processed in place: two calls of one thread, each with the IV of its first block,
// make the whole job.
TEST(Gpus, DeviceMemoryIsProcessedInPlace) {
    Engines two("cuda:0,1", backend_with(2));
    ASSERT_EQ(two.created, WARPSEAL_OK);
    const Work work{"aes-128", WARPSEAL_CTR, Direction::encrypt, false, false};
    const auto key = key_of(two),
               core_key = tests::key_for(tests::cores(), work, tests::pattern(16, 1));
    constexpr size_t bytes = 4096, half = bytes / 2;
    const Text text = tests::pattern(bytes, 2);
    Text iv(16), right(bytes);
    ASSERT_EQ(tests::cores().message(*core_key, WARPSEAL_CTR, Direction::encrypt, {iv.data(), 16},
                                     text.data(), right.data(), bytes),
              WARPSEAL_OK);
    for (int gpu = 0; gpu < 2; ++gpu) {
        void* memory = nullptr;
        const GpuBackend& backend = *two.engine->cuda();
        ASSERT_EQ(backend.device_alloc(gpu, half, &memory), WARPSEAL_OK);
        EXPECT_EQ(two.engine->cuda_device_holding(memory), gpu);
        EXPECT_EQ(two.engine->cuda_device_holding(static_cast<uint8_t*>(memory) + half - 1), gpu);
        ASSERT_EQ(backend.upload(gpu, memory, text.data() + gpu * half, half), WARPSEAL_OK);
        iv[15] = static_cast<uint8_t>(gpu * half / 16);
        const uint64_t other = tests::script().steps_of[1 - gpu];
        auto* data = static_cast<uint8_t*>(memory);
        EXPECT_EQ(two.engine->sweep_device(*key, WARPSEAL_CTR, Direction::encrypt, {iv.data(), 16},
                                           data, data, half, nullptr),
                  WARPSEAL_OK);
        EXPECT_EQ(tests::script().steps_of[1 - gpu], other) << "the other GPU is not used";
        Text got(half);
        ASSERT_EQ(backend.download(gpu, got.data(), memory, half), WARPSEAL_OK);
        EXPECT_TRUE(std::equal(got.begin(), got.end(),
                               right.begin() + static_cast<std::ptrdiff_t>(gpu * half)));
        backend.device_free(gpu, memory, half);
    }
}

// The backend itself does not know of the fork here, and would answer.
TEST(Gpus, AForkedChildDoesNotUseThem) {
    const Work& work = all_work[0];
    const Outcome right = tests::outcome_of(tests::cores(), work, message_bytes, 2);
    Engines one("cuda:0", backend_with(1));
    ASSERT_TRUE(result_of(one, work) == right);
    const uint64_t before = tests::script().host_calls;
    ASSERT_TRUE(result_of(one, work) == right);
    EXPECT_EQ(tests::script().host_calls, before + 1);
    const pid_t child = fork();
    if (child == 0) {
        const bool same = result_of(one, work) == right;
        _exit(same && tests::script().host_calls == before + 1 ? 7 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

// Signals are for the program's own threads: those that a call starts block them. The notice of a
// GPU that fails comes from the thread of its shard.
TEST(Gpus, ThreadsOfACallBlockSignals) {
    unsigned helpers = 0, unblocked = 0;
    const auto caller = std::this_thread::get_id();
    for (const int failing : {0, 1}) {
        EngineOptions options;
        options.device = "cuda:0,1";
        options.threads = 2;
        options.cuda = backend_with(2);
        options.notice = [&](const char*) {
            if (std::this_thread::get_id() == caller) return;
            sigset_t blocked;
            pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
            ++helpers;
            unblocked +=
                sigismember(&blocked, SIGTERM) == 1 && sigismember(&blocked, SIGINT) == 1 ? 0 : 1;
        };
        std::unique_ptr<Engine> engine;
        ASSERT_EQ(Engine::create(options, engine), WARPSEAL_OK);
        (void)tests::outcome_of(*engine, all_work[0], message_bytes, 2);  // with its self-tests
        tests::Script& script = tests::script();
        script.passing = true;
        script.fail_device = failing;
        script.fail_device_at = script.steps_of[failing] + 1;
        (void)tests::outcome_of(*engine, all_work[0], message_bytes, 2);
    }
    EXPECT_EQ(helpers, 1u) << "the caller's own thread has the other shard";
    EXPECT_EQ(unblocked, 0u);
    sigset_t mine;
    pthread_sigmask(SIG_SETMASK, nullptr, &mine);
    EXPECT_EQ(sigismember(&mine, SIGTERM), 0);
}

// The inputs and outputs of a call must lie on one GPU.
TEST(Gpus, BuffersOfTwoGpusOrOfTheHostAreRefused) {
    Engines two("cuda:0,1", backend_with(2));
    ASSERT_EQ(two.created, WARPSEAL_OK);
    const GpuBackend& backend = *two.engine->cuda();
    const auto key = key_of(two), xts_key = key_of(two, true);
    constexpr size_t bytes = 64;
    Text on_host(bytes);
    uint8_t* texts[3] = {nullptr, nullptr, on_host.data()};
    for (int gpu = 0; gpu < 2; ++gpu) {
        void* memory = nullptr;
        ASSERT_EQ(backend.device_alloc(gpu, bytes, &memory), WARPSEAL_OK);
        texts[gpu] = static_cast<uint8_t*>(memory);
    }
    uint8_t* const iv = texts[1];
    for (uint8_t* const in : texts)
        for (uint8_t* const out : texts) {
            const warpseal_status right =
                in == out && in != on_host.data() ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT;
            EXPECT_EQ(two.engine->sweep_device(*key, WARPSEAL_ECB, Direction::encrypt, {}, in, out,
                                               bytes, nullptr),
                      right);
            EXPECT_EQ(two.engine->xts_device(*xts_key, Direction::encrypt, {{}, bytes}, in, out,
                                             bytes, nullptr),
                      right);
            warpseal_batch batch = {};
            batch.struct_bytes = sizeof batch;
            batch.message_count = 1;
            batch.message_bytes = 48;
            batch.in = in;
            batch.out = out;
            batch.iv_bytes = 16;
            batch.ivs = iv;
            EXPECT_EQ(two.engine->batch_device(*key, WARPSEAL_CTR, Direction::encrypt,
                                               as_scattered(batch), nullptr),
                      right);
        }
    // Nor may an output overlap another input than its own.
    for (uint8_t* const out : {texts[0] + 16, static_cast<uint8_t*>(nullptr)}) {
        EXPECT_EQ(two.engine->sweep_device(*key, WARPSEAL_ECB, Direction::encrypt, {}, texts[0],
                                           out, 48, nullptr),
                  WARPSEAL_INVALID_ARGUMENT);
        EXPECT_EQ(two.engine->xts_device(*xts_key, Direction::encrypt, {{}, 48}, texts[0], out, 48,
                                         nullptr),
                  WARPSEAL_INVALID_ARGUMENT);
    }
    for (int gpu = 0; gpu < 2; ++gpu) backend.device_free(gpu, texts[gpu], bytes);
}

// The GPU's shard may be written when the cores' shard fails: text without a verified tag is
// zeroized.
TEST(Unverified, TextIsZeroizedWhenAllocationFails) {
    const Text iv = tests::pattern(12, 3), in = tests::pattern(message_bytes, 4);
    Text sealed(in.size()), tag(16);
    const GpuBackend* backend = backend_with(1);
    size_t wiped = 0;
    for (long met = -1, last = 100; met < last; ++met) {
        Engines all("auto", backend, half_speed_cores,
                    4);  // several threads for the cores' shard too
        ASSERT_EQ(all.engine->cuda_device(), 0);
        const auto key = key_of(all);
        if (met < 0) {  // and the self-tests run
            ASSERT_EQ(all.engine->seal(*key, WARPSEAL_GCM, {iv.data(), 12}, {}, in.data(),
                                       sealed.data(), in.size(), tag.data(), 16),
                      WARPSEAL_OK);
        }
        Text out(in.size(), 0xa5);
        warpseal_status status = WARPSEAL_OUT_OF_MEMORY;
        tests::requests_met = met;
        tests::refused_once = true;
        try {
            status = all.engine->open(*key, WARPSEAL_GCM, {iv.data(), 12}, {}, sealed.data(),
                                      out.data(), out.size(), tag.data(), 16);
        } catch (const std::bad_alloc&) {
        }
        if (tests::requests_met > 0) last = met;  // there were fewer requests
        tests::requests_met = -1;
        tests::refused_once = false;
        const bool untouched = out == Text(in.size(), 0xa5), zero = out == Text(in.size());
        ASSERT_TRUE(status == WARPSEAL_OK ? out == in : untouched || zero)
            << "after " << met << " requests";
        wiped += status != WARPSEAL_OK && zero;
    }
    EXPECT_GT(wiped, 0u) << "no failure came after text was written";
}

}  // namespace
