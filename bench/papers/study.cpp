// Shared parts of the papers' studies, over the program's bench and the ladder.
#include "bench/papers/study.h"

#include <time.h>

#include <sched.h>

#include <algorithm>

#include "bench/bulk/bulk_meter.h"
#include "bench/bulk/measure.h"
#include "bench/report/clocks.h"
#include "cli/support/ciphers.h"
#include "cli/support/format.h"

namespace warpseal::papers {
namespace {

// CPU time of this thread, which other programs on the core do not lengthen.
double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

class Stopwatch {
public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }

private:
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

unsigned usable_cores() {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1;
}

bench::BenchCase case_of(const std::string& what, bool encrypts) {
    bench::BenchCase found;
    found.encrypt = encrypts;
    for (const warpseal_cipher_info& cipher : cli::all_ciphers())
        for (const warpseal_mode mode : cli::modes_of(cipher)) {
            found.cipher = cipher;
            found.mode = mode;
            if (found.name() == what) return found;
        }
    throw cli::Failure(cli::ExitCode::unsupported, "there is no '" + what + "' to measure.");
}

Figure figure_of(const bench::BenchRow& row, const char* how) {
    return {bench::median(row.figures.ours),
            cli::format("{} {}, {}, {}", row.what.name(), row.what.operation(), row.device, how),
            "", spread_of(row.figures.ours)};
}

const ladder::Step* find_step(const std::string& name) {
    for (const ladder::Step& step : ladder::steps())
        if (name == step.name) return &step;
    return nullptr;
}

// Sets what a row has once for both figures, and returns the converted figure.
std::optional<double> converted(Row& row, const Figure& figure, const Conversion& convert) {
    if (row.not_run.empty()) row.not_run = figure.not_run;
    if (!figure.gigabytes_per_second) return std::nullopt;
    if (row.scaled.empty()) row.scaled = figure.scaled;
    return convert(*figure.gigabytes_per_second);
}

}  // namespace

std::optional<double> spread_of(const std::vector<double>& values) {
    if (values.size() < 2) return std::nullopt;
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return *most / *least;
}

void set_method(Row& row, const Figure& figure, const Conversion& convert) {
    row.method = converted(row, figure, convert);
    row.method_what = figure.what;
    row.method_spread = figure.spread;
    row.method_units = figure.units;
}

void set_ours(Row& row, const Figure& figure, const Conversion& convert) {
    row.ours = converted(row, figure, convert);
    row.ours_what = figure.what;
    row.ours_spread = figure.spread;
    row.ours_units = figure.units;
}

void add_kernel(Row& row, const ladder::LaunchedKernel& kernel) {
    for (const auto& [name, value] : {std::pair<const char*, double>{"registers", kernel.registers},
                                      {"local_bytes", kernel.local_bytes},
                                      {"shared_bytes", kernel.shared_bytes},
                                      {"threads_per_block", kernel.threads_per_block},
                                      {"resident_blocks", kernel.resident_blocks},
                                      {"occupancy", kernel.occupancy},
                                      {"multiprocessors", kernel.multiprocessors},
                                      {"blocks", kernel.blocks}})
        row.more.emplace_back(name, value);
}

Study::Study(const Options& options, cli::Session& session, std::function<void(const Row&)> take)
    : options_(options),
      session_(session),
      take_(std::move(take)),
      cores_(usable_cores()),
      bulk_options_(std::make_unique<bench::BenchOptions>()) {
    bulk_options_->threads = cores_;
    warpseal_device_info info{};
    const bool asked = options.device.rfind("cuda", 0) == 0;
    if (!asked && options.device != "auto" && options.device != "cpu")
        throw cli::Failure(cli::ExitCode::usage, "--device takes auto, cpu, cuda or cuda:N here.");
    // Throws if the device is not usable.
    if (asked) cli::create_engine({options.device, 1}, session);
    if (options.device == "cpu")
        no_gpu_ = "--device cpu";
    else if (ladder::steps().empty())
        no_gpu_ = "built without CUDA";
    else if (!asked && warpseal_device_at(0, &info) != WARPSEAL_OK)
        no_gpu_ = "no GPU that can be used";
    else
        gpu_ = asked ? options.device : "cuda";
    if (gpu_.empty()) return;
    const auto number = static_cast<size_t>(gpu_number());
    if (warpseal_device_at(number, &info) == WARPSEAL_OK) whole_gpu_.count = info.multiprocessors;
    if (const auto clocks = bench::gpu_clocks(number))
        whole_gpu_.gigahertz = clocks->megahertz / 1000.0;
}

Study::~Study() = default;

uint64_t Study::limited(uint64_t bytes) const {
    if (options_.bytes != 0) bytes = std::min(bytes, options_.bytes);
    return std::max<uint64_t>(bytes / 1024, 1) * 1024;
}

std::string Study::scaled_text(uint64_t bytes) const {
    if (options_.bytes == 0 || bytes < limited(UINT64_MAX)) return "";
    return cli::format("measured on {} (--bytes)", bench::size_text(bytes));
}

bool Study::wants(const Table& table) const {
    return options_.table.empty() || is_table(table, options_.table);
}

Units Study::on_cores(unsigned count) {
    if (!core_gigahertz_) core_gigahertz_ = bench::core_gigahertz().value_or(0);
    return {false, double(count), *core_gigahertz_};
}

Units Study::on_multiprocessors(int count) const {
    Units units = whole_gpu_;
    if (count > 0) units.count = count;
    return units;
}

void Study::take(const Row& row) {
    if (const int signal = cli::interrupted_by())
        throw cli::Failure(static_cast<cli::ExitCode>(128 + signal), "interrupted.");
    if (wants(*row.table)) take_(row);
}

void Study::wrong(const std::string& why) {
    wrong_ = true;
    cli::complain(why);
}

Study::StepFigure Study::step(const std::string& name, uint64_t bytes, int threads_per_block,
                              int often) {
    ladder::Options options;
    options.bytes = bytes;
    options.threads_per_block = threads_per_block;
    options.repetitions = often;
    return this->step(name, options);
}

Study::StepFigure Study::step(const std::string& name, ladder::Options options) {
    StepFigure figure;
    figure.what = name;
    figure.not_run = no_gpu_;
    if (gpu_.empty()) return figure;
    const ladder::Step* step = find_step(name);
    if (!step) throw cli::Failure(cli::ExitCode::error, "the ladder has no step " + name + ".");
    options.seconds = options_.seconds;
    options.device = gpu_number();
    const warpseal_status status = ladder::run(*step, options, &figure.measured);
    if (status == WARPSEAL_OK) {
        figure.gigabytes_per_second = figure.measured.gigabytes_per_second;
        figure.units = on_multiprocessors(options.multiprocessors);
        figure.scaled = scaled_text(options.bytes);
    } else
        figure.not_run = status == WARPSEAL_INVALID_ARGUMENT
                             ? "the kernel cannot be launched so on this GPU"
                             : warpseal_status_text(status);
    if (status != WARPSEAL_OK && status != WARPSEAL_INVALID_ARGUMENT)
        wrong(name + ": no figure: " + warpseal_status_text(status));
    return figure;
}

const Figure& Study::remembered(const std::string& name, const std::function<Figure()>& measure) {
    const auto [at, fresh] = figures_.try_emplace(name);
    if (!fresh) return at->second;
    try {
        at->second = measure();
    } catch (const bench::BenchWrong& why) {
        at->second.not_run = std::string("no figure: ") + why.what();
        wrong(name + ": " + at->second.not_run);
    }
    return at->second;
}

// Keeps a device's meter and its memory between figures.
Figure Study::bulk(std::unique_ptr<bench::BulkMeter>& meter, const std::string& device,
                   const std::string& what, bool encrypts, uint64_t bytes) {
    const bool on_gpu = &meter == &gpu_meter_;
    if (!meter) meter = std::make_unique<bench::BulkMeter>(*bulk_options_, device, session_);
    Figure figure = figure_of(
        meter->measure(case_of(what, encrypts), on_gpu ? "device" : "host", bytes, UINT64_MAX),
        on_gpu ? "within device memory" : "all cores, host memory to host memory");
    figure.units = on_gpu ? on_multiprocessors() : on_cores(cores_);
    figure.scaled = scaled_text(bytes);
    return figure;
}

const Figure& Study::on_gpu(const std::string& what, bool encrypts, uint64_t bytes) {
    return remembered(
        cli::format("{} {} on the GPU, {} bytes", what, encrypts ? "encrypt" : "decrypt", bytes),
        [&]() -> Figure {
            if (gpu_.empty()) return {{}, "", no_gpu_};
            return bulk(gpu_meter_, gpu_, what, encrypts, bytes);
        });
}

const Figure& Study::on_all_cores(const std::string& what, bool encrypts, uint64_t bytes) {
    return remembered(
        cli::format("{} {} on all cores, {} bytes", what, encrypts ? "encrypt" : "decrypt", bytes),
        [&] { return bulk(cores_meter_, "cpu", what, encrypts, bytes); });
}

const Figure& Study::on_one_core(const std::string& what, bool encrypts) {
    return remembered(
        cli::format("{} {} on one core", what, encrypts ? "encrypt" : "decrypt"), [&] {
            bench::BenchOptions options;
            options.seconds = options_.seconds;
            Figure figure = figure_of(bench::measure_cores(options, case_of(what, encrypts), "cpu",
                                                           bench::bench_core_bytes, session_),
                                      "one core, 64 KiB");
            figure.units = on_cores(1);
            return figure;
        });
}

Figure Study::from_file_to_file(bool on_gpu, bool seals, uint64_t bytes) {
    const std::string what = cli::format("aes-256-gcm, file to file, {}",
                                         on_gpu ? "GPU" : cli::format("{} threads", cores_));
    if (on_gpu && gpu_.empty()) return {{}, what, no_gpu_};
    bench::BenchOptions options;
    options.threads = cores_;
    options.directory = options_.directory;
    try {
        const bench::BenchRow row = bench::measure_file(options, case_of("aes-256-gcm", seals),
                                                        on_gpu ? gpu_ : "cpu", bytes, session_);
        return figure_of(row, on_gpu ? "file to file" : "all cores, file to file");
    } catch (const bench::BenchWrong& why) {
        wrong(what + ": no figure: " + why.what());
        return {{}, what, std::string("no figure: ") + why.what()};
    } catch (const cli::Failure& why) {
        if (why.code != cli::ExitCode::input_output) throw;
        return {{}, what, why.what()};  // e.g. no room in the directory
    }
}

warpseal_engine* Study::engine(unsigned threads) {
    const auto [at, fresh] = engines_.try_emplace(threads);
    if (fresh) at->second = cli::create_engine({"cpu", threads}, session_);
    return at->second.get();
}

Timed Study::seconds_of(const std::function<void()>& call) const {
    const Stopwatch all;
    std::vector<double> seconds;
    do {
        const Stopwatch one;
        call();
        seconds.push_back(one.seconds());
    } while (seconds.size() < bench::bench_repetitions && all.seconds() < options_.seconds);
    return {bench::median(seconds), spread_of(seconds)};
}

std::vector<Timed> Study::seconds_in_turn(const std::vector<std::function<void()>>& calls) const {
    const Stopwatch all;
    std::vector<std::vector<double>> seconds(calls.size());
    do {
        for (size_t i = 0; i < calls.size(); ++i) {
            const Stopwatch window;
            const double before = cpu_seconds();
            double count = 0;
            do {
                calls[i]();
                ++count;
            } while (window.seconds() < options_.seconds / 200);
            seconds[i].push_back((cpu_seconds() - before) / count);
        }
    } while (seconds[0].size() < bench::bench_repetitions && all.seconds() < options_.seconds);
    std::vector<Timed> times;
    times.reserve(seconds.size());
    for (std::vector<double>& of_call : seconds)
        times.push_back({bench::median(of_call), spread_of(of_call)});
    return times;
}

}  // namespace warpseal::papers
