// Many random changes of sealed files, on the cores and on a GPU: none is accepted, and every
// output holds text in whole chunks alone. WARPSEAL_TAMPERINGS is their number.
#include "tamperings.h"

#include <cstdlib>
#include <map>
#include <memory>

namespace tests {
namespace {

struct Sample {
    Options sealing, opening;
    Data text, file, other;  // other: the same text, sealed once more
    size_t first_chunk = chunks_at;

    void seal(size_t text_bytes, Random& random) {
        text = random.text(text_bytes);
        file = sealed(text, sealing);
        other = sealed(text, sealing);
    }
};

std::vector<std::unique_ptr<Sample>> samples(const std::vector<size_t>& sizes) {
    std::vector<std::unique_ptr<Sample>> all;
    Random random(700);
    for (const size_t bytes : sizes)
        for (int kind = 0; kind < 4; ++kind) {
            auto one = std::make_unique<Sample>();
            if (kind < 2) {
                one->sealing.key(), one->opening.key();
                if (kind == 1) one->sealing.passphrase("another way in");
            } else {
                const size_t key_bytes = kind == 2 ? 16 : 32;
                one->sealing.bare(key_bytes), one->opening.bare(key_bytes);
                one->first_chunk = chunks_at - payload_at;
            }
            one->seal(bytes, random);
            all.push_back(std::move(one));
        }
    return all;
}

// Returns true if the files differ in one of the header copies alone. The other one then opens it.
bool differ_in_one_copy(const Data& changed, const Data& file) {
    if (changed.size() != file.size()) return false;
    const auto first = std::mismatch(changed.begin(), changed.end(), file.begin()).first;
    const auto last = std::mismatch(changed.rbegin(), changed.rend(), file.rbegin()).first;
    const size_t begin = static_cast<size_t>(first - changed.begin()),
                 end = static_cast<size_t>(changed.rend() - last);
    constexpr size_t middle = (4096 + payload_at) / 2;
    return (begin >= 4096 && end <= middle) || (begin >= middle && end <= payload_at);
}

// A regular file gets each chunk at its offset once it is authentic. Between them it has zeros.
bool holds_only_text(const Data& got, const Data& text) {
    if (got.size() > text.size()) return false;
    for (size_t at = 0; at < got.size(); at += chunk) {
        const auto begin = got.begin() + static_cast<ptrdiff_t>(at);
        const auto end = begin + static_cast<ptrdiff_t>(std::min(chunk, got.size() - at));
        const bool is_text =
            std::equal(begin, end, text.begin() + static_cast<ptrdiff_t>(at)) &&
            (end - begin == static_cast<ptrdiff_t>(chunk) || got.size() == text.size());
        if (!is_text && !std::all_of(begin, end, [](uint8_t byte) { return byte == 0; }))
            return false;
    }
    return true;
}

class Tamperings : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        warpseal::EngineOptions options;
        options.device = GetParam();
        options.threads = on_gpu() ? 3 : 1;
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
        const Data got = out_.data();
        ++statuses_[status];
        switch (status) {
            case WARPSEAL_OK:
                ASSERT_EQ(sample.first_chunk, chunks_at) << "accepted";
                // Several changes may have made it the other file.
                ASSERT_TRUE(differ_in_one_copy(changed.data, sample.file) ||
                            differ_in_one_copy(changed.data, sample.other))
                    << "accepted";
                ASSERT_TRUE(got == sample.text) << "another text";
                return;
            case WARPSEAL_NOT_AUTHENTIC:
            case WARPSEAL_TRUNCATED:
            case WARPSEAL_WRONG_KEY:
            case WARPSEAL_UNSUPPORTED:
            case WARPSEAL_LIMIT_EXCEEDED:
                ASSERT_TRUE(holds_only_text(got, sample.text)) << "unauthenticated bytes are out";
                ASSERT_NE(result.message[0], 0);
                return;
            default: FAIL() << "status " << status << ": " << result.message;
        }
    }

    std::unique_ptr<warpseal::Engine> engine_;
    const MemoryFile in_, out_;
    std::map<warpseal_status, uint64_t> statuses_;
};

TEST_P(Tamperings, NoneIsAccepted) {
    const auto small = samples({0, 1, 777, chunk, chunk + 1, 3 * chunk + 5});
    // Several segments, which are on their way through the GPU at once.
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
