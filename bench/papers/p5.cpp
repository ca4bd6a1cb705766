// P5: compares methods of AES on all cores: their output, time, operation counts and thread
// utilization.
#include <fmt/core.h>

#include <algorithm>

#include "bench/papers/files.h"
#include "bench/papers/kinds.h"
#include "bench/papers/methods.h"
#include "bench/papers/published.h"
#include "bench/papers/study.h"
#include "bench/papers/thread_use.h"
#include "bench/report/figures.h"

namespace warpseal::papers {
namespace {

namespace paper = published::p5;

constexpr Table kinds_table{"P5", "table 4", "bytes that differ from serial AES, by kind of file",
                            paper::cpu,
                            "AES-128-ECB with PKCS#7, of which the paper says nothing; the method "
                            "is threads inside one state (part of the file, "
                            "for its slowness) and inside tiles of states, the default the "
                            "product's public call on all cores"};
constexpr Table counts_table{
    "P5", "tables 5 to 9", "operations of the busiest core for one state, T(4)", "by its formulas",
    "counted as the listings run; a column of MixColumns counts 20 here and in the paper's "
    "parallel form, 22 in its serial one"};
constexpr Table time_table{
    "P5", "figures 6 and 7", "a text file of 100 MB, from file to file", paper::cpu,
    "files in memory (--directory); the method of two threads shares rows and columns of tiles of "
    "states, AddRoundKey "
    "too, as the authors would today; the default is the product's public call on all cores"};
constexpr Table forks_table{"P5", "section 4.3, fork and join", "what dividing one state costs",
                            paper::cpu,
                            "the paper names the cost and gives no figure; threads wait by "
                            "looking, and 100 MB is extrapolated from the blocks that ran"};
constexpr Table cores_table{
    "P5", "speed-up",
    "by threads: the method against the serial way, the default against one thread of its own",
    paper::cpu,
    "in memory; the paper's own two threads against its serial way, from its figures 6 and 7; four "
    "is all that a state's rows and "
    "columns divide into"};
constexpr Table profile_table{"P5", "figures 8 to 11", "how busy threads are", paper::cpu,
                              "the figures are drawings, of which only the number of threads is a "
                              "number; at work: within its share of a step by "
                              "the clock, whose reading counts; on a core: by the kernel's "
                              "account, waiting by looking included"};

std::vector<uint8_t> key_of_the_study() {
    std::vector<uint8_t> key(16);
    for (size_t i = 0; i < key.size(); ++i) key[i] = static_cast<uint8_t>(17 * i);
    return key;
}

class Reproduction {
public:
    explicit Reproduction(Study& study)
        : study_(study),
          cores_(static_cast<int>(study.cores())),
          two_(paper::parallel_threads),
          everywhere_(cores_),
          serial_(serially(key_)),
          product_(by_product(key_, study.engine(study.cores()))),
          few_(blocks_in_time(inside_one_state(key_, two_))) {}

    void run() {
        if (study_.wants(kinds_table)) compare_kinds();
        if (study_.wants(counts_table)) count();
        if (study_.wants(time_table)) time_text_file();
        if (study_.wants(forks_table)) time_forks();
        if (study_.wants(cores_table)) speed_up();
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
        for (const KindOfFile& file : files) {
            const auto plaintext = padded(file.bytes), ciphertext = run(serial_, true, plaintext);
            if (differing_bytes(run(serial_, false, ciphertext), plaintext) != 0)
                study_.wrong(file.kind + ": serial AES does not come back");
            const auto head = std::min<size_t>(plaintext.size(), 16 * few_);
            for (const bool encrypts : {true, false}) {
                const auto &in = encrypts ? plaintext : ciphertext,
                           &expected = encrypts ? ciphertext : plaintext;
                Row row{
                    .table = &kinds_table,
                    .row = fmt::format("{}, {}", file.kind, encrypts ? "encryption" : "decryption"),
                    .unit = "bytes"};
                if (!own) row.published = 0;
                row.method = static_cast<double>(
                    differing_bytes(run(state, encrypts, first(in, head)), first(expected, head)) +
                    differing_bytes(run(tile, encrypts, in), expected) +
                    differing_bytes(run(blocks, encrypts, in), expected));
                row.method_what =
                    "threads inside one state, inside tiles of states, and over blocks";
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
                    .row = fmt::format("{}, {} core{}{}{}", published.step, paper::cores[at],
                                       at ? "s" : "", formula ? ": " : "", formula ? formula : ""),
                    .unit = "operations"};
                if (formula) row.published = published.count[at];
                row.method = static_cast<double>(by_step[step]);
                row.method_what = "counted in the listing's thread with most";
                study_.take(row);
            }
        }
    }

