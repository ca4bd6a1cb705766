// Random changes of sealed files through the GPU, which is lost in the middle of some: none is
// accepted, and no unauthenticated byte is written. WARPSEAL_TAMPERINGS is the number of changes,
// and WARPSEAL_LOSSES the number of losses.
#include <cstdio>

#include "losses.h"

namespace lost_gpu {
namespace {

using targets::EngineHandle;
using tests::Sample;
using tests::Samples;
using tests::Tampered;

constexpr size_t chunk = tests::chunk, mebibyte = size_t{1} << 20;
// Chunks before the first changed one in a file during which the GPU is lost.
constexpr uint64_t least_unchanged = 64;
constexpr uint64_t one_large_in = 20;

// A run's counts: of changed files by the moment of the loss, of chunks that the GPU did before it,
// and 1 if the loss came within a call, after chunks of the file, after the changed one.
enum Count : size_t {
    before,
    meanwhile,
    afterwards,
    chunks_before,
    cut,
    begun,
    after_forgery,
    count_of_counts
};
static_assert(count_of_counts * sizeof(uint64_t) == sizeof(Report::counts));

struct Files {
    Samples small = tests::samples({0, 1, 777, chunk, chunk + 1, 3 * chunk + 5});
    // Several segments, which are on the GPU at once.
    Samples large = tests::samples({9 * mebibyte + 5});
    Samples lossy = tests::samples({(is_real() ? 40 : 9) * mebibyte + 5});
};

const Sample& any_of(const Samples& all, Random& random) { return *all[random.below(all.size())]; }

Tampered change(const Sample& sample, Random& random) {
    return tests::tampered(sample.file, sample.other, sample.first_chunk, random);
}

uint64_t unchanged_chunks(const Tampered& changed, const Sample& sample) {
    const auto first = std::mismatch(changed.data.begin(), changed.data.end(), sample.file.begin(),
                                     sample.file.end())
                           .first;
    const auto at = static_cast<size_t>(first - changed.data.begin());
    return at < sample.first_chunk ? 0 : (at - sample.first_chunk) / tests::sealed_chunk;
}

struct Opened {
    warpseal_status status = WARPSEAL_OK;
    warpseal_file_result result = {};
    Data out;
};

Opened open_with(const EngineHandle& engine, const Data& file, const Sample& sample,
                 bool any_order) {
    const MemoryFile in(file), out;
    warpseal_file_options options = sample.opening;
    options.any_order = any_order ? 1 : 0;
    Opened opened;
    opened.result.struct_bytes = sizeof opened.result;
    opened.status = warpseal_file_open(engine.get(), in.get(), out.get(), &options, &opened.result);
    opened.out = out.data();
    return opened;
}

// Opens a changed file. Returns what is wrong, or "".
std::string wrong_after(const EngineHandle& engine, const Tampered& changed, const Sample& sample,
                        Random& random) {
    const bool any_order = random.one_in(2);
    const Opened opened = open_with(engine, changed.data, sample, any_order);
    const std::string wrong = tests::wrong_with(changed, sample, opened.status,
                                                opened.result.message, opened.out, any_order);
    return wrong.empty() ? ""
                         : wrong + " (" + changed.how + ", text of " +
                               std::to_string(sample.text.size()) + " bytes)";
}

class OneRun {
public:
    OneRun(const Files& files, const EngineHandle& engine, Report& run, Random& random)
        : files_(files), engine_(engine), run_(run), random_(random) {}

    // Changed files through the GPU, which works.
    std::string before_the_loss(uint64_t count) {
        for (uint64_t i = 0; i < count; ++i) {
            const Samples& from = i % one_large_in == 0 ? files_.large : files_.small;
            std::string wrong = one(any_of(from, random_), before);
            if (!wrong.empty()) return wrong;
        }
        run_.counts[chunks_before] = run_.watch.done;
        const bool works = run_.watch.lost == 0 && run_.watch.cut_calls == 0;
        return works ? "" : "the GPU fails before its loss";
    }
    std::string with_the_loss() {
        const Sample& sample = any_of(files_.lossy, random_);
        Tampered changed = change(sample, random_);
        while (unchanged_chunks(changed, sample) < least_unchanged)
            changed = change(sample, random_);
        // The GPU gets at least the chunks before the first changed one. Half of the losses come in
        // the call with that one, or soon after it.
        const uint64_t unchanged = unchanged_chunks(changed, sample);
        const bool at_once = random_.one_in(2);
        arm(run_.watch, at_once ? random_.below(unchanged) : unchanged - 1, at_once, random_);
        std::string wrong = wrong_after(engine_, changed, sample, random_);
        run_.watch.lose_at = never;
        ++run_.counts[meanwhile];
        run_.counts[cut] = run_.watch.cut_calls != 0 ? 1 : 0;
        run_.counts[begun] = run_.counts[cut] != 0 && run_.watch.done != 0 ? 1 : 0;
        run_.counts[after_forgery] = run_.watch.cut_after_forgery != 0 ? 1 : 0;
        return wrong;
    }
    // On the cores, which open a file that was not changed.
    std::string after_the_loss() {
        const Sample& sample = any_of(files_.large, random_);
        const Opened opened = open_with(engine_, sample.file, sample, false);
        if (opened.status != WARPSEAL_OK || opened.out != sample.text)
            return "a whole file does not open afterwards";
        return one(any_of(files_.large, random_), afterwards);
    }

private:
    std::string one(const Sample& sample, Count count) {
        ++run_.counts[count];
        return wrong_after(engine_, change(sample, random_), sample, random_);
    }

