// Files through a GPU's door: pieces of 16 MiB in its memory, and the same bytes when the GPU is lost on the way.
#include "container_support.h"
#include "engine/scripted_door.h"

namespace tests {
namespace {

const Data& text() {
    static const Data made = Random(500).text((size_t{36} << 20) + 4321);  // three pieces, the last not whole
    return made;
}

// Seals or opens with an engine that has the scripted GPU; no engine, its status.
Outcome on_gpu(Way way, const Data& in, const Options& options, const Script& plan, bool pipes) {
    warpseal::EngineOptions engine_options;
    engine_options.device = "cuda";
    engine_options.threads = 3;
    engine_options.cuda = scripted_door(plan);
    std::unique_ptr<warpseal::Engine> engine;
    Outcome outcome;
    outcome.status = warpseal::Engine::create(engine_options, engine);
    if (outcome.status != WARPSEAL_OK) return outcome;
    const MemoryFile file(in), out;
    const auto work = way == Way::seal ? warpseal::container::seal : warpseal::container::open;
    if (pipes) {
        const Filled source(in);
        Drained sink;
        outcome.status = work(*engine, source.get(), sink.get(), options, outcome.result);
        outcome.out = sink.finish();
    } else {
        outcome.status = work(*engine, file.get(), out.get(), options, outcome.result);
        outcome.out = out.data();
    }
    return outcome;
}

TEST(ContainerDevice, SealsAndOpens) {
    Options options;
    options.key();
    for (const bool pipes : {false, true}) {
        const Outcome file = on_gpu(Way::seal, text(), options, {}, pipes);
        ASSERT_EQ(file.status, WARPSEAL_OK) << file.result.message;
        EXPECT_STREQ(file.result.target, "cuda");
        EXPECT_EQ(script().live_host_allocations, 0u);
        EXPECT_EQ(script().live_device_allocations, 0u);
        EXPECT_TRUE(run(Way::open, file.out, options).out == text());
        const Outcome back = on_gpu(Way::open, file.out, options, {}, pipes);
        ASSERT_EQ(back.status, WARPSEAL_OK) << back.result.message;
        EXPECT_STREQ(back.result.target, "cuda");
        EXPECT_TRUE(back.out == text());
    }
}

TEST(ContainerDevice, ChangedChunkEndsThePrefix) {
    Options options;
    options.key();
    Data file = sealed(text(), options);
    file[chunks_at + 1500 * sealed_chunk + 9] ^= 1;
    const Outcome back = on_gpu(Way::open, file, options, {}, true);
    EXPECT_EQ(back.status, WARPSEAL_NOT_AUTHENTIC) << back.result.message;
    EXPECT_EQ(back.out.size(), 1500 * chunk);
    EXPECT_TRUE(is_prefix(back.out, text()));
}

TEST(ContainerDevice, LostOnTheWay) {
    Options options;
    options.key();
    const Data file = sealed(text(), options);
    on_gpu(Way::open, file, options, {}, false);
    const uint64_t steps = script().steps;
    ASSERT_GT(steps, 20u);
    int recovered = 0;
    for (int i = 0; i < 12; ++i) {
        Script plan;
        plan.fail_at = i < 2 ? steps - static_cast<uint64_t>(i) : 1 + steps * static_cast<uint64_t>(i) / 12;
        plan.failure = i % 3 == 2 ? WARPSEAL_OUT_OF_MEMORY : WARPSEAL_NO_DEVICE;
        const Way way = i % 2 == 0 ? Way::open : Way::seal;
        const Outcome outcome = on_gpu(way, way == Way::open ? file : text(), options, plan, i % 4 < 2);
        EXPECT_LE(script().calls_after_lost, 2u) << i;       // of the two other workers, already on their way
        if (outcome.status == WARPSEAL_NO_DEVICE) continue;  // lost before there was an engine or a key
        ASSERT_EQ(outcome.status, WARPSEAL_OK) << i << ": " << outcome.result.message;
        EXPECT_TRUE((way == Way::open ? outcome.out : run(Way::open, outcome.out, options).out) == text()) << i;
        ++recovered;
    }
    EXPECT_GE(recovered, 6);
}

}  // namespace
}  // namespace tests