    void time_text_file() {
        const TextFile file(study_.options().directory, study_.limited(paper::file_bytes));
        const double scale =
            static_cast<double>(paper::file_bytes) / static_cast<double>(file.bytes());
        const std::string scaled = file.bytes() < paper::file_bytes
                                       ? fmt::format("{} of 100 MB ran (--bytes); times are scaled",
                                                     bench::size_text(file.bytes()))
                                       : "";
        const Method tile = inside_a_tile(key_, two_);
        FileTimes serial[2], parallel[2], ours[2];
        for (const bool encrypts : {true, false}) {
            serial[encrypts] = file.time(serial_, encrypts, study_);
            parallel[encrypts] = file.time(tile, encrypts, study_);
            ours[encrypts] = file.time(product_, encrypts, study_);
        }
        const auto take = [&](std::string name, Printed published, const Timed& method,
                              const Timed& product, const char* method_what, unsigned threads,
                              const char* figure) {
            Row row{
                .table = &time_table, .row = std::move(name), .unit = "s", .published = published};
            row.published_units = threads;
            row.method = method * scale;
            row.method_what = method_what;
            row.method_spread = method.spread;
            row.method_units = study_.on_cores(threads);
            row.ours = product * scale;
            row.ours_what = "aes-128-ecb, all cores";
            row.ours_spread = product.spread;
            row.ours_units = study_.on_cores(study_.cores());
            row.figure = figure;
            row.scaled = scaled;
            row.more = {{"bytes", static_cast<double>(file.bytes())}, {"scaled_by", scale}};
            study_.take(row);
        };
        constexpr const char *encryption = "P5 100 MB encrypted",
                             *decryption = "P5 100 MB decrypted";
        constexpr const char *alone = "one thread", *both = "two threads inside tiles of states";
        take("serial, encryption", paper::serial_seconds, serial[1].whole, ours[1].whole, alone, 1,
             encryption);
        take("serial, encryption, of it in Encrypt", paper::of_it_encrypting_seconds,
             serial[1].cipher, ours[1].cipher, alone, 1, "P5 100 MB encrypted in memory");
        take("two threads, encryption", paper::parallel_seconds, parallel[1].whole, ours[1].whole,
             both, 2, encryption);
        take("serial, decryption", paper::serial_seconds, serial[0].whole, ours[0].whole, alone, 1,
             decryption);
        take("two threads, decryption", paper::parallel_seconds, parallel[0].whole, ours[0].whole,
             both, 2, decryption);
        Row saved{.table = &time_table,
                  .row = "saved by two threads, encryption",
                  .unit = "% of the time",
                  .published = paper::saved_percent};
        saved.method = 100 * (1 - parallel[1].whole / serial[1].whole);
        saved.ours = 100 * (1 - ours[1].whole / serial[1].whole);
        saved.method_what = both;
        saved.ours_what = "aes-128-ecb, all cores";
        saved.published_bound = "about";
        saved.scaled = scaled;
        saved.figure = encryption;
        study_.take(saved);
    }

    void time_forks() {
        std::vector<uint8_t> in(16 * few_), out(in.size());
        // ten rounds of three steps, the last without MixColumns
        constexpr int forks_of_a_block = 3 * 10 - 1;
        const auto take = [&](const std::string& name, const char* unit, double method,
                              uint64_t blocks) {
            Row row{.table = &forks_table, .row = name, .unit = unit, .method = method};
            row.more.emplace_back("blocks", static_cast<double>(blocks));
            study_.take(row);
        };
        const auto block_seconds = [&](const Method& method, uint64_t blocks) {
            in.resize(16 * blocks), out.resize(16 * blocks);
            return study_.seconds_of([&] { method(true, in.data(), out.data(), blocks); }) /
                   static_cast<double>(blocks);
        };
        take("one block, serially", "ns", 1e9 * block_seconds(serial_, few_), few_);
        for (const int threads : {2, 4}) {
            if (threads > std::max(cores_, 2)) {
                study_.take({.table = &forks_table,
                             .row = fmt::format("{} threads", threads),
                             .unit = "ns",
                             .not_run = fmt::format("there are {} cores", cores_)});
                continue;
            }
            Team team(threads);
            const double fork = seconds_of_a_fork(team);
            const Method state = inside_one_state(key_, team);
            const uint64_t blocks = threads == 2 ? few_ : blocks_in_time(state);
            const double block = block_seconds(state, blocks);
            take(fmt::format("a fork and a join, {} threads", threads), "ns", fork * 1e9, 0);
            take(fmt::format("one block, {} threads inside its state, {} forks", threads,
                             forks_of_a_block),
                 "ns", block * 1e9, blocks);
            take(fmt::format("100 MB so, {} threads, extrapolated", threads), "s",
                 block * (paper::file_bytes / 16.0), blocks);
        }
    }

    double seconds_of_a_fork(Team& team) const {
        constexpr int forks = 100;
        return study_.seconds_of([&] {
            for (int i = 0; i < forks; ++i) team.run([](Share) {});
        }) / forks;
    }

