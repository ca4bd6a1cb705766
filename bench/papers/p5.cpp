// P5: compares methods of AES on all cores: their output, time, operation counts and thread
// utilization.

#include <algorithm>

#include "bench/papers/files.h"
#include "bench/papers/kinds.h"
#include "bench/papers/methods.h"
#include "bench/papers/openmp.h"
#include "bench/papers/p5_tables.h"
#include "bench/papers/p5_times.h"
#include "bench/papers/study.h"
#include "bench/papers/thread_use.h"
#include "cli/support/format.h"

namespace warpseal::papers {
namespace {

using namespace p5;

class Reproduction {
public:
    explicit Reproduction(Study& study)
        : study_(study),
          cores_(static_cast<int>(study.cores())),
          two_(paper::parallel_threads),
          everywhere_(cores_),
          serial_(serially(key_)),
          product_(by_product(key_, study.engine(study.cores()))),
          few_(blocks_in_time(study, inside_one_state(key_, two_))) {}

    void run() {
        if (study_.wants(kinds_table)) compare_kinds();
        if (study_.wants(counts_table)) count();
        if (study_.wants(printed_table)) count_wrong_blocks();
        if (study_.wants(time_table) || study_.wants(variants_table)) print_times(study_);
        if (study_.wants(tiles_table)) print_tiles(study_);
        if (study_.wants(forks_table)) time_forks();
        if (study_.wants(cores_table)) print_speed_up(study_);
        if (study_.wants(amdahl_table)) print_amdahl(study_);
        if (study_.wants(profile_table)) profile();
    }

private:
    // Compares each file's output of all methods with the serial one, for encryption and
    // decryption.
    void compare_kinds() {
        const bool own = !study_.options().files.empty();
        const auto files =
            own ? files_in(study_.options().files) : made_files(study_.limited(1 << 20));
        const Method tile = inside_a_tile(key_, two_), state = inside_one_state(key_, two_),
                     blocks = over_blocks(key_, everywhere_);
        const bool has_openmp = no_openmp().empty();
        const Method openmp =
            has_openmp ? by_openmp(key_, paper::parallel_threads, Temporaries::own) : state;
        const uint64_t openmp_blocks = std::min(few_, blocks_in_time(study_, openmp));
        for (const KindOfFile& file : files) {
            const auto plaintext = padded(file.bytes), ciphertext = run(serial_, true, plaintext);
            if (differing_bytes(run(serial_, false, ciphertext), plaintext) != 0)
                study_.wrong(file.kind + ": serial AES does not come back");
            const auto head = std::min<size_t>(plaintext.size(), 16 * openmp_blocks);
            for (const bool encrypts : {true, false}) {
                const auto &in = encrypts ? plaintext : ciphertext,
                           &expected = encrypts ? ciphertext : plaintext;
                Row row{
                    .table = &kinds_table,
                    .row = cli::format("{}, {}", file.kind, encrypts ? "encryption" : "decryption"),
                    .unit = "bytes"};
                if (!own) row.published = 0;
                row.method = static_cast<double>(
                    differing_bytes(run(state, encrypts, first(in, head)), first(expected, head)) +
                    differing_bytes(run(openmp, encrypts, first(in, head)), first(expected, head)) +
                    differing_bytes(run(tile, encrypts, in), expected) +
                    differing_bytes(run(blocks, encrypts, in), expected));
                row.method_what = cli::format(
                    "{}threads inside one state, inside tiles of states, and over blocks",
                    has_openmp ? "OpenMP, " : "");
                row.ours =
                    static_cast<double>(differing_bytes(run(product_, encrypts, in), expected));
                row.ours_what = "aes-128-ecb, all cores";
                row.more = {{"bytes", static_cast<double>(in.size())},
                            {"bytes_inside_one_state", static_cast<double>(head)}};
                study_.take(row);
                if (*row.method != 0 || *row.ours != 0)
                    study_.wrong(row.row + " of P5: outputs differ");
            }
        }
    }

    void count() {
        for (size_t at = 0; at < std::size(paper::cores); ++at) {
            const StepCounts counted = count_operations(paper::cores[at]);
            const uint64_t by_step[] = {counted.sub_bytes, counted.shift_rows, counted.mix_columns};
            for (size_t step = 0; step < std::size(paper::counts); ++step) {
                const paper::Counts& published = paper::counts[step];
                const char* formula = published.formula[at];
                Row row{
                    .table = &counts_table,
                    .row = cli::format("{}, {} core{}{}{}", published.step, paper::cores[at],
                                       at ? "s" : "", formula ? ": " : "", formula ? formula : ""),
                    .unit = "operations"};
                if (formula) row.published = published.count[at];
                row.method = static_cast<double>(by_step[step]);
                row.method_what = "counted in the listing's thread with most";
                study_.take(row);
            }
        }
    }

