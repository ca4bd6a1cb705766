// P5's times. The product's part is sealing and opening the file by its own file call.
#include "bench/papers/p5_times.h"

#include <algorithm>

#include "bench/bulk/measure.h"
#include "bench/papers/files.h"
#include "bench/papers/openmp.h"
#include "bench/papers/p5_tables.h"
#include "bench/report/figures.h"
#include "cli/support/format.h"

namespace warpseal::papers::p5 {
namespace {

constexpr const char* file_suite = "aes-128-gcm";

class Times {
public:
    explicit Times(Study& study)
        : study_(study),
          file_(study.options().directory, study.limited(paper::file_bytes)),
          scale_(static_cast<double>(paper::file_bytes) / static_cast<double>(file_.bytes())) {
        if (file_.bytes() < paper::file_bytes)
            scaled_ = cli::format("{} of 100 MB ran (--bytes); times are scaled",
                                  bench::size_text(file_.bytes()));
    }

    void run() {
        for (const bool encrypts : {true, false}) {
            serial_[encrypts] = file_.time(serially(study_key()), encrypts, study_);
            print_serial(encrypts);
            print_two_threads(encrypts);
        }
        print_saved(time_table, "saved by two threads, encryption, section 4.3",
                    paper::saved_percent);
        print_variants();
    }

private:
    void print_serial(bool encrypts) {
        Row row = file_row(encrypts ? "serial, encryption" : "serial, decryption", 1, encrypts);
        row.published = paper::serial_seconds;
        row.published_units = 1;
        set_method(row, serial_[encrypts].whole, scale_, 1);
        row.method_what = "one thread, without OpenMP";
        study_.take(row);
        if (encrypts) print_cipher();
    }

    void print_cipher() {
        Row row{.table = &time_table,
                .row = "serial, encryption, of it in Encrypt",
                .unit = "s",
                .published = paper::of_it_encrypting_seconds,
                .published_units = 1};
        set_method(row, serial_[1].cipher, scale_, 1);
        row.method_what = "one thread, without OpenMP";
        const Timed product = block_seconds(study_, by_product(study_key(), study_.engine(1)), true,
                                            file_.bytes() / 16);
        row.ours = product * all_blocks;
        row.ours_spread = product.spread;
        row.ours_units = study_.on_cores(1);
        row.ours_what = "aes-128-ecb in memory, one thread";
        row.figure = "P5 100 MB encrypted in memory";
        row.scaled = scaled_;
        study_.take(row);
    }

    void print_two_threads(bool encrypts) {
        Row row = file_row(encrypts ? "two threads, encryption" : "two threads, decryption",
                           paper::parallel_threads, encrypts);
        row.published = paper::parallel_seconds;
        row.published_units = paper::parallel_threads;
        set_openmp(row, Temporaries::own, paper::parallel_threads, encrypts);
        if (encrypts) two_threads_ = row.method, two_threads_ours_ = row.ours;
        study_.take(row);
    }

    void print_saved(const Table& table, const char* name, double published) {
        Row row{.table = &table, .row = name, .unit = "% of the time", .published = published};
        row.published_bound = "about";
        row.not_run = no_openmp();
        if (two_threads_) row.method = 100 * (1 - *two_threads_ / (serial_[1].whole * scale_));
        if (two_threads_ours_ && one_thread_ours_)
            row.ours = 100 * (1 - *two_threads_ours_ / *one_thread_ours_);
        row.method_what = "the listings with OpenMP over one thread without";
        row.ours_what = "sealing on two threads over one";
        row.figure = "P5 saved by two threads";
        row.scaled = scaled_;
        study_.take(row);
    }

    void print_variants() {
        print_saved(variants_table, "saved by two threads, encryption, abstract",
                    paper::saved_percent_of_abstract);
        print_saved(variants_table, "saved by two threads, encryption, conclusion",
                    paper::saved_percent_of_conclusion);
        const auto one_thread = take_variant("one thread with OpenMP", Temporaries::own, 1, {});
        Row gain{.table = &variants_table,
                 .row = "two threads over one, both with OpenMP",
                 .unit = "times",
                 .not_run = no_openmp()};
        if (one_thread && two_threads_) gain.method = *one_thread / *two_threads_;
        gain.method_what = "the listings with OpenMP";
        study_.take(gain);
        take_variant("two threads, as printed", Temporaries::shared, paper::parallel_threads,
                     paper::parallel_seconds);
        take_variant("two threads, as printed, compiled without optimization",
                     Temporaries::shared_unoptimized, paper::parallel_threads,
                     paper::parallel_seconds);
        if (study_.cores() <= 2) return;
        for (const bool encrypts : {true, false}) {
            Row row = file_row(cli::format("all {} threads, {}", study_.cores(),
                                           encrypts ? "encryption" : "decryption"),
                               study_.cores(), encrypts);
            row.table = &variants_table;
            study_.take(row);
        }
    }

