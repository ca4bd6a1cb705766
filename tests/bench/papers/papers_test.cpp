// Foundations of the studies in bench/papers: methods that compute AES, a comparison that detects a
// planted byte, and counts.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "bench/papers/kinds.h"
#include "bench/papers/methods.h"
#include "bench/papers/openmp.h"
#include "bench/papers/p4_estimates.h"
#include "bench/papers/p4_tables.h"
#include "bench/papers/p5_tables.h"
#include "bench/papers/p5_times.h"
#include "bench/papers/published.h"
#include "core/known_answer.h"
#include "warpseal/warpseal.h"

namespace {

using namespace warpseal;
using namespace warpseal::papers;

std::vector<uint8_t> run(const Method& way, bool encrypts, const std::vector<uint8_t>& in) {
    std::vector<uint8_t> out(in.size());
    way(encrypts, in.data(), out.data(), in.size() / 16);
    return out;
}

std::vector<uint8_t> key_of(size_t bytes) {
    std::vector<uint8_t> key(bytes);
    for (size_t i = 0; i < bytes; ++i) key[i] = static_cast<uint8_t>(i);
    return key;
}

TEST(Methods, MatchKnownBlocks) {  // FIPS 197 C.1 and C.3
    constexpr const char* plaintext = "00112233445566778899aabbccddeeff";
    const std::pair<size_t, KnownAnswer> rows[] = {
        {16, known_answer("", 0, plaintext, "69c4e0d86a7b0430d8cdb78070b4c55a")},
        {32, known_answer("", 0, plaintext, "8ea2b7ca516745bfeafc49904b496089")}};
    for (const auto& [key_bytes, known] : rows) {
        const std::vector<uint8_t> in(known.plaintext, known.plaintext + 16),
            out(known.ciphertext, known.ciphertext + 16);
        EXPECT_EQ(run(serially(key_of(key_bytes)), true, in), out);
        EXPECT_EQ(run(serially(key_of(key_bytes)), false, out), in);
    }
}

TEST(Methods, AgreeWithTheSerialOneAndTheProduct) {
    warpseal_engine* engine = nullptr;
    ASSERT_EQ(warpseal_engine_create(nullptr, &engine), WARPSEAL_OK);
    const auto key = key_of(16);
    const Method serial = serially(key);
    {
        const Method product = by_product(key, engine);
        for (const int threads : {1, 2, 3, 7})
            for (const uint64_t blocks : {1, 2, tile_states, tile_states + 3}) {
                Team team(threads);
                const std::vector<uint8_t> text = made_text(16 * blocks),
                                           ciphertext = run(serial, true, text);
                EXPECT_EQ(run(product, true, text), ciphertext);
                for (const Method& way : {inside_a_tile(key, team), over_blocks(key, team)}) {
                    EXPECT_EQ(run(way, true, text), ciphertext)
                        << threads << " threads, " << blocks << " blocks";
                    EXPECT_EQ(run(way, false, ciphertext), text)
                        << threads << " threads, " << blocks << " blocks";
                }
                const std::vector<uint8_t> head(text.begin(), text.begin() + 16);
                EXPECT_EQ(run(inside_one_state(key, team), true, head), run(serial, true, head))
                    << threads << " threads";
                EXPECT_EQ(run(inside_one_state(key, team), false, run(serial, true, head)), head)
                    << threads << " threads";
            }
    }
    warpseal_engine_destroy(engine);
}

TEST(OpenMp, ListingsEqualSerialAes) {
    if (!no_openmp().empty()) GTEST_SKIP() << no_openmp();
    const std::vector<uint8_t> text = made_text(16 * 8);
    for (const size_t key_bytes : {16, 32}) {
        const std::vector<uint8_t> ciphertext = run(serially(key_of(key_bytes)), true, text);
        for (const int threads : {1, 2, 3, 4, 7}) {
            const Method listings = by_openmp(key_of(key_bytes), threads, Temporaries::own);
            EXPECT_EQ(run(listings, true, text), ciphertext) << threads << " threads";
            EXPECT_EQ(run(listings, false, ciphertext), text) << threads << " threads";
        }
    }
}

// One thread has no race. On several the printed listings are wrong at random.
TEST(OpenMp, PrintedListingsEqualSerialAesOnOneThread) {
    if (!no_openmp().empty()) GTEST_SKIP() << no_openmp();
    const std::vector<uint8_t> text = made_text(16 * 8),
                               ciphertext = run(serially(key_of(16)), true, text);
    for (const Temporaries printed : {Temporaries::shared, Temporaries::shared_unoptimized})
        EXPECT_EQ(run(by_openmp(key_of(16), 1, printed), true, text), ciphertext);
}

TEST(OpenMp, TablesNameTheRaceAndTheContradiction) {
    const std::string printed = p5::printed_table.differs, time = p5::time_table.differs;
    for (const char* fact : {"data race", "no compiler accepts", "chance"})
        EXPECT_NE(printed.find(fact), std::string::npos) << fact;
    for (const char* fact : {"33 % in section 4.3", "30 % in its abstract",
                             "21 % in its conclusion", "extrapolated", "AES-128-GCM"})
        EXPECT_NE(time.find(fact), std::string::npos) << fact;
}

TEST(Amdahl, EqualsThePapersEstimates) {
    using namespace published::p5;
    EXPECT_NEAR(p5::amdahl(amdahl_fraction, 4), amdahl_four_cores, 0.0005);
    EXPECT_NEAR(p5::amdahl(amdahl_fraction, 0), amdahl_infinite_cores, 1e-12);
    EXPECT_EQ(p5::amdahl(0, 100), 1);
    EXPECT_EQ(p5::amdahl(1, 100), 100);
}

TEST(Estimates, SharesSumToAHundred) {
    const CoreProfile profile{200, {{0, 50}, {1, 120}}};
    EXPECT_EQ(profile.share(0), 25);
    EXPECT_EQ(profile.share(0) + profile.share(1) + profile.rest(), 100);
    for (const bool encapsulates : {true, false}) {
        const CoreProfile published = published_profile(encapsulates);
        double sum = published.rest();
        for (const auto& [part, milliseconds] : published.parts) sum += published.share(part);
        EXPECT_NEAR(sum, 100, 1e-9);
        EXPECT_NEAR(published.rest(), encapsulates ? 1.64 : 1.26, 0.01) << "not in table 5";
    }
}

TEST(Estimates, FollowAmdahlsLaw) {
    const CoreProfile profile{100, {{0, 50}, {1, 40}}};
    EXPECT_EQ(estimate(profile, {}), 1);
    EXPECT_EQ(estimate(profile, {{0, 2}}), 100 / 75.0);
    EXPECT_EQ(estimate(profile, {{0, 2}, {1, 4}}), 100 / 45.0);
}

// The paper's own tables give other estimates than its text; the table's note says so.
TEST(Estimates, OfThePapersTablesAreInTheNote) {
    std::map<std::string, double> components;
    for (const auto& component : published::p4::components)
        components[component.name] = component.speed_up;
    const std::string note = p4::estimates_table.differs;
    for (const bool encapsulates : {true, false}) {
        const CoreProfile profile = published_profile(encapsulates);
        const double product = estimate(profile, product_alone(encapsulates)),
                     parts = estimate(profile, by_components(encapsulates, components));
        EXPECT_NEAR(product, encapsulates ? 3.9 : 21.8, 0.05);
        EXPECT_NEAR(parts, encapsulates ? 8.8 : 27.6, 0.05);
        for (const double figure : {product, parts})
            EXPECT_NE(note.find(fmt::format("{:.1f}", figure)), std::string::npos) << figure;
    }
}

TEST(Methods, EveryThreadOfATeamRunsEveryStepOnce) {
    Team team(3);
    team.take_times();
    std::atomic<int> runs[3] = {};
    for (int i = 0; i < 500; ++i) team.run([&](Share share) { ++runs[share.thread]; });
    for (int thread = 0; thread < 3; ++thread) {
        EXPECT_EQ(runs[thread], 500);
        EXPECT_GT(team.seconds_at_work(thread), 0);
    }
}

TEST(Compare, APlantedByteIsDetectedAnywhere) {
    const std::vector<uint8_t> right = made_text(100);
    EXPECT_EQ(differing_bytes(right, right), 0u);
    for (size_t at = 0; at < right.size(); ++at) {
        std::vector<uint8_t> wrong = right;
        wrong[at] ^= 1;
        EXPECT_EQ(differing_bytes(right, wrong), 1u) << at;
    }
    const std::vector<uint8_t> shorter(right.begin(), right.end() - 3);
    EXPECT_EQ(differing_bytes(right, shorter), 3u);
    EXPECT_EQ(differing_bytes(shorter, right), 3u);
}

TEST(Compare, WrongBlocksAreCountedOnce) {
    const std::vector<uint8_t> right = made_text(16 * 5);
    std::vector<uint8_t> wrong = right;
    EXPECT_EQ(differing_blocks(right, wrong), 0u);
    wrong[15] ^= 1, wrong[16] ^= 1, wrong[17] ^= 1, wrong[79] ^= 1;
    EXPECT_EQ(differing_blocks(right, wrong), 3u);
}

TEST(Counts, EqualThePaperExceptItsSerialMixColumns) {
    for (size_t at = 0; at < std::size(published::p5::cores); ++at) {
        const StepCounts counted = count_operations(published::p5::cores[at]);
        const auto& [sub_bytes, shift_rows, mix_columns] = published::p5::counts;
        EXPECT_EQ(counted.sub_bytes, static_cast<uint64_t>(sub_bytes.count[at]));
        EXPECT_EQ(counted.shift_rows,
                  static_cast<uint64_t>(shift_rows.count[std::min<size_t>(at, 1)]))
            << "two sections, whatever the cores";
        EXPECT_EQ(counted.mix_columns,
                  at == 0 ? 85u : static_cast<uint64_t>(mix_columns.count[at]));
    }
}

bool has(const std::vector<uint8_t>& file, size_t at, std::string_view bytes) {
    return file.size() >= at + bytes.size() &&
           std::memcmp(file.data() + at, bytes.data(), bytes.size()) == 0;
}

TEST(Kinds, StartWithTheirFormatsHeaders) {
    const auto files = made_files(100'000);
    ASSERT_EQ(files.size(), std::size(published::p5::kinds));
    for (size_t i = 0; i < files.size(); ++i) EXPECT_EQ(files[i].kind, published::p5::kinds[i]);
    EXPECT_EQ(files[0].bytes.size(), 100'000u);
    EXPECT_TRUE(has(files[1].bytes, 0, "ID3") && has(files[1].bytes, 10, "\xff\xfb") &&
                has(files[1].bytes, 10 + 417, "\xff\xfb"));
    EXPECT_TRUE(has(files[2].bytes, 4, "ftyp") && has(files[2].bytes, 28, "mdat"));
    const auto& docx = files[3].bytes;
    uint32_t directory = 0;
    std::memcpy(&directory, docx.data() + docx.size() - 6, sizeof directory);
    EXPECT_TRUE(has(docx, 0, "PK\3\4") && has(docx, docx.size() - 22, "PK\5\6") &&
                has(docx, directory, "PK\1\2"));
    EXPECT_TRUE(has(files[4].bytes, 0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") &&
                has(files[4].bytes, 512, "HWP Document File"));
    EXPECT_EQ(files[4].bytes.size() % 512, 0u);
}

}  // namespace
