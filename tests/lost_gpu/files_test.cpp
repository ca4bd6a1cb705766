// Files whose GPU is lost in the middle are sealed and opened to the end by the cores. Every result
// is right, whichever way its bytes come and go. WARPSEAL_LOSSES is the number of losses.
#include <fcntl.h>

#include <cstdio>

#include "losses.h"

namespace lost_gpu {
namespace {

using targets::EngineHandle;
using tests::Operation;
using tests::Outcome;

constexpr size_t chunk = tests::chunk;

// A file of many segments. Children have their own positions in it.
struct Content {
    Data text = Random(800).text((size_t{is_real() ? 320u : 40u} << 20) + 4321);
    Data sealed = tests::sealed(text, tests::Options().key());
    MemoryFile plain_file{text}, sealed_file{sealed};
    uint64_t chunks = text.size() / chunk + 1;
};
const Content& content() {
    static const Content made;
    return made;
}

enum class Way { file_to_file, file_to_file_in_order, file_to_pipe, pipe_to_pipe };
constexpr uint64_t ways = 4;

class Reopened {
public:
    explicit Reopened(const MemoryFile& file)
        : descriptor_(open(("/proc/self/fd/" + std::to_string(file.get())).c_str(),
                           O_RDONLY | O_CLOEXEC)) {}
    ~Reopened() { (void)close(descriptor_); }
    Reopened(const Reopened&) = delete;
    Reopened& operator=(const Reopened&) = delete;
    int get() const { return descriptor_; }

private:
    const int descriptor_;
};

Outcome outcome_of(const EngineHandle& engine, Operation operation, Way way) {
    const bool seals = operation == Operation::seal;
    tests::Options options;
    options.key();
    options.any_order = way == Way::file_to_file ? 1 : 0;
    Outcome outcome;
    outcome.result.struct_bytes = sizeof outcome.result;
    const auto run = [&](int in, int out) {
        outcome.status = (seals ? warpseal_file_seal : warpseal_file_open)(
            engine.get(), in, out, &options, &outcome.result);
    };
    const auto to_its_output = [&](int in) {
        if (way == Way::file_to_pipe || way == Way::pipe_to_pipe) {
            tests::PipeSink sink;
            run(in, sink.get());
            outcome.out = sink.finish();
        } else {
            const MemoryFile out;
            run(in, out.get());
            outcome.out = out.data();
        }
    };
    if (way == Way::pipe_to_pipe)
        to_its_output(tests::PipeSource(seals ? content().text : content().sealed).get());
    else
        to_its_output(Reopened(seals ? content().plain_file : content().sealed_file).get());
    return outcome;
}

// Returns what is wrong with the outcome of a call, or "".
std::string wrong_with(const Outcome& outcome, Operation operation, Way way) {
    const Data& text = content().text;
    if (outcome.status != WARPSEAL_OK) {
        const bool is_bad = operation == Operation::open &&
                            !tests::is_authentic(outcome.out, text, way == Way::file_to_file);
        return (is_bad ? "unauthenticated bytes are out, status " : "status ") +
               std::to_string(outcome.status) + ": " + outcome.result.message;
    }
    if (operation == Operation::open) return outcome.out == text ? "" : "another text";
    tests::Options options;
    options.key();
    const Outcome opened = tests::run(Operation::open, outcome.out, options);
    return opened.status == WARPSEAL_OK && opened.out == text ? "" : "another file";
}

std::string run_one(uint64_t number, Report& run) {
    Random random(810 + number);
    const auto way = static_cast<Way>(number % ways);
    const Operation operation = number / ways % 2 == 0 ? Operation::open : Operation::seal;
    const EngineHandle engine =
        targets::engine(gpu, thread_counts[random.below(std::size(thread_counts))]);
    if (engine == nullptr) return "no engine";
    arm(run.watch, random.below(content().chunks / 2), random.one_in(2), random);
    return wrong_with(outcome_of(engine, operation, way), operation, way);
}

// What the runs of a test had in common with the loss of their GPU.
struct Tally {
    uint64_t runs = 0, cut = 0, begun = 0;

    // Returns what is wrong with the loss: there was none, or nothing was left to do.
    std::string count(const Report& run) {
        if (run.watch.lost == 0) return "the GPU was not lost";
        if (run.watch.done >= content().chunks) return "the GPU was lost after its work";
        ++runs;
        cut += run.watch.cut_calls != 0 ? 1 : 0;
        begun += run.watch.done != 0 ? 1 : 0;
        return "";
    }
};

class LostGpuFiles : public testing::Test {
protected:
    void SetUp() override {
        static const bool found = has_gpu();
        if (!found) GTEST_SKIP() << "no GPU";
        (void)content();
    }
};

TEST_F(LostGpuFiles, TheCoresFinishThem) {
    const uint64_t losses = number_in("WARPSEAL_LOSSES", is_real() ? 16 : 24);
    Tally tally;
    EXPECT_EQ(
        joined(in_children(losses, run_one, [&](const Report& run) { return tally.count(run); })),
        "");
    std::printf("%llu files whose GPU was lost: %llu within a call, %llu after other chunks\n",
                static_cast<unsigned long long>(tally.runs),
                static_cast<unsigned long long>(tally.cut),
                static_cast<unsigned long long>(tally.begun));
    EXPECT_EQ(tally.runs, losses);
    EXPECT_GE(tally.cut, losses / 2);
    EXPECT_GE(tally.begun, losses / 4);
}

// The complaints about a run that opens a file, or opens it `times` times.
std::string complaints(const std::function<void(Watch&)>& plan, Way way = Way::file_to_file,
                       int times = 1) {
    Tally tally;
    const auto work = [&](uint64_t, Report& run) -> std::string {
        const EngineHandle engine = targets::engine(gpu, 3);
        plan(run.watch);
        std::string wrong;
        for (int i = 0; i < times && wrong.empty(); ++i)
            wrong = wrong_with(outcome_of(engine, Operation::open, way), Operation::open, way);
        return wrong;
    };
    return joined(in_children(1, work, [&](const Report& run) { return tally.count(run); }));
}

TEST_F(LostGpuFiles, RightRunIsNotReported) {
    EXPECT_EQ(complaints([](Watch& watch) { watch.lose_at = content().chunks / 2; }), "");
}

TEST_F(LostGpuFiles, PlantedLossThatDoesNotCome) {
    EXPECT_NE(complaints([](Watch&) {}).find("the GPU was not lost"), std::string::npos);
}

TEST_F(LostGpuFiles, PlantedLossAfterTheWork) {
    const auto plan = [](Watch& watch) { watch.lose_at = content().chunks * 3 / 2; };
    EXPECT_NE(complaints(plan, Way::file_to_file, 2).find("after its work"), std::string::npos);
}

TEST_F(LostGpuFiles, PlantedLossThatIsNotNoticed) {
    for (const Way way : {Way::file_to_file, Way::file_to_pipe})
        EXPECT_NE(complaints(
                      [](Watch& watch) {
                          watch.flaw = static_cast<uint64_t>(Flaw::a_cut_call_succeeds);
                          watch.lose_at = content().chunks / 2;
                      },
                      way)
                      .find("another text"),
                  std::string::npos);
}

}  // namespace
}  // namespace lost_gpu