    std::optional<double> take_variant(const char* name, Temporaries temporaries, int threads,
                                       std::optional<Printed> published) {
        Row row{.table = &variants_table, .row = name, .unit = "s", .published = published};
        row.published_units = threads;
        set_openmp(row, temporaries, threads, true);
        study_.take(row);
        return row.method;
    }

    // The product's part of a row: its file call on `threads` threads.
    Row file_row(std::string name, unsigned threads, bool encrypts) {
        Row row{.table = &time_table, .row = std::move(name), .unit = "s"};
        bench::BenchOptions options;
        options.directory = study_.options().directory;
        options.threads = threads;
        options.what = {file_suite};
        const bench::BenchCase what = bench::chosen_cases(options).front().as(encrypts);
        try {
            const std::vector<double> rates =
                bench::measure_file(options, what, "cpu", file_.bytes(), study_.session())
                    .figures.ours;
            row.ours = static_cast<double>(paper::file_bytes) / 1e9 / bench::median(rates);
            row.ours_spread = spread_of(rates);
            if (encrypts && threads == 1) one_thread_ours_ = row.ours;
        } catch (const bench::BenchWrong& why) {
            study_.wrong(cli::format("P5, {}: {}", row.row, why.what()));
        }
        row.ours_what = cli::format("warpseal_file_{}, {}, {} thread{}", encrypts ? "seal" : "open",
                                    file_suite, threads, threads == 1 ? "" : "s");
        row.ours_units = study_.on_cores(threads);
        row.figure = "P5 100 MB, " + row.ours_what;
        row.scaled = scaled_;
        row.more = {{"bytes", static_cast<double>(file_.bytes())}, {"scaled_by", scale_}};
        return row;
    }

    void set_method(Row& row, const Timed& time, double scale, unsigned threads) {
        row.method = time * scale;
        row.method_spread = time.spread;
        row.method_units = study_.on_cores(threads);
    }

    // The method's part: the blocks that run in time, extrapolated, and the serial row's reading
    // and writing.
    void set_openmp(Row& row, Temporaries temporaries, int threads, bool encrypts) {
        row.not_run = no_openmp();
        if (!row.not_run.empty()) return;
        const Method method = by_openmp(study_key(), threads, temporaries);
        const uint64_t blocks = blocks_in_time(study_, method);
        Timed time = block_seconds(study_, method, encrypts, blocks);
        time.seconds *= all_blocks;
        time.seconds += (serial_[encrypts].whole - serial_[encrypts].cipher) * scale_;
        set_method(row, time, 1, static_cast<unsigned>(threads));
        row.method_what =
            cli::format("the listings with OpenMP, {} thread{}", threads, threads == 1 ? "" : "s");
        if (blocks < static_cast<uint64_t>(all_blocks))
            row.method_what +=
                cli::format(", extrapolated from {} of {:.0f} blocks", blocks, all_blocks);
        row.scaled = scaled_;
        row.more.emplace_back("blocks_that_ran", static_cast<double>(blocks));
    }