    // Counts blocks that differ from serial AES, by the listings on two threads.
    void count_wrong_blocks() {
        count_wrong_blocks("temporaries of each thread", Temporaries::own);
        count_wrong_blocks("shared temporaries", Temporaries::shared);
        count_wrong_blocks("shared temporaries, compiled without optimization",
                           Temporaries::shared_unoptimized);
    }

    void count_wrong_blocks(const char* name, Temporaries temporaries) {
        Row row{.table = &printed_table,
                .row = name,
                .unit = "blocks",
                .published = 0,
                .not_run = no_openmp()};
        if (row.not_run.empty()) {
            const Method method = by_openmp(key_, paper::parallel_threads, temporaries);
            const uint64_t blocks = 4 * blocks_in_time(study_, method);
            const auto in = made_text(16 * blocks);
            const uint64_t wrong = differing_blocks(run(method, true, in), run(serial_, true, in));
            row.method = static_cast<double>(wrong);
            row.method_what = cli::format("the listings with OpenMP, of {} blocks", blocks);
            row.more = {{"blocks", static_cast<double>(blocks)},
                        {"wrong_percent", 100 * *row.method / static_cast<double>(blocks)}};
            if (temporaries == Temporaries::own && wrong != 0)
                study_.wrong("P5: the listings with OpenMP are wrong");
        }
        study_.take(row);
    }

    void time_forks() {
        take_fork_row("one block, serially", "ns", 1e9 * block_seconds(study_, serial_, true, few_),
                      few_);
        for (const int threads : {2, 4}) {
            if (threads > std::max(cores_, 2)) {
                study_.take({.table = &forks_table,
                             .row = cli::format("{} threads", threads),
                             .unit = "ns",
                             .not_run = cli::format("there are {} cores", cores_)});
                continue;
            }
            time_forks_by_openmp(threads);
            Team team(threads);
            take_fork_row(cli::format("a fork and a join, {} threads of ours", threads), "ns",
                          1e9 * seconds_of_a_fork([&] { team.run([](Share) {}); }), 0);
            take_block_rows(cli::format("{} threads of ours", threads),
                            inside_one_state(key_, team));
        }
    }

    void time_forks_by_openmp(int threads) {
        const std::string how = cli::format("{} threads of OpenMP", threads);
        const std::string fork = "a fork and a join, " + how;
        if (!no_openmp().empty()) {
            study_.take({.table = &forks_table, .row = fork, .unit = "ns", .not_run = no_openmp()});
            return;
        }
        take_fork_row(fork, "ns", 1e9 * seconds_of_a_fork([&] { fork_by_openmp(threads, 1); }), 0);
        take_block_rows(how, by_openmp(key_, threads, Temporaries::own));
    }

    void take_block_rows(const std::string& how, const Method& method) {
        // ten rounds of three steps, the last without MixColumns
        constexpr int forks_of_a_block = 3 * 10 - 1;
        const uint64_t blocks = blocks_in_time(study_, method);
        const double block = block_seconds(study_, method, true, blocks);
        take_fork_row(cli::format("one block, {}, {} forks", how, forks_of_a_block), "ns",
                      1e9 * block, blocks);
        take_fork_row(cli::format("100 MB so, {}, extrapolated", how), "s",
                      block * (paper::file_bytes / 16.0), blocks);
    }

    void take_fork_row(std::string name, const char* unit, double method, uint64_t blocks) {
        Row row{.table = &forks_table, .row = std::move(name), .unit = unit, .method = method};
        row.more.emplace_back("blocks", static_cast<double>(blocks));
        study_.take(row);
    }

    double seconds_of_a_fork(const std::function<void()>& fork) const {
        constexpr int forks = 100;
        return study_.seconds_of([&] {
            for (int i = 0; i < forks; ++i) fork();
        }) / forks;
    }

