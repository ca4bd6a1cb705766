// Shared parts of the papers' studies: the machine, the ladder, our default path and the
// destination of rows.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/ladder/ladder.h"
#include "bench/papers/row.h"
#include "bench/papers/tables.h"
#include "cli/support/command.h"

namespace warpseal::bench {
class BulkMeter;
struct BenchOptions;
}  // namespace warpseal::bench

namespace warpseal::papers {

struct Options {
    std::vector<std::string> papers;  // e.g. "P1"; empty: all
    std::string table;                // tables to measure, as is_table() reads it; empty: all
    std::string device = "auto";
    std::string files;                   // folder of P5's files; empty: generated files
    std::string directory = "/dev/shm";  // directory of the files of P3 and P5
    uint64_t bytes = 0;                  // maximum of one measurement; 0: the papers' sizes
    double seconds = 1;                  // No repetition starts after this time, except the first.
};

// GB/s, or the reason why it is missing.
struct Figure {
    std::optional<double> gigabytes_per_second;
    std::string what;
    std::string not_run;
    std::optional<double> spread = {};  // the slowest repetition over the fastest
    Units units = {};
    std::string scaled = {};  // what --bytes made of the measurement
};

// Median time of repeated calls.
struct Timed {
    double seconds = 0;
    std::optional<double> spread = {};  // the slowest call over the fastest; empty: one call
    operator double() const { return seconds; }
};

// Returns the largest value over the smallest; nothing for less than two.
std::optional<double> spread_of(const std::vector<double>& values);

class Study {
public:
    // Calls `take` for every row as it is produced.
    Study(const Options& options, cli::Session& session, std::function<void(const Row&)> take);
    ~Study();

    const Options& options() const { return options_; }
    // Returns `bytes`, limited by --bytes, in whole KiB.
    uint64_t limited(uint64_t bytes) const;
    // Returns a text for Row::scaled if --bytes may have made a measurement this small.
    std::string scaled_text(uint64_t bytes) const;
    // Returns false for a table that --table excludes. Its rows may be left out, and take() drops
    // them.
    bool wants(const Table& table) const;
    unsigned cores() const { return cores_; }
    cli::Session& session() const { return session_; }
    const std::string& gpu() const { return gpu_; }  // e.g. "cuda:0"; empty: not measured
    const std::string& no_gpu() const { return no_gpu_; }
    int gpu_number() const {
        return gpu_ == "cuda" ? 0 : std::stoi(gpu_.substr(gpu_.find(':') + 1));
    }

    // Units of a figure made by `count` cores, or by `count` multiprocessors of the GPU (below 1:
    // by all of them).
    Units on_cores(unsigned count);
    Units on_multiprocessors(int count = 0) const;

    void take(const Row& row);
    // Reports a failed figure; the run then ends as failed.
    void wrong(const std::string& why);
    bool went_wrong() const { return wrong_; }

    // Measures a step of the ladder by name, with at most `often` repetitions. bytes 0 and
    // threads_per_block 0 select the step's own values.
    struct StepFigure : Figure {
        ladder::Measured measured{};
    };
    StepFigure step(const std::string& name, uint64_t bytes, int threads_per_block = 0,
                    int often = 7);
    // The same with other options of the ladder; `seconds` and `device` are the study's.
    StepFigure step(const std::string& name, ladder::Options options);

    // Measure our default path by the public API and check its output: within GPU memory, from host
    // to host on all cores, or on one core in its cache. `what` is e.g. "aes-128-ecb". Each is
    // measured once.
    const Figure& on_gpu(const std::string& what, bool encrypts, uint64_t bytes);
    const Figure& on_all_cores(const std::string& what, bool encrypts, uint64_t bytes);
    const Figure& on_one_core(const std::string& what, bool encrypts);
    // Measures a file of AES-256-GCM sealed or opened in options().directory, on the GPU or on all
    // cores. The engine exists before the clock starts.
    Figure from_file_to_file(bool on_gpu, bool seals, uint64_t bytes);

    warpseal_engine* engine(unsigned threads);  // CPU engine; lives as long as this object.

    // Returns the median of seven calls, or of as many as start within options().seconds.
    Timed seconds_of(const std::function<void()>& call) const;
    // CPU time of several calls on this thread, each repeated in windows of options().seconds /
    // 200. They run in turn, so that their quotients do not depend on the clock of the core.
    std::vector<Timed> seconds_in_turn(const std::vector<std::function<void()>>& calls) const;

private:
    const Figure& remembered(const std::string& name, const std::function<Figure()>& measure);
    Figure bulk(std::unique_ptr<bench::BulkMeter>& meter, const std::string& device,
                const std::string& what, bool encrypts, uint64_t bytes);

    const Options& options_;
    cli::Session& session_;
    const std::function<void(const Row&)> take_;
    const unsigned cores_;
    std::string gpu_, no_gpu_;
    Units whole_gpu_{true};
    std::optional<double> core_gigahertz_;
    bool wrong_ = false;
    std::map<std::string, Figure> figures_;
    std::map<unsigned, cli::EngineHandle> engines_;
    const std::unique_ptr<bench::BenchOptions> bulk_options_;
    std::unique_ptr<bench::BulkMeter> gpu_meter_, cores_meter_;
};

// Set a figure of a row, converted from GB/s, or the reason why it is missing.
using Conversion = std::function<double(double gigabytes_per_second)>;
void set_method(Row& row, const Figure& figure, const Conversion& convert);
void set_ours(Row& row, const Figure& figure, const Conversion& convert);
// Adds the resources of a kernel and its launch to the further figures of a row.
void add_kernel(Row& row, const ladder::LaunchedKernel& kernel);

constexpr double as_gigabytes(double gigabytes) { return gigabytes; }
constexpr double as_gigabits(double gigabytes) { return 8 * gigabytes; }

// A paper and its reproduction.
struct Paper {
    const char* name;   // e.g. "P1"
    const char* title;  // subject, authors, year
    std::span<const Table* const> tables;
    void (*reproduce)(Study& study);  // produces the rows of the tables through study.take
};
extern const Paper paper_p1, paper_p2, paper_p3, paper_p4, paper_p5;
inline constexpr const Paper* all_papers[] = {&paper_p1, &paper_p2, &paper_p3, &paper_p4,
                                              &paper_p5};

}  // namespace warpseal::papers
