// P3: gKrypt's AES-256 step by step, key expansion on the device, and time against size beside all
// cores.

#include <algorithm>

#include "bench/papers/methods.h"
#include "bench/papers/p3_files.h"
#include "bench/papers/published.h"
#include "bench/papers/study.h"
#include "cli/support/format.h"

namespace warpseal::papers {
namespace {

namespace paper = published::p3;

constexpr Table ladder_table{
    "P3", "section 3", "the steps of the kernel, AES-256 over a state of bytes", paper::gpu,
    "no figures are published for the steps; the article ends at device-keys, and shared-tables "
    "is a step of ours; ECB within device memory; the article does not print MixColumns: here "
    "products add logarithms, and zero is handled separately; decryption has InvMixColumns, which "
    "the "
    "article calls the same as MixColumns"};
constexpr Table shared_table{"P3", "section 3, shared memory",
                             "shared bytes of a block of 256 threads", paper::gpu,
                             "read from the kernels as compiled for this GPU"};
constexpr Table blocks_table{
    "P3", "section 3, blocks on a multiprocessor",
    "blocks of 256 threads that fit, and the rate with so many", paper::gpu,
    "the numbers are of the article's 48 KB and of shared memory alone, as the article counts; "
    "this GPU has more, and holds more blocks; its rates are measured with unused shared memory "
    "that leaves room for as many blocks as in the article; the article finds that device keys "
    "lower performance, without a figure"};
constexpr Table sizes_table{
    "P3", "figure 8", "time against size, AES-256", paper::both,
    "the figure is a drawing without numbers, of the kernel's time; the method on a GPU is the "
    "article's last kernel, device-keys; its fastest step here has rows of its own; on cores the "
    "method is AES over a state of bytes, a thread for each core and blocks of its own, in C++ "
    "instead of OpenCL; transfers are not counted"};
constexpr Table over_table{
    "P3", "figure 9", "the GPU over all cores, AES-256", paper::both,
    "both of this machine: the article's last kernel, device-keys, over its AES on 8 threads, or "
    "as many as there are cores, in C++ instead of OpenCL; our GPU path over our cores, which "
    "have AES instructions; the fastest of the article's steps here has a row of its own"};

// The article's steps. Its figures are of the last one, "the fully optimized kernel".
constexpr const char* article_steps[] = {"global", "constant", "shared-state", "unrolled",
                                         "device-keys"};
constexpr const char* last_step = "device-keys";
constexpr const char* our_step = "shared-tables";
constexpr uint64_t mebibyte = 1 << 20;
constexpr uint64_t sizes[] = {1, 4, 16, 64, 256};  // MiB

std::string step_name(const char* step, bool decrypts) {
    return cli::format("gkrypt.{}{}", decrypts ? "decrypt." : "", step);
}

class Reproduction {
public:
    explicit Reproduction(Study& study)
        : study_(study),
          bytes_(study.limited(1024 * mebibyte)),
          team_(static_cast<int>(study.cores())) {}

    void run() {
        print_ladder();
        if (study_.wants(shared_table)) print_shared();
        if (study_.wants(blocks_table)) print_blocks();
        if (study_.wants(sizes_table)) print_sizes();
        if (study_.wants(over_table)) print_quotient();
        if (study_.wants(p3_files_table)) encrypt_p3_files(study_);
    }

private:
    static std::vector<uint8_t> key() {
        std::vector<uint8_t> bytes(32);
        for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
        return bytes;
    }

    void print_ladder() {
        for (const bool decrypts : {false, true}) {
            for (const char* step : article_steps) {
                const auto figure = print_step(step, decrypts);
                if (decrypts) continue;
                if (figure.gigabytes_per_second.value_or(0) >=
                    fastest_.gigabytes_per_second.value_or(0))
                    fastest_ = figure;
                if (step == std::string_view(last_step)) last_ = figure;
            }
            print_step(our_step, decrypts);
        }
    }

    Study::StepFigure print_step(const char* step, bool decrypts) {
        auto figure = study_.step(step_name(step, decrypts), bytes_);
        Row row{.table = &ladder_table,
                .row = cli::format("{}{}, {}", step, step == our_step ? " (ours)" : "",
                                   decrypts ? "decryption" : "encryption"),
                .unit = "GB/s"};
        set_method(row, figure, as_gigabytes);
        set_ours(row, study_.on_gpu("aes-256-ecb", !decrypts, bytes_), as_gigabytes);
        if (row.method) add_kernel(row, figure.measured);
        study_.take(row);
        return figure;
    }

    void print_shared() {
        const std::pair<const char*, int> published[] = {
            {"shared-state", paper::state_shared_bytes},
            {"device-keys", paper::state_and_key_shared_bytes}};
        for (const auto& [step, bytes] : published) {
            const auto figure =
                study_.step(step_name(step, false), study_.limited(16 * mebibyte), 256, 1);
            Row row{.table = &shared_table, .row = step, .unit = "bytes", .published = bytes};
            row.method_what = figure.what;
            row.not_run = figure.not_run;
            if (figure.gigabytes_per_second) row.method = figure.measured.shared_bytes;
            study_.take(row);
        }
    }

    // The article's blocks in 48 KB, then its last two kernels with as many blocks on this GPU.
    void print_blocks() {
        const auto before = run_with_blocks("shared-state", paper::state_blocks);
        take_blocks(before, paper::state_blocks);
        const auto with_keys = run_with_blocks(last_step, paper::state_and_key_blocks);
        take_blocks(with_keys, paper::state_and_key_blocks);
        const auto without_keys = run_with_blocks("unrolled", paper::state_blocks);
        take_rate(without_keys, paper::state_blocks);
        take_rate(with_keys, paper::state_and_key_blocks);
        Row row{.table = &blocks_table,
                .row = "device-keys with 5 blocks over unrolled with 6",
                .unit = "times",
                .published = 1,
                .published_bound = "below"};
        row.method_what = with_keys.what + " over " + without_keys.what;
        row.not_run = with_keys.not_run.empty() ? without_keys.not_run : with_keys.not_run;
        if (row.not_run.empty())
            row.method = *with_keys.gigabytes_per_second / *without_keys.gigabytes_per_second;
        study_.take(row);
    }