    void speed_up() {
        const uint64_t blocks = study_.limited(32 << 20) / 16;
        std::vector<uint8_t> in(16 * blocks), out(in.size());
        const auto seconds = [&](const Method& method) {
            return study_.seconds_of([&] { method(true, in.data(), out.data(), blocks); });
        };
        const double serial = seconds(serial_);
        double plain_alone = 0, ours_alone = 0;
        for (int threads = 1;; threads = std::min(2 * threads, cores_)) {
            Team team(threads);
            const double plain = seconds(over_blocks(key_, team));
            const double ours =
                seconds(by_product(key_, study_.engine(static_cast<unsigned>(threads))));
            if (threads == 1) plain_alone = plain, ours_alone = ours;
            Row row{.table = &cores_table,
                    .row = fmt::format("{} thread{}", threads, threads == 1 ? "" : "s"),
                    .unit = "times"};
            if (threads == paper::parallel_threads)
                row.published = Printed::computed(paper::serial_seconds / paper::parallel_seconds);
            if (threads <= 4) {
                const double tile = seconds(inside_a_tile(key_, team));
                row.method = serial / tile;
                row.method_what = "threads inside tiles of states";
                row.more.emplace_back("method_gigabytes_per_second",
                                      gigabytes_per_second(in.size(), tile));
                row.more.emplace_back("serial_gigabytes_per_second",
                                      gigabytes_per_second(in.size(), serial));
            }
            row.scaled = study_.scaled_text(in.size());
            row.ours = ours_alone / ours;
            row.ours_what = "aes-128-ecb on so many threads";
            row.more.emplace_back("default_gigabytes_per_second",
                                  gigabytes_per_second(in.size(), ours));
            row.more.emplace_back("plain_over_blocks_times", plain_alone / plain);
            row.more.emplace_back("plain_over_blocks_gigabytes_per_second",
                                  gigabytes_per_second(in.size(), plain));
            study_.take(row);
            if (threads == cores_) return;
        }
    }

    void profile() {
        const uint64_t blocks = study_.limited(32 << 20) / 16;
        std::vector<uint8_t> in(16 * blocks), out(in.size());
        take_threads("serial", paper::serial_threads,
                     shares_on_core([&] { serial_(true, in.data(), out.data(), blocks); }));
        {
            Team team(paper::parallel_threads);
            const Method tile = inside_a_tile(key_, team), state = inside_one_state(key_, team);
            take_threads("two threads", paper::parallel_threads,
                         shares_on_core([&] { tile(true, in.data(), out.data(), blocks); }));
            take_at_work("inside tiles of states", team, tile, in, out, blocks);
            take_at_work("inside one state", team, state, in, out, std::min(few_, blocks));
        }
        const auto shares = shares_on_core([&] { product_(true, in.data(), out.data(), blocks); });
        for (size_t thread = 0; thread < shares.size(); ++thread) {
            Row row{.table = &profile_table,
                    .row = fmt::format("the product's thread {} of {}, on a core", thread + 1,
                                       shares.size())};
            row.unit = "% of the time";
            row.ours = 100 * shares[thread];
            row.ours_what = "aes-128-ecb, all cores";
            study_.take(row);
        }
    }

    // Returns the fractions of CPU time of busy threads, over repetitions long enough for the
    // kernel's accounting.
    std::vector<double> shares_on_core(const std::function<void()>& work) const {
        const ThreadUse use;
        study_.seconds_of(work);
        return use.shares();
    }

    void take_threads(const char* name, int published, const std::vector<double>& shares) {
        Row row{.table = &profile_table,
                .row = fmt::format("threads that ran, {}", name),
                .unit = "threads"};
        row.published = published;
        row.method = static_cast<double>(shares.size());
        row.method_what = "counted by the kernel's account";
        for (size_t thread = 0; thread < shares.size(); ++thread)
            row.more.emplace_back(fmt::format("thread_{}_percent_on_a_core", thread + 1),
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
                    .row = fmt::format("{}, thread {} of {}, at work", name, thread + 1,
                                       team.threads())};
            row.unit = "% of the time";
            row.method = 100 * team.seconds_at_work(thread) / took.count();
            row.method_what = name;
            study_.take(row);
        }
    }

    // Returns the number of blocks that take a quarter of a measurement's time. Methods may be
    // thousands of times slower than the product.
    uint64_t blocks_in_time(const Method& method) const {
        const uint64_t most = study_.limited(paper::file_bytes) / 16;
        for (uint64_t blocks = 64;; blocks *= 2) {
            const uint64_t now = std::min(blocks, most);
            std::vector<uint8_t> in(16 * now), out(in.size());
            const auto begin = std::chrono::steady_clock::now();
            method(true, in.data(), out.data(), now);
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
            if (now == most || took.count() > study_.options().seconds / 4) return now;
        }
    }

    static double gigabytes_per_second(size_t bytes, double seconds) {
        return static_cast<double>(bytes) / seconds / 1e9;
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
    const std::vector<uint8_t> key_ = key_of_the_study();
    const int cores_;
    Team two_, everywhere_;
    const Method serial_, product_;
    const uint64_t few_;  // blocks for runs with threads inside one state
};

// All tables, in the order of their rows.
constexpr const Table* all_tables[] = {&kinds_table, &counts_table, &time_table,
                                       &forks_table, &cores_table,  &profile_table};

}  // namespace

constinit const Paper paper_p5{"P5", "AES on several cores with OpenMP (Park and Oh)", all_tables,
                               [](Study& study) { Reproduction(study).run(); }};

}  // namespace warpseal::papers
