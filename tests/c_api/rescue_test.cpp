// warpseal_file_rescue and its C++ wrapper: arguments, statuses and what the structs report.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>
#include <vector>

#include "warpseal/warpseal.hpp"

namespace {

using Data = std::vector<uint8_t>;
constexpr size_t chunk = 16384;

class CApiRescue : public testing::Test {
protected:
    CApiRescue() {
        options_.struct_bytes = sizeof options_;
        options_.secrets = &secret_;
        options_.secret_count = 1;
        result_.struct_bytes = sizeof result_;
        rescue_.struct_bytes = sizeof rescue_;
        const int plain = memfd_create("plain", 0);
        EXPECT_EQ(write(plain, text_.data(), text_.size()), static_cast<ssize_t>(text_.size()));
        lseek(plain, 0, SEEK_SET);
        warpseal::seal_file(engine_, plain, sealed_, options_);
        close(plain);
    }
    ~CApiRescue() override {
        close(sealed_);
        close(out_);
    }
    int sealed() const {
        lseek(sealed_, 0, SEEK_SET);
        return sealed_;
    }
    void damage(off_t at) const {
        uint8_t byte = 0;
        EXPECT_EQ(pread(sealed_, &byte, 1, at), 1);
        byte ^= 1;
        EXPECT_EQ(pwrite(sealed_, &byte, 1, at), 1);
    }
    Data out() const {
        Data got(text_.size() + 1);
        const ssize_t bytes = pread(out_, got.data(), got.size(), 0);
        got.resize(bytes < 0 ? 0 : static_cast<size_t>(bytes));
        return got;
    }
    warpseal_status rescue() {
        return warpseal_file_rescue(engine_.get(), sealed(), out_, &options_, &rescue_, &result_);
    }
    // Values that a call must replace.
    void fill_results() {
        rescue_.hole_count = rescue_.hole_bytes = rescue_.bytes_after_end = 77;
        rescue_.end_found = rescue_.finished = 77;
    }
    bool results_are(uint64_t count, uint64_t bytes, int end, uint64_t after) const {
        return rescue_.hole_count == count && rescue_.hole_bytes == bytes &&
               rescue_.end_found == end && rescue_.bytes_after_end == after;
    }