    Study::StepFigure run_with_blocks(const char* step, int resident_blocks) {
        ladder::Options options;
        options.bytes = bytes_;
        options.threads_per_block = 256;
        options.resident_blocks = resident_blocks;
        return study_.step(step_name(step, false), options);
    }

    void take_blocks(const Study::StepFigure& figure, int published) {
        Row row{.table = &blocks_table,
                .row = figure.what + ": blocks in 48 KB",
                .unit = "blocks",
                .published = published,
                .method_what = figure.what,
                .not_run = figure.not_run};
        if (figure.gigabytes_per_second)
            row.method = paper::multiprocessor_shared_bytes / figure.measured.shared_bytes;
        study_.take(row);
    }

    void take_rate(const Study::StepFigure& figure, int blocks) {
        Row row{.table = &blocks_table,
                .row = cli::format("{}: rate with {} blocks", figure.what, blocks),
                .unit = "GB/s"};
        set_method(row, figure, as_gigabytes);
        if (row.method) add_kernel(row, figure.measured);
        study_.take(row);
    }

    void print_sizes() {
        for (const uint64_t size : sizes) {
            const uint64_t bytes = size * mebibyte;
            if (study_.limited(bytes) != bytes) {
                const std::string limit = "more than --bytes";
                const std::string& on_gpu = study_.gpu().empty() ? study_.no_gpu() : limit;
                take_excluded_size(size, "GPU", on_gpu);
                take_excluded_size(size, "GPU, fastest step of the article", on_gpu);
                take_excluded_size(size, "all cores", limit);
                continue;
            }
            take_time(size, "GPU", study_.step(last_.what, bytes),
                      study_.on_gpu("aes-256-ecb", true, bytes));
            take_time(size, "GPU, fastest step of the article", study_.step(fastest_.what, bytes),
                      study_.on_gpu("aes-256-ecb", true, bytes));
            take_time(size, "all cores", plain_on_cores(team_, bytes),
                      study_.on_all_cores("aes-256-ecb", true, bytes));
        }
    }

    void take_excluded_size(uint64_t size, const char* where, const std::string& reason) {
        study_.take({.table = &sizes_table,
                     .row = cli::format("{} MiB, {}", size, where),
                     .unit = "ms",
                     .not_run = reason});
    }

    void take_time(uint64_t size, const char* where, const Figure& method, const Figure& ours) {
        const auto milliseconds = [&](double rate) {
            return static_cast<double>(size * mebibyte) / rate / 1e6;
        };
        Row row{.table = &sizes_table, .row = cli::format("{} MiB, {}", size, where), .unit = "ms"};
        set_method(row, method, milliseconds);
        set_ours(row, ours, milliseconds);
        row.more.emplace_back("bytes", static_cast<double>(size * mebibyte));
        study_.take(row);
    }

    Figure plain_on_cores(Team& team, uint64_t bytes) {
        std::vector<uint8_t> data(bytes), out(bytes);
        const Method plain = over_blocks(key(), team);
        const Timed time =
            study_.seconds_of([&] { plain(true, data.data(), out.data(), bytes / 16); });
        return {static_cast<double>(bytes) / time.seconds / 1e9,
                cli::format("AES over a state of bytes, {} threads", team.threads()),
                "",
                time.spread,
                study_.on_cores(static_cast<unsigned>(team.threads())),
                study_.scaled_text(bytes)};
    }

    void print_quotient() {
        const uint64_t bytes = study_.limited(64 * mebibyte);
        Team team(std::min(paper::cpu_threads, static_cast<int>(study_.cores())));
        const Figure cores = plain_on_cores(team, bytes);
        const Figure &gpu = study_.on_gpu("aes-256-ecb", true, bytes),
                     &our_cores = study_.on_all_cores("aes-256-ecb", true, bytes);
        const auto over_cores = [&](const char* name, const Figure& method) {
            Row row{.table = &over_table, .row = name, .unit = "times"};
            set_method(row, method,
                       [&](double rate) { return rate / *cores.gigabytes_per_second; });
            row.method_what += " over " + cores.what;
            row.more = {{"cores_gigabytes_per_second", *cores.gigabytes_per_second}};
            return row;
        };
        Row row = over_cores("GPU over cores", last_);
        row.published = paper::gpu_over_cpu;
        row.published_bound = "at least";
        if (our_cores.gigabytes_per_second)
            set_ours(row, gpu, [&](double rate) { return rate / *our_cores.gigabytes_per_second; });
        row.ours_what = gpu.what + " over " + our_cores.what;
        row.figure = "P3 GPU over all cores";
        study_.take(row);
        study_.take(over_cores("GPU over cores, fastest step of the article", fastest_));
    }

    Study& study_;
    const uint64_t bytes_;
    Team team_;
    Figure last_, fastest_;  // the last and the fastest of the article's steps that encrypt
};

// All tables, in the order of their rows.
constexpr const Table* all_tables[] = {&ladder_table, &shared_table, &blocks_table,
                                       &sizes_table,  &over_table,   &p3_files_table};

}  // namespace

constinit const Paper paper_p3{"P3", "gKrypt: AES-256 on CUDA (Masood, 2012)", all_tables,
                               [](Study& study) { Reproduction(study).run(); }};

}  // namespace warpseal::papers
