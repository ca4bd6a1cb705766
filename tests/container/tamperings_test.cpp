// Many random changes of sealed files, on the cores and on a GPU: none is accepted, and every
// output is a prefix of the text, in whole chunks. WARPSEAL_TAMPERINGS is their number.
#include <cstdlib>
#include <map>
#include <memory>

#include "tampered_samples.h"

namespace tests {
namespace {

// With so many, segments have 256 chunks: those of the large samples are on a GPU at once.
constexpr unsigned threads_of_short_segments = 20;

class Tamperings : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        warpseal::EngineOptions options;
        options.device = GetParam();
        options.threads = on_gpu() ? threads_of_short_segments : 1;
        const warpseal_status status = warpseal::Engine::create(options, engine_);
        if (on_gpu() && status == WARPSEAL_NO_DEVICE) GTEST_SKIP() << "no GPU";
        ASSERT_EQ(status, WARPSEAL_OK);
    }
    static bool on_gpu() { return std::string_view(GetParam()) == "cuda"; }
    static uint64_t wanted() {
        const char* const given = std::getenv("WARPSEAL_TAMPERINGS");
        return given != nullptr ? std::strtoull(given, nullptr, 10) : on_gpu() ? 500 : 20'000;
    }
    // Opens a changed file, and checks the status and the output.
    void check(const Tampered& changed, const Sample& sample) {
        in_.cut(0);
        in_.put(changed.data);
        in_.rewind();
        out_.cut(0);
        out_.rewind();
        warpseal_file_result result = {};
        const warpseal_status status =
            warpseal::container::open(*engine_, in_.get(), out_.get(), sample.opening, result);
        ++statuses_[status];
        ASSERT_EQ(wrong_with(changed, sample, status, result.message, out_.data(), false), "");
    }

    std::unique_ptr<warpseal::Engine> engine_;
    const MemoryFile in_, out_;
    std::map<warpseal_status, uint64_t> statuses_;
};

TEST_P(Tamperings, NoneIsAccepted) {
    const auto small = samples({0, 1, 777, chunk, chunk + 1, 3 * chunk + 5});
    std::vector<size_t> large_sizes;
    if (on_gpu()) large_sizes.push_back((9 << 20) + 5);
    const auto large = samples(large_sizes);
    const uint64_t count = wanted();
    Random random(701);
    for (uint64_t i = 0; i < count; ++i) {
        const auto& from = !large.empty() && i % 20 == 0 ? large : small;
        const Sample& sample = *from[random.below(from.size())];
        const Tampered changed = tampered(sample.file, sample.other, sample.first_chunk, random);
        SCOPED_TRACE(std::to_string(i) + ": " + changed.how + ", text of " +
                     std::to_string(sample.text.size()) + " bytes");
        check(changed, sample);
        if (HasFatalFailure()) return;
    }
    std::printf("%llu tamperings on %s: 0 accepted, %llu opened by the other header copy\n",
                static_cast<unsigned long long>(count), GetParam(),
                static_cast<unsigned long long>(statuses_[WARPSEAL_OK]));
    for (const auto& [status, number] : statuses_)
        std::printf("    %llu: %s\n", static_cast<unsigned long long>(number),
                    warpseal_status_text(status));
    EXPECT_GT(statuses_[WARPSEAL_NOT_AUTHENTIC], count / 4);
}

INSTANTIATE_TEST_SUITE_P(Devices, Tamperings, testing::Values("cpu", "cuda"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tests
