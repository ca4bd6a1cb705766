// P2: Camellia's counter mode with four tables in shared memory, and with one merged table in
// global memory, in one shared copy, and in one shared copy per bank; and their bank conflicts.

#include "bench/papers/bank_conflicts.h"
#include "bench/papers/published.h"
#include "bench/papers/study.h"
#include "cli/support/format.h"

namespace warpseal::papers {
namespace {

namespace paper = published::p2;

constexpr Table tables_table{
    "P2", "section 3.1", "Camellia-CTR with four tables in shared memory, before they are merged",
    paper::gpu,
    "no figures are published; byte-tables are the four 8-bit S-boxes of the reference code, "
    "whose bytes one permute spreads over a word, as the reference code adds them byte by byte; "
    "word-tables are OpenSSL's four 32-bit tables, once (4 KB)"};
constexpr Table layouts{
    "P2", "table 2", "Camellia-CTR, 2^35 blocks in one launch", paper::gpu,
    "the merged table of section 3.2; the method makes keystream that stays in registers, there "
    "and here; blocks of 1024 threads, as the paper does not say how many its own have; the "
    "default reads, adds and writes, and its time is computed from its rate within device memory"};
constexpr Table conflicts_table{
    "P2", "section 3.2, bank conflicts", "wavefronts of a lookup by 32 lanes, Camellia-128",
    "no figures are published",
    "not counted by a GPU but computed on the host: 32 lanes run on consecutive counters, and an "
    "access takes a wavefront for each different word in its fullest bank; 1 is free of "
    "conflicts; the paper says that 8-bit tables cause conflicts, as a bank has four bytes in a "
    "word, but lanes that read one word do not conflict"};
constexpr Table savings{
    "P2", "section 4.2", "time saved over the table in global memory", paper::gpu,
    "of this machine's own figures; GPUs since 2017 cache global memory in the very memory that "
    "is shared; for keys of 192 and 256 bits the published figures are computed from table 2, "
    "by which \"at most 25.21 %\" is exceeded; the row in points is the difference of the two "
    "above it"};

constexpr const char* first_layouts[] = {"byte-tables", "word-tables"};
constexpr const char* steps[] = {"global", "merged", "merged-copies"};
constexpr double blocks_bits = 128.0 * paper::blocks;

double seconds_at(double gigabytes_per_second) {
    return blocks_bits / 8 / 1e9 / gigabytes_per_second;
}

void take_pair(Study& study, const paper::Layout& layout, int key, const Study::StepFigure& method,
               const Figure& ours) {
    for (const bool as_time : {true, false}) {
        const auto convert = as_time ? seconds_at : as_gigabits;
        Row row{.table = &layouts,
                .row = cli::format("Camellia-{}, {}", paper::key_bits[key], layout.name),
                .unit = as_time ? "s" : "Gbit/s"};
        row.published = as_time ? layout.seconds[key] : layout.gigabits_per_second[key];
        set_method(row, method, convert);
        set_ours(row, ours, convert);
        row.figure = cli::format("P2 Camellia-{} on a GPU", paper::key_bits[key]);
        if (method.gigabytes_per_second) {
            const uint64_t blocks = method.measured.bytes / 16;
            if (blocks < paper::blocks)
                row.scaled = cli::format("{} of 2^35 blocks ran; times are scaled", blocks);
            row.more.emplace_back("method_blocks", static_cast<double>(blocks));
            row.more.emplace_back("method_milliseconds", method.measured.milliseconds);
        }
        study.take(row);
    }
}

class Reproduction {
public:
    explicit Reproduction(Study& study) : study_(study) {}

    void run() {
        if (study_.wants(tables_table))
            for (const char* layout : first_layouts)
                for (const int key_bits : paper::key_bits) print_tables(layout, key_bits);
        if (study_.wants(layouts) || study_.wants(savings))
            for (size_t layout = 0; layout < std::size(steps); ++layout)
                for (int key = 0; key < 3; ++key) print_layout(layout, key);
        print_conflicts();
        for (int key = 0; key < 3; ++key) print_savings(key);
    }

private:
    Study::StepFigure step(const char* layout, int key_bits) {
        return study_.step(cli::format("camellia-{}.{}", key_bits, layout),
                           study_.limited(16 * paper::blocks), 0, 1);
    }
    const Figure& ours(int key_bits) {
        return study_.on_gpu(cli::format("camellia-{}-ctr", key_bits), true,
                             study_.limited(uint64_t{1} << 30));
    }

    void print_tables(const char* layout, int key_bits) {
        const auto figure = step(layout, key_bits);
        Row row{.table = &tables_table,
                .row = cli::format("Camellia-{}, {}", key_bits, layout),
                .unit = "Gbit/s"};
        set_method(row, figure, as_gigabits);
        set_ours(row, ours(key_bits), as_gigabits);
        if (row.method) add_kernel(row, figure.measured);
        study_.take(row);
    }

    void print_layout(size_t layout, int key) {
        const auto method = step(steps[layout], paper::key_bits[key]);
        take_pair(study_, paper::layouts[layout], key, method, ours(paper::key_bits[key]));
        rates_[layout][key] = method.gigabytes_per_second.value_or(0);
        if (not_run_.empty()) not_run_ = method.not_run;
        scaled_ = method.scaled;
    }

    void print_conflicts() {
        const auto print = [&](const char* layout) {
            const auto conflicts = bank_conflicts(layout);
            if (!conflicts) return;
            Row row{.table = &conflicts_table,
                    .row = layout,
                    .unit = "wavefronts",
                    .method = conflicts->mean,
                    .method_what = "simulated for 256 warps"};
            row.more.emplace_back("most_wavefronts", conflicts->most);
            study_.take(row);
        };
        for (const char* layout : first_layouts) print(layout);
        for (const char* layout : steps) print(layout);
    }

    double saved(size_t layout, int key) const {
        return 100 * (1 - rates_[0][key] / rates_[layout][key]);
    }

    void take_saving(const char* name, const char* unit, int key, Printed published, size_t layout,
                     double minus) {
        Row row{.table = &savings,
                .row = cli::format("Camellia-{}, {}", paper::key_bits[key], name),
                .unit = unit,
                .published = published,
                .published_bound = unit == std::string_view("points") ? "about" : "",
                .not_run = not_run_,
                .scaled = scaled_};
        if (not_run_.empty()) row.method = saved(layout, key) - minus;
        study_.take(row);
    }

    void print_savings(int key) {
        for (size_t layout = 1; layout < std::size(steps); ++layout)
            take_saving(
                paper::layouts[layout].name, "% of the time", key,
                key == 0 ? Printed(paper::saved[layout - 1])
                         : Printed::computed(paper::saved_by_table(static_cast<int>(layout), key)),
                layout, 0);
        if (key == 0)
            take_saving("the copies beyond one copy", "points", key, paper::saved_more, 2,
                        not_run_.empty() ? saved(1, key) : 0);
    }

    Study& study_;
    double rates_[std::size(steps)][3] = {};
    std::string not_run_, scaled_;
};

// All tables, in the order of their rows.
constexpr const Table* all_tables[] = {&tables_table, &layouts, &conflicts_table, &savings};

}  // namespace

constinit const Paper paper_p2{"P2",
                               "Camellia-CTR without bank conflicts (Eum, Song, Kim and Seo, 2025)",
                               all_tables, [](Study& study) { Reproduction(study).run(); }};

}  // namespace warpseal::papers
