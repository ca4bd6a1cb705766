// Files through a GPU backend: large segments with separate text and chunks, and the same bytes
// when the GPU is lost.
#include "container/reader.h"
#include "files.h"
#include "support/fake_backend.h"

namespace tests {
namespace {

const Data& text() {
    static const Data made =
        Random(500).text((size_t{36} << 20) + 4321);  // three segments, the last not whole
    return made;
}

struct Machine {
    const char* device = "cuda";
    unsigned threads = 3;
    std::function<warpseal::Speed(int)> speeds = {};
};

// Seals or opens with an engine that has fake GPUs, of which the first is open. If there is no
// engine, returns its status.
Outcome on_gpu(Operation operation, const Data& in, const Options& options, const Script& plan,
               bool pipes, const Machine& machine = {}) {
    warpseal::EngineOptions engine_options;
    engine_options.device = machine.device;
    engine_options.threads = machine.threads;
    engine_options.speeds = machine.speeds;
    engine_options.cuda = fake_backend(plan);
    std::unique_ptr<warpseal::Engine> engine;
    Outcome outcome;
    outcome.status = warpseal::Engine::create(engine_options, engine);
    if (outcome.status != WARPSEAL_OK) return outcome;
    (void)engine->cuda_device();
    const MemoryFile file(in), out;
    const auto work =
        operation == Operation::seal ? warpseal::container::seal : warpseal::container::open;
    if (pipes) {
        const PipeSource source(in);
        PipeSink sink;
        outcome.status = work(*engine, source.get(), sink.get(), options, outcome.result, nullptr);
        outcome.out = sink.finish();
    } else {
        outcome.status = work(*engine, file.get(), out.get(), options, outcome.result, nullptr);
        outcome.out = out.data();
    }
    return outcome;
}

TEST(ContainerDevice, SealsAndOpens) {
    Options options;
    options.key();
    for (const bool pipes : {false, true}) {
        const Outcome file = on_gpu(Operation::seal, text(), options, {}, pipes);
        ASSERT_EQ(file.status, WARPSEAL_OK) << file.result.message;
        EXPECT_STREQ(file.result.target, "cuda");
        EXPECT_EQ(script().live_host_allocations, 0u);
        EXPECT_EQ(script().live_device_allocations, 0u);
        EXPECT_TRUE(run(Operation::open, file.out, options).out == text());
        const Outcome back = on_gpu(Operation::open, file.out, options, {}, pipes);
        ASSERT_EQ(back.status, WARPSEAL_OK) << back.result.message;
        EXPECT_STREQ(back.result.target, "cuda");
        EXPECT_TRUE(back.out == text());
    }
}

// A read on a GPU, of parts of chunks at both ends, and the same bytes where the GPU is lost.
TEST(ContainerDevice, ReadsAtAnyOffset) {
    Options options;
    options.key();
    const MemoryFile file(sealed(text(), options));
    for (const uint64_t fail_at : {uint64_t{0}, uint64_t{40}, uint64_t{60}}) {
        Script plan;
        plan.fail_at = fail_at;
        plan.failure = WARPSEAL_NO_DEVICE;
        warpseal::EngineOptions engine_options;
        engine_options.device = "cuda";
        engine_options.threads = 3;
        engine_options.cuda = fake_backend(plan);
        std::unique_ptr<warpseal::Engine> engine;
        ASSERT_EQ(warpseal::Engine::create(engine_options, engine), WARPSEAL_OK);
        warpseal::container::Fault fault;
        warpseal::container::ReaderInput input;
        ASSERT_EQ(warpseal::container::input_of_descriptor(file.get(), input, fault), WARPSEAL_OK);
        std::unique_ptr<warpseal::container::Reader> reader;
        ASSERT_EQ(
            warpseal::container::Reader::open(*engine, std::move(input), options, reader, fault),
            WARPSEAL_OK)
            << fault.message;
        Data out(text().size());
        size_t got = 0;
        const char* target = nullptr;
        ASSERT_EQ(reader->read_at(chunk + 5, out.data(), out.size(), got, target, fault),
                  WARPSEAL_OK)
            << fault.message;
        EXPECT_EQ(got, text().size() - chunk - 5);
        EXPECT_TRUE(std::equal(text().begin() + chunk + 5, text().end(), out.begin()));
        if (fail_at == 0) {
            EXPECT_STREQ(target, "cuda");
            EXPECT_GT(script().host_calls, 3u);
        } else {
            EXPECT_TRUE(script().lost) << "the GPU was lost before or after";
        }
        reader.reset();
        EXPECT_EQ(script().live_host_allocations, 0u);
    }
}

// Each segment goes whole to the faster side, even where that side would share a divisible call.
TEST(ContainerDevice, AutoTakesTheGpuWhereItIsFasterThanTheCores) {
    Options options;
    options.key();
    for (const double cores : {10.0, 30.0}) {
        const Machine machine{
            "auto", 3, [cores](int party) {
                return party < 0 ? warpseal::Speed{cores, cores} : warpseal::Speed{20, 20};
            }};
        const Outcome file = on_gpu(Operation::seal, text(), options, {}, false, machine);
        ASSERT_EQ(file.status, WARPSEAL_OK) << file.result.message;
        EXPECT_EQ(std::string(file.result.target) == "cuda", cores < 20) << file.result.target;
        EXPECT_EQ(script().host_calls > 0, cores < 20);
        EXPECT_TRUE(run(Operation::open, file.out, options).out == text());
    }
}

// The last of one worker's three segments is too short for the GPU.
TEST(ContainerDevice, TheReportedTargetDidMostOfTheWork) {
    Options options;
    options.key();
    const Machine machine{"auto", 1, [](int party) {
                              return party < 0 ? warpseal::Speed{10, 10} : warpseal::Speed{20, 20};
                          }};
    const Outcome file = on_gpu(Operation::seal, text(), options, {}, false, machine);
    EXPECT_STREQ(file.result.target, "cuda");
    EXPECT_TRUE(run(Operation::open, file.out, options).out == text());
}

TEST(ContainerDevice, OnlyGpusWorthItAreOpened) {
    Options options;
    options.key();
    Script two;
    two.device_count = 2;
    for (const char* device : {"cuda:0,1", "auto"}) {
        const Machine machine{
            device, 3, [](int party) {
                return party < 0 ? warpseal::Speed{0.1, 0.1} : warpseal::Speed{20, 20};
            }};
        const Outcome file = on_gpu(Operation::seal, text(), options, two, false, machine);
        ASSERT_EQ(file.status, WARPSEAL_OK) << file.result.message;
        EXPECT_GT(script().host_calls_of[0], 0u);
        EXPECT_EQ(script().host_calls_of[1] > 0, std::string(device) != "auto")
            << "opening it takes longer than the work";
        EXPECT_TRUE(run(Operation::open, file.out, options).out == text());
    }
}

// The cores seal in place; the GPU seals from one buffer to another: segments of 4 MiB, the last of
// any length.
TEST(ContainerDevice, EverySegmentEnd) {
    Options options;
    options.bare(32);
    constexpr size_t segment = 256 * chunk;
    const Machine machine{"cuda", 32};
    bool pipes = false;
    for (const size_t bytes :
         {size_t{0}, chunk - 1, chunk, segment - 1, segment, segment + 1, 2 * segment + chunk}) {
        const Data part(text().begin(), text().begin() + static_cast<ptrdiff_t>(bytes));
        pipes = !pipes;
        const Outcome file = on_gpu(Operation::seal, part, options, {}, pipes, machine);
        ASSERT_EQ(file.status, WARPSEAL_OK) << bytes << file.result.message;
        ASSERT_TRUE(run(Operation::open, file.out, options).out == part) << bytes;
        const Outcome back = on_gpu(Operation::open, file.out, options, {}, !pipes, machine);
        ASSERT_EQ(back.status, WARPSEAL_OK) << bytes << back.result.message;
        ASSERT_TRUE(back.out == part) << bytes;
    }
}

TEST(ContainerDevice, TruncationEndsThePrefix) {
    Options options;
    options.key();
    const Data whole = sealed(text(), options);
    for (const size_t left : {chunks_at + 700 * sealed_chunk, chunks_at + 700 * sealed_chunk + 15,
                              chunks_at + 700 * sealed_chunk + 16}) {
        const Data file(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(left));
        for (const bool pipes : {true, false}) {
            const Outcome back = on_gpu(Operation::open, file, options, {}, pipes);
            EXPECT_EQ(back.status, left % sealed_chunk == (chunks_at + 16) % sealed_chunk
                                       ? WARPSEAL_NOT_AUTHENTIC
                                       : WARPSEAL_TRUNCATED);
            EXPECT_EQ(back.out.size(), 700 * chunk);
            EXPECT_TRUE(is_prefix(back.out, text()));
        }
    }
}

TEST(ContainerDevice, CancelledMidway) {
    Options options;
    options.key();
    options.progress = [](void*, uint64_t done, uint64_t) { return done > 0 ? 1 : 0; };
    const Outcome outcome = on_gpu(Operation::seal, text(), options, {}, true);
    EXPECT_EQ(outcome.status, WARPSEAL_CANCELLED) << outcome.result.message;
    EXPECT_LT(outcome.result.plaintext_bytes, text().size());
    EXPECT_EQ(script().live_host_allocations, 0u);
}

TEST(ContainerDevice, NoSpaceForTheOutput) {
    Options options;
    options.key();
    warpseal::EngineOptions engine_options;
    engine_options.device = "cuda";
    engine_options.threads = 3;
    engine_options.cuda = fake_backend({});
    std::unique_ptr<warpseal::Engine> engine;
    ASSERT_EQ(warpseal::Engine::create(engine_options, engine), WARPSEAL_OK);
    const MemoryFile in(text());
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    warpseal_file_result result = {};
    EXPECT_EQ(warpseal::container::seal(*engine, in.get(), full, options, result), WARPSEAL_IO);
    EXPECT_EQ(result.system_error, ENOSPC);
    close(full);
    EXPECT_EQ(script().live_host_allocations, 0u);
}

TEST(ContainerDevice, ChangedChunkEndsThePrefix) {
    Options options;
    options.key();
    const Data whole = sealed(text(), options);
    for (const size_t number :
         {3, 1000, 1500}) {  // in the first segment, at its end, in the second
        Data file = whole;
        file[chunks_at + number * sealed_chunk + 9] ^= 1;
        for (const bool pipes : {true, false}) {  // a regular file is also written in order
            const Outcome back = on_gpu(Operation::open, file, options, {}, pipes);
            EXPECT_EQ(back.status, WARPSEAL_NOT_AUTHENTIC) << back.result.message;
            EXPECT_EQ(back.out.size(), number * chunk);
            EXPECT_TRUE(is_prefix(back.out, text()));
        }
    }
}

TEST(ContainerDevice, LostMidway) {
    Options options;
    options.key();
    const Data file = sealed(text(), options);
    on_gpu(Operation::open, file, options, {}, false);
    const uint64_t steps = script().steps;
    ASSERT_GT(steps, 20u);
    int recovered = 0;
    for (int i = 0; i < 12; ++i) {
        Script plan;
        plan.fail_at =
            i < 2 ? steps - static_cast<uint64_t>(i) : 1 + steps * static_cast<uint64_t>(i) / 12;
        plan.failure = i % 3 == 2 ? WARPSEAL_OUT_OF_MEMORY : WARPSEAL_NO_DEVICE;
        const Operation operation = i % 2 == 0 ? Operation::open : Operation::seal;
        const Outcome outcome = on_gpu(operation, operation == Operation::open ? file : text(),
                                       options, plan, i % 4 < 2);
        EXPECT_LE(script().calls_after_lost, 2u)
            << i;  // from the two other workers, already in flight
        if (outcome.status == WARPSEAL_NO_DEVICE)
            continue;  // lost before there was an engine or a key
        ASSERT_EQ(outcome.status, WARPSEAL_OK) << i << ": " << outcome.result.message;
        EXPECT_TRUE((operation == Operation::open
                         ? outcome.out
                         : run(Operation::open, outcome.out, options).out) == text())
            << i;
        ++recovered;
    }
    EXPECT_GE(recovered, 6);
}

}  // namespace
}  // namespace tests