    const Files& files_;
    const EngineHandle& engine_;
    Report& run_;
    Random& random_;
};

struct Tally {
    uint64_t counts[count_of_counts] = {}, lost = 0;

    std::string add(const Report& run) {
        for (size_t i = 0; i < count_of_counts; ++i) counts[i] += run.counts[i];
        lost += run.watch.lost;
        return "";
    }
    void print() const {
        const auto number = [](uint64_t count) { return static_cast<unsigned long long>(count); };
        std::printf(
            "%llu tamperings through a GPU, and %llu on cores after its loss: 0 accepted, "
            "0 unauthenticated bytes out\n"
            "    %llu losses of a GPU, %llu of them within a call: %llu after other chunks, %llu "
            "after a changed one\n",
            number(counts[before] + counts[meanwhile]), number(counts[afterwards]), number(lost),
            number(counts[cut]), number(counts[begun]), number(counts[after_forgery]));
    }
};

class LostGpuTamperings : public testing::Test {
protected:
    void SetUp() override {
        static const bool found = has_gpu();
        if (!found) GTEST_SKIP() << "no GPU";
    }
    static const Files& files() {
        static const Files made;
        return made;
    }
};

TEST_F(LostGpuTamperings, NoneIsAccepted) {
    const uint64_t changes = number_in("WARPSEAL_TAMPERINGS", 1000),
                   losses = number_in("WARPSEAL_LOSSES", 48);
    ASSERT_GT(losses, 0u);
    (void)files();
    Tally tally;
    const auto work = [&](uint64_t number, Report& run) -> std::string {
        Random random(900 + number);
        const EngineHandle engine =
            targets::engine(gpu, thread_counts[number % std::size(thread_counts)]);
        if (engine == nullptr) return "no engine";
        OneRun todo(files(), engine, run, random);
        // One of the run's changes is that with the loss.
        const uint64_t share = changes / losses + (number < changes % losses ? 1 : 0);
        std::string wrong = todo.before_the_loss(share == 0 ? 0 : share - 1);
        if (wrong.empty()) wrong = todo.with_the_loss();
        return wrong.empty() ? todo.after_the_loss() : wrong + " with a loss";
    };
    const std::vector<std::string> complaints =
        in_children(losses, work, [&](const Report& run) { return tally.add(run); });
    ASSERT_EQ(joined(complaints), "");
    tally.print();
    EXPECT_EQ(tally.counts[before] + tally.counts[meanwhile], std::max(changes, losses));
    EXPECT_GT(tally.counts[chunks_before], tally.counts[before]) << "little went through the GPU";
    EXPECT_GE(tally.lost, losses * 9 / 10);
    EXPECT_GE(tally.counts[cut], losses / 2) << "few losses came in the middle of a call";
    EXPECT_GE(tally.counts[begun], losses / 20);
    // The moment at which a real GPU is lost is not known so well.
    EXPECT_GE(tally.counts[after_forgery], is_real() ? losses / 200 : 1);
}

// The library takes what a lost GPU leaves for authentic.
TEST_F(LostGpuTamperings, PlantedLossThatIsNotNoticed) {
    constexpr uint64_t runs = 8;
    (void)files();
    const auto work = [&](uint64_t number, Report& run) -> std::string {
        Random random(950 + number);
        const EngineHandle engine = targets::engine(gpu, 1);
        run.watch.flaw = static_cast<uint64_t>(Flaw::a_cut_call_succeeds);
        return OneRun(files(), engine, run, random).with_the_loss();
    };
    uint64_t found = 0;
    for (const std::string& complaint : in_children(runs, work, [](const Report&) { return ""; }))
        found += complaint.find("accepted") != std::string::npos ||
                         complaint.find("unauthenticated bytes are out") != std::string::npos
                     ? 1
                     : 0;
    EXPECT_GE(found, runs / 2);
}

}  // namespace
}  // namespace lost_gpu