    static constexpr off_t chunks_at = 61496;
    const warpseal::Engine engine_{"cpu", 1};
    const Data key_ = Data(32, 5), text_ = Data(3 * chunk + 100, 0x61);
    const warpseal_secret secret_ = {WARPSEAL_SECRET_KEY, key_.data(), key_.size()};
    warpseal_file_options options_ = {};
    warpseal_rescue rescue_ = {};
    warpseal_file_result result_ = {};
    const int sealed_ = memfd_create("sealed", 0), out_ = memfd_create("out", 0);
};

TEST_F(CApiRescue, StatusTellsIfTheTextIsWhole) {
    fill_results();
    ASSERT_EQ(rescue(), WARPSEAL_OK) << result_.message;
    EXPECT_TRUE(results_are(0, 0, 1, 0));
    EXPECT_EQ(rescue_.finished, 1);
    EXPECT_EQ(out(), text_);
    EXPECT_EQ(result_.message[0], 0);
    damage(chunks_at + 16400);
    lseek(out_, 0, SEEK_SET);
    fill_results();
    int used = 0;
    options_.secrets_used = [](void* count) { ++*static_cast<int*>(count); };
    options_.secrets_user = &used;
    ASSERT_EQ(rescue(), WARPSEAL_NOT_AUTHENTIC);
    EXPECT_EQ(rescue_.finished, 1);
    EXPECT_EQ(used, 1);
    EXPECT_TRUE(results_are(1, chunk, 1, 0));
    Data holed = text_;
    std::fill(holed.begin() + chunk, holed.begin() + 2 * chunk, uint8_t{0});
    EXPECT_EQ(out(), holed);
    EXPECT_STREQ(result_.message, "16384 of 49252 bytes could not be rescued, in 1 hole");
    EXPECT_EQ(result_.plaintext_bytes, text_.size() - chunk);
    EXPECT_EQ(result_.output_bytes, text_.size());
    EXPECT_EQ(result_.struct_bytes, sizeof result_);
    EXPECT_EQ(rescue_.struct_bytes, sizeof rescue_);
}

TEST_F(CApiRescue, ReportsNothingAfterAFailure) {
    damage(61440);  // the payload's salt
    fill_results();
    EXPECT_EQ(rescue(), WARPSEAL_NOT_AUTHENTIC);
    EXPECT_TRUE(results_are(0, 0, 0, 0));
    EXPECT_EQ(rescue_.finished, 0);
    EXPECT_TRUE(out().empty());
    EXPECT_NE(result_.message[0], 0);
}

TEST_F(CApiRescue, InvalidArguments) {
    const auto refused = [&](warpseal_engine* engine, int in, int out,
                             const warpseal_file_options* options, warpseal_rescue* rescue) {
        result_.message[0] = 0;
        return warpseal_file_rescue(engine, in, out, options, rescue, &result_) ==
                   WARPSEAL_INVALID_ARGUMENT &&
               result_.message[0] != 0 && *result_.target == 0;
    };
    EXPECT_TRUE(refused(nullptr, sealed(), out_, &options_, &rescue_));
    EXPECT_TRUE(refused(engine_.get(), -1, out_, &options_, &rescue_));
    EXPECT_TRUE(refused(engine_.get(), sealed(), -2, &options_, &rescue_));
    EXPECT_TRUE(refused(engine_.get(), sealed(), out_, nullptr, &rescue_));
    EXPECT_TRUE(refused(engine_.get(), sealed(), out_, &options_, nullptr));
    EXPECT_TRUE(refused(engine_.get(), sealed(), sealed_, &options_, &rescue_));
    EXPECT_EQ(warpseal_file_rescue(engine_.get(), sealed(), out_, &options_, &rescue_, nullptr),
              WARPSEAL_INVALID_ARGUMENT);
    rescue_.struct_bytes = sizeof rescue_ - 1;
    EXPECT_TRUE(refused(engine_.get(), sealed(), out_, &options_, &rescue_));
    EXPECT_TRUE(out().empty());
}

TEST_F(CApiRescue, Bindings) {
    std::vector<warpseal_file_hole> holes;
    const auto note = [&](const warpseal_file_hole& hole) { holes.push_back(hole); };
    warpseal::Rescued rescued = warpseal::rescue_file(engine_, sealed(), out_, options_, note);
    EXPECT_TRUE(rescued.whole && rescued.end_found && holes.empty());
    EXPECT_EQ(rescued.result.plaintext_bytes, text_.size());
    damage(chunks_at + 5);
    const uint8_t more[7] = {};
    EXPECT_EQ(pwrite(sealed_, more, sizeof more, lseek(sealed_, 0, SEEK_END)), 7);
    rescued = warpseal::rescue_file(engine_, sealed(), -1, options_, note);
    EXPECT_TRUE(!rescued.whole && rescued.end_found);
    EXPECT_EQ(rescued.hole_bytes, chunk);
    EXPECT_EQ(rescued.bytes_after_end, 7u);
    ASSERT_EQ(holes.size(), 1u);
    EXPECT_EQ(holes[0].offset, 0u);
    EXPECT_EQ(holes[0].bytes, chunk);
    EXPECT_EQ(holes[0].reason, WARPSEAL_HOLE_NOT_AUTHENTIC);
    const auto throws = [](const warpseal_file_hole&) { throw std::runtime_error("enough"); };
    EXPECT_THROW(warpseal::rescue_file(engine_, sealed(), -1, options_, throws),
                 std::runtime_error);
    damage(61440);
    EXPECT_THROW(warpseal::rescue_file(engine_, sealed(), -1, options_, note), warpseal::FileError);
}

}  // namespace