    void profile() {
        const uint64_t blocks = study_.limited(32 << 20) / 16;
        std::vector<uint8_t> in(16 * blocks), out(in.size());
        take_threads("serial", paper::serial_threads,
                     shares_on_core([&] { serial_(true, in.data(), out.data(), blocks); }));
        profile_openmp(in, out);
        {
            Team team(paper::parallel_threads);
            const Method tile = inside_a_tile(key_, team), state = inside_one_state(key_, team);
            take_threads("two threads, tiles of states", {},
                         shares_on_core([&] { tile(true, in.data(), out.data(), blocks); }));
            take_at_work("inside tiles of states", team, tile, in, out, blocks);
            take_at_work("inside one state", team, state, in, out, std::min(few_, blocks));
        }
        const auto shares = shares_on_core([&] { product_(true, in.data(), out.data(), blocks); });
        for (size_t thread = 0; thread < shares.size(); ++thread) {
            Row row{.table = &profile_table,
                    .row = cli::format("the product's thread {} of {}, on a core", thread + 1,
                                       shares.size())};
            row.unit = "% of the time";
            row.ours = 100 * shares[thread];
            row.ours_what = "aes-128-ecb, all cores";
            study_.take(row);
        }
    }

    void profile_openmp(const std::vector<uint8_t>& in, std::vector<uint8_t>& out) {
        constexpr const char* name = "two threads, OpenMP";
        if (!no_openmp().empty()) {
            study_.take({.table = &profile_table,
                         .row = cli::format("threads that ran, {}", name),
                         .unit = "threads",
                         .published = paper::parallel_threads,
                         .not_run = no_openmp()});
            return;
        }
        const Method method = by_openmp(key_, paper::parallel_threads, Temporaries::own);
        const uint64_t blocks = std::min<uint64_t>(blocks_in_time(study_, method), in.size() / 16);
        take_threads(name, paper::parallel_threads,
                     shares_on_core([&] { method(true, in.data(), out.data(), blocks); }));
    }

    // Returns the fractions of CPU time of busy threads, over repetitions long enough for the
    // kernel's accounting.
    std::vector<double> shares_on_core(const std::function<void()>& work) const {
        const ThreadUse use;
        study_.seconds_of(work);
        return use.shares();
    }

    void take_threads(const char* name, std::optional<double> published,
                      const std::vector<double>& shares) {
        Row row{.table = &profile_table,
                .row = cli::format("threads that ran, {}", name),
                .unit = "threads"};
        row.published = published;
        row.method = static_cast<double>(shares.size());
        row.method_what = "counted by the kernel's account";
        for (size_t thread = 0; thread < shares.size(); ++thread)
            row.more.emplace_back(cli::format("thread_{}_percent_on_a_core", thread + 1),
                                  100 * shares[thread]);
        study_.take(row);
    }

    void take_at_work(const char* name, Team& team, const Method& method,
                      const std::vector<uint8_t>& in, std::vector<uint8_t>& out, uint64_t blocks) {
        team.take_times();
        const auto begin = std::chrono::steady_clock::now();
        method(true, in.data(), out.data(), blocks);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        for (int thread = 0; thread < team.threads(); ++thread) {
            Row row{.table = &profile_table,
                    .row = cli::format("{}, thread {} of {}, at work", name, thread + 1,
                                       team.threads())};
            row.unit = "% of the time";
            row.method = 100 * team.seconds_at_work(thread) / took.count();
            row.method_what = name;
            study_.take(row);
        }
    }

    static std::vector<uint8_t> first(const std::vector<uint8_t>& data, size_t bytes) {
        return {data.begin(), data.begin() + static_cast<ptrdiff_t>(bytes)};
    }
    static std::vector<uint8_t> run(const Method& method, bool encrypts,
                                    const std::vector<uint8_t>& in) {
        std::vector<uint8_t> out(in.size());
        method(encrypts, in.data(), out.data(), in.size() / 16);
        return out;
    }

    Study& study_;
    const std::vector<uint8_t> key_ = study_key();
    const int cores_;
    Team two_, everywhere_;
    const Method serial_, product_;
    const uint64_t few_;  // blocks for runs with threads inside one state
};

// All tables, in the order of their rows.
constexpr const Table* all_tables[] = {&kinds_table,    &counts_table, &printed_table, &time_table,
                                       &variants_table, &tiles_table,  &forks_table,   &cores_table,
                                       &amdahl_table,   &profile_table};

}  // namespace

constinit const Paper paper_p5{"P5", "AES on several cores with OpenMP (Park and Oh)", all_tables,
                               [](Study& study) { Reproduction(study).run(); }};

}  // namespace warpseal::papers
