// Rows of the papers' tables: printed digits, fair ratios, figures without their machine, the tally
// of distinct figures, names of tables, and the choice of rows for a reader.
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/papers/formats.h"
#include "bench/papers/json.h"
#include "bench/papers/published.h"
#include "bench/papers/tables.h"
#include "bench/papers/tally.h"
#include "bench/papers/text.h"

namespace {

using namespace warpseal::papers;

constexpr Table table{"P0", "table 0", "a subject", "", "a difference"};

TEST(Printed, KeepsTheDigitsOfThePaper) {
    EXPECT_EQ(Printed(604.48).text(), "604.48");
    EXPECT_EQ(Printed(7.4999).text(), "7.4999");
    EXPECT_EQ(Printed(12).text(), "12");
    EXPECT_EQ(Printed("7.0").text(), "7.0");
    EXPECT_EQ(Printed::computed(4.5 / 3.1).text(), "1.452");
    for (const auto& [digits, value] : {std::pair{"604.48", 604.48},
                                        {"0.625", 0.625},
                                        {"7.4999", 7.4999},
                                        {"361.30", 361.30},
                                        {"1.0", 1.0},
                                        {"11662.3", 11662.3},
                                        {"25", 25.0}})
        EXPECT_EQ(Printed(digits), value) << digits;
    EXPECT_EQ(published::p1::throughput[1].on_gtx.text(), "7.0");
    EXPECT_EQ(published::p2::layouts[1].gigabits_per_second[2].text(), "361.30");
    EXPECT_EQ(published::p4::components[2].speed_up.text(), "1.0");
}

TEST(Rows, AreJudgedAsSpeeds) {
    Row seconds{.table = &table, .unit = "s", .published = 10, .method = 5, .ours = 1};
    EXPECT_EQ(seconds.method_over_published(), 2);
    EXPECT_EQ(seconds.ours_over_published(), 10);
    EXPECT_EQ(seconds.ours_over_method(), 5);
    EXPECT_EQ(seconds.beats(), true);
    Row rate{.table = &table, .unit = "GB/s", .published = 10, .method = 5, .ours = 20};
    EXPECT_EQ(rate.method_over_published(), 0.5);
    EXPECT_EQ(rate.ours_over_published(), 2);
    EXPECT_EQ(rate.ours_over_method(), 4);
    EXPECT_EQ(rate.beats(), true);
    rate.ours = 7;  // faster than the method here, slower than published
    EXPECT_EQ(rate.beats(), false);
    rate.method = 30, rate.ours = 20;
    EXPECT_EQ(rate.beats(), false);
    rate.ours = 10, rate.method = 5;  // as fast as published
    EXPECT_EQ(rate.beats(), false);
    rate.ours = std::nullopt;
    EXPECT_EQ(rate.beats(), std::nullopt);
    for (const char* unit : {"ms", "Gbit/s"}) {
        const bool time = unit[0] == 'm';
        const Row row{
            .table = &table, .unit = unit, .published = 10, .method = 5, .ours = time ? 1 : 20};
        EXPECT_EQ(row.method_over_published(), time ? 2 : 0.5) << unit;
        EXPECT_EQ(row.ours_over_method(), time ? 5 : 4) << unit;
    }
}

TEST(Rows, QuotientsAreJudgedByThePublishedOneAlone) {
    for (const char* unit : {"times", "% of the time"}) {
        Row row{.table = &table, .unit = unit, .published = 25, .method = 100, .ours = 50};
        EXPECT_EQ(row.method_over_published(), 4) << unit;
        EXPECT_EQ(row.ours_over_published(), 2) << unit;
        EXPECT_EQ(row.beats(), true) << unit;
        row.ours = 5.7;
        EXPECT_EQ(row.beats(), false) << unit;
        row.ours = -50;
        EXPECT_EQ(row.ours_over_published(), -2) << unit;
        EXPECT_EQ(row.beats(), false) << "more time instead of less is judged too";
    }
}

TEST(Rows, AreNotJudgedIfNeitherSideIsBetter) {
    for (const char* unit : {"registers", "bytes", "operations", "%", "threads", "points"}) {
        const Row row{.table = &table, .unit = unit, .published = 10, .method = 5, .ours = 20};
        EXPECT_EQ(row.higher_is_better(), std::nullopt) << unit;
        EXPECT_EQ(row.method_over_published(), std::nullopt) << unit;
        EXPECT_EQ(row.beats(), std::nullopt) << unit;
    }
    const Row slower{.table = &table,
                     .unit = "times",
                     .published = 1,
                     .published_bound = "below",
                     .method = 5,
                     .ours = 20};
    EXPECT_EQ(slower.method_over_published(), std::nullopt);
    EXPECT_EQ(slower.beats(), std::nullopt) << "an upper bound is not a figure to reach";
}

TEST(Rows, LoseTheirMachine) {
    const published::Machine& gtx = published::machines[1];
    ASSERT_EQ(gtx.name, published::p1::gtx);
    Row rate{
        .table = &table, .unit = "Gbit/s", .published = 16 * 1.35, .method = 264, .ours = 2640};
    rate.published_on = gtx.name;
    rate.method_units = rate.ours_units = {true, 132, 2};
    PerUnit units = per_unit(rate);
    EXPECT_STREQ(units.of, "multiprocessor and GHz");
    EXPECT_EQ(units.published, 1);
    EXPECT_EQ(units.method, 1);
    EXPECT_EQ(units.method_over_published, 1);
    EXPECT_EQ(units.ours_over_published, 10);
    rate.published_units = 1;
    EXPECT_EQ(per_unit(rate).published, 16);
    rate.ours_units = {false, 16, 3};
    EXPECT_EQ(per_unit(rate).ours, std::nullopt) << "cores are no multiprocessors";
    rate.method_units = {true, 132, 0};
    EXPECT_EQ(per_unit(rate).method, std::nullopt) << "no clock";

    Row time{.table = &table, .unit = "s", .published = 3, .method = 1};
    time.published_on = published::p5::cpu;
    time.published_units = 1;
    time.method_units = {false, 2, 2};
    units = per_unit(time);
    EXPECT_STREQ(units.of, "core and GHz");
    EXPECT_DOUBLE_EQ(*units.published, 3 * 1.66);
    EXPECT_EQ(units.method, 4) << "a time grows with what it needed";
    EXPECT_DOUBLE_EQ(*units.method_over_published, 3 * 1.66 / 4);
    time.unit = "times";
    EXPECT_STREQ(per_unit(time).of, "") << "a quotient has no machine";
}

TEST(Rows, AreNoisyAboveATenth) {
    Row row{.table = &table};
    EXPECT_FALSE(row.noisy());
    row.method_spread = 1.09;
    EXPECT_FALSE(row.noisy());
    row.ours_spread = 1.11;
    EXPECT_TRUE(row.noisy());
    row.ours_spread = std::nullopt, row.method_spread = 1.11;
    EXPECT_TRUE(row.noisy());
    EXPECT_NE(row_text(row).find("(noisy)"), std::string::npos);
    EXPECT_EQ(json_row(row)["noisy"], true);
    EXPECT_EQ(json_row(row)["method_spread"], 1.11);
}

TEST(Rows, ListWhatDidNotRun) {
    Row row{.table = &table, .row = "AES", .unit = "s", .published = 10, .not_run = "no GPU"};
    EXPECT_TRUE(row.bare());
    EXPECT_NE(row_text(row).find("not run: no GPU"), std::string::npos) << row_text(row);
    row.method = 5;
    EXPECT_FALSE(row.bare());
    EXPECT_NE(row_text(row).find("(not run: no GPU)"), std::string::npos) << row_text(row);
}

TEST(Rows, ShowBoundsAndScalesInWords) {
    const Row row{.table = &table,
                  .row = "AES",
                  .unit = "times",
                  .published = 25,
                  .published_bound = "at least",
                  .ours = 5.74,
                  .scaled = "half of it"};
    EXPECT_EQ(published_text(row), "at least 25");
    EXPECT_EQ(title_text(row), "P0 table 0: a subject [half of it]");
    EXPECT_EQ(json_row(row)["title"], "a subject [half of it]");
}

// A tally of six rows: two of one figure, of which one misses, a quotient that misses, a time that
// beats, and a row that is not judged.
TEST(Tally, CountsDistinctFiguresAndNamesWhatIsMissed) {
    Tally tally;
    tally.take({.table = &table,
                .row = "on one card",
                .unit = "GB/s",
                .published = 10,
                .method = 5,
                .ours = 20,
                .method_what = "step",
                .figure = "AES"});
    tally.take({.table = &table,
                .row = "on another",
                .unit = "GB/s",
                .published = 30,
                .method = 5,
                .ours = 20,
                .method_what = "step",
                .figure = "AES"});
    tally.take({.table = &table,
                .row = "GPU over cores",
                .unit = "times",
                .published = 25,
                .published_bound = "at least",
                .method = 32,
                .ours = 5.74});
    tally.take({.table = &table,
                .row = "decryption",
                .unit = "s",
                .published = 10,
                .method = 5,
                .ours = 1});
    tally.take({.table = &table, .row = "decryption", .unit = "ms", .published = 10, .method = 5});
    tally.take({.table = &table, .row = "shared", .unit = "bytes", .published = 1, .method = 5});
    EXPECT_EQ(tally.judged(), 3u);
    EXPECT_EQ(tally.beaten(), 1u);
    EXPECT_EQ(tally.methods_judged(), 4u);
    EXPECT_EQ(tally.methods_below(), 1u);
    const std::string text = tally.text();
    EXPECT_EQ(text.find("\nNot beaten by our default:\n"
                        "  P0 table 0, on another: our default has 20 of 30 GB/s published "
                        "(0.667x)\n"
                        "  P0 table 0, GPU over cores: our default has 5.74 of at least 25 times "
                        "published (0.23x)\n"),
              0u)
        << text;
    EXPECT_NE(text.find("1 of 3 distinct figures"), std::string::npos) << text;
    EXPECT_NE(tally.text("- ").find("\n- P0 table 0, on another"), std::string::npos);
    EXPECT_NE(text.find("1 of 4 methods are below"), std::string::npos) << text;
    EXPECT_NE(text.find("  P0 table 0, on one card: the method has 5 of 10 GB/s"),
              std::string::npos)
        << text;
}

TEST(Tally, WithoutFiguresSaysSo) {
    Tally tally;
    EXPECT_EQ(tally.text(),
              "\nNo figure was compared with a published one: none was measured here.\n");
    tally.take({.table = &table, .row = "AES", .unit = "GB/s", .published = 10, .ours = 20});
    EXPECT_NE(tally.text().find("1 of 1 distinct figures"), std::string::npos);
}

TEST(Tally, NamesADefaultThatThePapersMethodOvertakes) {
    Tally tally;
    tally.take(
        {.table = &table, .row = "AES", .unit = "GB/s", .published = 10, .method = 30, .ours = 20});
    EXPECT_EQ(tally.beaten(), 0u);
    EXPECT_NE(tally.text().find("the paper's method here 30 GB/s"), std::string::npos)
        << tally.text();
}

TEST(Tables, AreFoundByKindAndNumber) {
    const auto is = [](const char* name, const char* asked) {
        const Table one{"P0", name, "", "", ""};
        return is_table(one, asked);
    };
    EXPECT_TRUE(is("table 3", "3"));
    EXPECT_TRUE(is("table 3", "Table 3"));
    EXPECT_TRUE(is("table 3, by multiprocessors", "3"));
    EXPECT_TRUE(is("table 3, by multiprocessors", "table 3, by multiprocessors"));
    EXPECT_FALSE(is("table 3", "table 3, by multiprocessors"));
    EXPECT_FALSE(is("figure 3", "3"));
    EXPECT_TRUE(is("figures 8 to 11", "figure 9"));
    EXPECT_TRUE(is("figures 8 to 11", "figures 8 to 11"));
    EXPECT_FALSE(is("figures 8 to 11", "figure 12"));
    EXPECT_TRUE(is("figures 6 and 7", "figure 7"));
    EXPECT_FALSE(is("figures 5 and 7", "figure 6"));
    EXPECT_TRUE(is("section 4.2", "section 4.2"));
    EXPECT_FALSE(is("section 4.2", "section 4"));
    EXPECT_TRUE(is("speed-up", "speed-up"));
    for (const char* nonsense : {"", "table", "to 3", "tables 1 to 5", "3 4", ","})
        EXPECT_FALSE(is("table 3", nonsense)) << nonsense;
}

constexpr Table other_table{"P0", "table 1", "another subject", "", ""};
constexpr const Table* own_tables[] = {&table, &other_table};
const Paper paper{"P0", "a paper", own_tables, nullptr};

std::vector<Row> many_rows(size_t measured) {
    std::vector<Row> rows(measured, {.table = &other_table, .row = "of a curve", .method = 1});
    rows.push_back({.table = &table, .row = "printed", .unit = "ms", .published = 1, .method = 2});
    rows.push_back(
        {.table = &table, .row = "of sizes", .unit = "bytes", .published = 1, .method = 1});
    rows.push_back({.table = &table, .row = "absent", .published = 1, .not_run = "no GPU"});
    return rows;
}

size_t count(const std::string& text, const std::string& what) {
    size_t times = 0;
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++times;
    return times;
}

TEST(Formats, AScreenHasWhatFits) {
    for (const auto text_of : {paper_text, markdown_text}) {
        const std::string few = text_of(paper, many_rows(48), {}),
                          many = text_of(paper, many_rows(49), {}),
                          all = text_of(paper, many_rows(49), {.all = true});
        EXPECT_EQ(count(few, "of a curve"), 48u);
        EXPECT_EQ(count(few, "of sizes"), 1u);
        EXPECT_EQ(count(many, "of sizes"), 0u);
        EXPECT_EQ(count(many, "printed"), 1u);
        EXPECT_EQ(count(many, "of a curve"), 0u);
        EXPECT_EQ(count(many, "P0: 50 more rows have no published figure"), 1u) << many;
        EXPECT_EQ(count(many, "P0: rows that were not measured: 1 (no GPU)"), 1u) << many;
        EXPECT_EQ(count(all, "of a curve"), 49u);
        EXPECT_EQ(count(all, "absent"), 1u);
        EXPECT_EQ(count(all, "printed"), 1u);
        EXPECT_EQ(count(all, "more rows") + count(all, "not measured:"), 0u) << all;
        const std::string without =
            text_of(paper, many_rows(1), {.all = false, .no_gpu = "no GPU"});
        EXPECT_EQ(count(without, "P0: needs an NVIDIA GPU (no GPU) for 1 of its"), 1u) << without;
        EXPECT_EQ(count(without, "absent"), 0u) << without;
    }
}

TEST(Formats, MarkNoisyRows) {
    const std::vector<Row> rows{
        {.table = &table, .row = "a | b", .method = 1, .not_run = "no GPU", .ours_spread = 1.2}};
    EXPECT_EQ(count(paper_text(paper, rows, {}), "(noisy)"), 1u);
    const std::string markdown = markdown_text(paper, rows, {});
    EXPECT_EQ(count(markdown, "| noisy; not run: no GPU |"), 1u) << markdown;
    EXPECT_EQ(count(markdown, "| a \\| b |"), 1u) << markdown;
}

TEST(Formats, ATitleSaysWhatIsScaledInAnyOfItsRows) {
    std::vector<Row> rows{{.table = &table, .row = "full", .method = 1},
                          {.table = &table, .row = "part", .method = 1, .scaled = "1 of 2 ran"}};
    EXPECT_EQ(count(paper_text(paper, rows, {}), "a subject [1 of 2 ran]"), 1u);
}

TEST(Formats, CsvQuotesItsFields) {
    const Row row{.table = &table, .row = "a \"b\", c", .unit = "s", .published = 1, .method = 2};
    const std::string text = csv_text({row, row});
    EXPECT_EQ(text.find("paper,table,title,row,unit,"), 0u) << text;
    EXPECT_EQ(count(text, "P0,table 0,a subject,\"a \"\"b\"\", c\",s,"), 2u) << text;
    EXPECT_EQ(count(text, "\r\n"), 3u) << "a head and two rows";
}

}  // namespace