    static constexpr double all_blocks = paper::file_bytes / 16.0;
    Study& study_;
    const TextFile file_;
    const double scale_;
    std::string scaled_;
    FileTimes serial_[2];  // [encrypts]
    std::optional<double> two_threads_, one_thread_ours_, two_threads_ours_;
};

// Fraction of one thread's time in SubBytes, ShiftRows and MixColumns.
double parallel_fraction(const Study& study) {
    const uint64_t blocks = study.limited(4 << 20) / 16;
    const double whole = block_seconds(study, serially(study_key()), true, blocks),
                 rest = block_seconds(study, round_keys_alone(study_key()), true, blocks);
    return 1 - std::min(1.0, rest / whole);
}

void take_estimate(Study& study, std::string name, std::optional<Printed> published,
                   double estimate, const char* what) {
    Row row{.table = &amdahl_table, .row = std::move(name), .unit = "times, estimated"};
    row.published = published;
    row.method = estimate;
    row.method_what = what;
    study.take(row);
}

}  // namespace

std::vector<uint8_t> study_key() {
    std::vector<uint8_t> key(16);
    for (size_t i = 0; i < key.size(); ++i) key[i] = static_cast<uint8_t>(17 * i);
    return key;
}

uint64_t blocks_in_time(const Study& study, const Method& method) {
    const uint64_t most = study.limited(paper::file_bytes) / 16;
    for (uint64_t blocks = 4;; blocks *= 2) {
        const uint64_t now = std::min(blocks, most);
        std::vector<uint8_t> in(16 * now), out(in.size());
        const auto begin = std::chrono::steady_clock::now();
        method(true, in.data(), out.data(), now);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        if (now == most || took.count() > study.options().seconds / 4) return now;
    }
}

Timed block_seconds(const Study& study, const Method& method, bool encrypts, uint64_t blocks) {
    std::vector<uint8_t> in(16 * blocks), out(in.size());
    Timed time = study.seconds_of([&] { method(encrypts, in.data(), out.data(), blocks); });
    time.seconds /= static_cast<double>(blocks);
    return time;
}

void print_times(Study& study) { Times(study).run(); }

void print_tiles(Study& study) {
    const uint64_t blocks = study.limited(32 << 20) / 16;
    const double all = static_cast<double>(paper::file_bytes) / 16;
    Team one(1), two(paper::parallel_threads);
    const double state = block_seconds(study, serially(study_key()), true, blocks),
                 alone = block_seconds(study, inside_a_tile(study_key(), one), true, blocks),
                 both = block_seconds(study, inside_a_tile(study_key(), two), true, blocks);
    const auto take = [&](const char* name, const char* unit, double figure, const char* what) {
        Row row{.table = &tiles_table, .row = name, .unit = unit, .method = figure};
        row.method_what = what;
        row.scaled = study.scaled_text(16 * blocks);
        row.more = {{"blocks", static_cast<double>(blocks)}};
        study.take(row);
    };
    take("100 MB in memory, one state at a time, one thread", "s", state * all, "serially");
    take("100 MB in memory, tiles, one thread", "s", alone * all, "tiles of states");
    take("100 MB in memory, tiles, two threads", "s", both * all, "tiles of states");
    take("gain of the layout", "times", state / alone, "tiles over states, one thread");
    take("gain of the second thread", "times", alone / both, "two threads over one, tiles");
}

void print_speed_up(Study& study) {
    const uint64_t blocks = study.limited(32 << 20) / 16;
    const auto gigabytes = [](double seconds) { return 16e-9 / seconds; };
    const double serial = block_seconds(study, serially(study_key()), true, blocks);
    double plain_alone = 0, ours_alone = 0;
    const int cores = static_cast<int>(study.cores());
    for (int threads = 1;; threads = std::min(2 * threads, cores)) {
        Team team(threads);
        const double plain = block_seconds(study, over_blocks(study_key(), team), true, blocks);
        const Method product =
            by_product(study_key(), study.engine(static_cast<unsigned>(threads)));
        const double ours = block_seconds(study, product, true, blocks);
        if (threads == 1) plain_alone = plain, ours_alone = ours;
        Row row{.table = &cores_table,
                .row = cli::format("{} thread{}", threads, threads == 1 ? "" : "s"),
                .unit = "times"};
        if (threads == paper::parallel_threads)
            row.published = Printed::computed(paper::serial_seconds / paper::parallel_seconds);
        if (threads <= 4) row.not_run = no_openmp();
        if (threads <= 4 && row.not_run.empty()) {
            const Method openmp = by_openmp(study_key(), threads, Temporaries::own);
            const uint64_t few = blocks_in_time(study, openmp);
            const double method = block_seconds(study, openmp, true, few);
            row.method = serial / method;
            row.method_what = cli::format("the listings with OpenMP, from {} blocks", few);
            row.more = {{"method_gigabytes_per_second", gigabytes(method)},
                        {"serial_gigabytes_per_second", gigabytes(serial)}};
        }
        row.scaled = study.scaled_text(16 * blocks);
        row.ours = ours_alone / ours;
        row.ours_what = "aes-128-ecb on so many threads";
        row.more.emplace_back("default_gigabytes_per_second", gigabytes(ours));
        row.more.emplace_back("plain_over_blocks_times", plain_alone / plain);
        row.more.emplace_back("plain_over_blocks_gigabytes_per_second", gigabytes(plain));
        study.take(row);
        if (threads == cores) return;
    }
}

void print_amdahl(Study& study) {
    const double theirs = paper::amdahl_fraction, ours = parallel_fraction(study);
    take_estimate(study, "20 % parallel, four cores", paper::amdahl_four_cores, amdahl(theirs, 4),
                  "the formula");
    take_estimate(study, "20 % parallel, infinitely many cores", paper::amdahl_infinite_cores,
                  amdahl(theirs, 0), "the formula");
    Row fraction{.table = &amdahl_table,
                 .row = "parallel fraction of AES, measured",
                 .unit = "%",
                 .method = 100 * ours};
    fraction.method_what = "SubBytes, ShiftRows and MixColumns on one thread";
    study.take(fraction);
    for (const int cores : {2, 4, 0})
        take_estimate(study,
                      cores == 0 ? "that fraction, infinitely many cores"
                                 : cli::format("that fraction, {} cores", cores),
                      {}, amdahl(ours, cores), "the formula");
}

}  // namespace warpseal::papers::p5
