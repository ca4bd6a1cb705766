// P1: AES, ARIA and DES on CUDA in two representations: throughput, growth with the number of
// multiprocessors, kernel resources, occupancy and the best block size.

#include "bench/papers/p1_cpu_load.h"
#include "bench/papers/published.h"
#include "bench/papers/study.h"
#include "bench/papers/table_code.h"
#include "cli/support/format.h"

namespace warpseal::papers {
namespace {

namespace paper = published::p1;

constexpr Table throughput{
    "P1", "table 3", "block ciphers on CUDA, 32-bit form, global memory to global memory",
    paper::gtx,
    "transfers between host and device are not counted, there and here; keys of 128 bits (DES: "
    "56), ECB; blocks of 256 threads, as the paper does not say how many its own have; DES "
    "combines its S-boxes with P, which the paper does not say"};
constexpr Table multiprocessors_table{
    "P1", "table 3, by multiprocessors", "the 32-bit form on some of the multiprocessors",
    paper::both_cards,
    "one block of 1024 threads on each multiprocessor in use, which stays for the next texts (our "
    "variant of the method, with four tables for AES), as blocks of threads that end would spread "
    "over all multiprocessors; the paper's two cards differ in clock and memory bandwidth too; "
    "the published quotient is of table 3's figures"};
constexpr Table on_cpu{"P1", "section 4.1", "the same ciphers on a CPU", paper::cpu,
                       "the method is the same 32-bit code with look-up tables in C++, on one "
                       "core; the default is one core too"};
constexpr Table forms{
    "P1", "section 3.2", "the two forms on a GPU over the 32-bit code on a core", paper::gtx,
    "both sides of a quotient are of this machine: its GPU over one of its cores; the 8-bit form "
    "has blocks of 16 threads with a copy of the tables each, as in the paper; the paper "
    "does not print how AES doubles bytes, and here it is arithmetic; our variant has 256 threads "
    "that share a copy "
    "and stay for the next texts"};
constexpr Table resources{
    "P1", "table 4",
    "what the compiled kernels take: a block's shared memory, a thread's registers and local "
    "memory",
    "GeForce 8800, nvcc of 2007",
    "read from the kernels as compiled for this GPU, without a limit of registers; a block of the "
    "step's own size; the round keys are in shared memory, as in the paper's text, but its figures "
    "for AES and DES leave no room for them, and its local memory is as large as they are; its "
    "shared bytes include a kernel's arguments"};
constexpr Table occupancy_table{
    "P1", "section 4.2, occupancy",
    "blocks of threads on a multiprocessor, resident warps, and threads at once", paper::gtx,
    "the paper advises over 1000 threads in all and has no figures of its kernels; computed by "
    "the driver from the kernels as compiled for this GPU"};
constexpr Table threads{
    "P1", "section 4.2", "threads in a block: 64 at least, 192 or 256 advised",
    "NVIDIA's advice of 2007",
    "no figures are published; with 16 threads the 8-bit form is the paper's, with more of them "
    "each 16 encrypt one block of text, and all share one copy of the tables; a kernel that "
    "cannot have so many threads says so"};

struct Cipher {
    const char* paper_name;
    const char* words;  // steps of the ladder
    const char* bytes;
    const char* persistent_words;  // our variants of both
    const char* persistent_bytes;
    const char* ours;
};
constexpr Cipher ciphers[] = {
    {"AES", "aes-128.words", "aes-128.bytes", "aes-128.words-persistent",
     "aes-128.bytes-persistent", "aes-128-ecb"},
    {"ARIA", "aria-128.words", "aria-128.bytes", "aria-128.words-persistent",
     "aria-128.bytes-persistent", "aria-128-ecb"},
    {"DES", "des.words", nullptr, "des.words-persistent", nullptr, "des-ecb"}};
constexpr uint64_t gibibyte = uint64_t{1} << 30;

const Cipher& cipher_of(std::string_view paper_name) {
    for (const Cipher& cipher : ciphers)
        if (paper_name == cipher.paper_name) return cipher;
    throw std::logic_error("a cipher that P1 has not");
}

class Reproduction {
public:
    explicit Reproduction(Study& study) : study_(study), bytes_(study.limited(gibibyte)) {}

    void run() {
        for (const Cipher& cipher : ciphers) {
            words_.push_back(study_.step(cipher.words, bytes_));
            bytes_form_.push_back(cipher.bytes ? study_.step(cipher.bytes, bytes_)
                                               : Study::StepFigure{});
        }
        print_throughput();
        if (study_.wants(multiprocessors_table)) print_multiprocessors();
        if (study_.wants(on_cpu) || study_.wants(forms)) {
            print_on_cpu();
            print_forms();
        }
        for (const paper::Resources& published : paper::resources) print_resources(published);
        for (const paper::Resources& published : paper::resources) print_occupancy(published);
        if (study_.wants(threads)) print_threads();
        if (study_.wants(load_table)) print_cpu_load(study_);
    }

private:
    void print_throughput() {
        for (size_t i = 0; i < std::size(ciphers); ++i)
            for (const auto& [machine, figure] :
                 {std::pair{paper::gts, paper::throughput[i].on_gts},
                  {paper::gtx, paper::throughput[i].on_gtx}}) {
                Row row{.table = &throughput,
                        .row = cli::format("{}, {}", ciphers[i].paper_name, machine),
                        .unit = "Gbit/s"};
                row.published = figure;
                row.published_on = machine;
                row.figure = cli::format("P1 {} on a GPU", ciphers[i].paper_name);
                set_method(row, words_[i], as_gigabits);
                set_ours(row, study_.on_gpu(ciphers[i].ours, true, bytes_), as_gigabits);
                study_.take(row);
            }
    }

    // The paper's two numbers of multiprocessors, then quarters of this GPU.
    void print_multiprocessors() {
        const int all = words_.front().measured.multiprocessors;
        for (size_t i = 0; i < std::size(ciphers); ++i) {
            const Study::StepFigure few = on_multiprocessors(i, paper::gts_multiprocessors),
                                    more = on_multiprocessors(i, paper::gtx_multiprocessors);
            for (int quarters = 1; quarters <= 4 && all > 0; ++quarters)
                on_multiprocessors(i, all * quarters / 4);
            Row row{.table = &multiprocessors_table,
                    .row = cli::format("{}, {} multiprocessors over {}", ciphers[i].paper_name,
                                       paper::gtx_multiprocessors, paper::gts_multiprocessors),
                    .unit = "times",
                    .published = Printed::computed(paper::throughput[i].on_gtx /
                                                   paper::throughput[i].on_gts),
                    .not_run = more.not_run};
            row.method_what = more.what;
            row.scaled = more.scaled;
            if (few.gigabytes_per_second && more.gigabytes_per_second)
                row.method = *more.gigabytes_per_second / *few.gigabytes_per_second;
            study_.take(row);
        }
    }

    Study::StepFigure on_multiprocessors(size_t cipher, int count) {
        ladder::Options options;
        options.bytes = study_.limited(gibibyte / 4);
        options.threads_per_block = 1024;
        options.repetitions = 3;
        options.multiprocessors = count;
        auto figure = study_.step(ciphers[cipher].persistent_words, options);
        Row row{.table = &multiprocessors_table,
                .row = cli::format("{}, {} multiprocessors", ciphers[cipher].paper_name, count),
                .unit = "Gbit/s"};
        set_method(row, figure, as_gigabits);
        if (row.method) {
            row.more.emplace_back("gigabits_per_multiprocessor", *row.method / count);
            add_kernel(row, figure.measured);
        }
        study_.take(row);
        return figure;
    }

    void print_on_cpu() {
        cores_ = {table_code_rate("AES", study_), table_code_rate("ARIA", study_)};
        for (size_t i = 0; i < cores_.size(); ++i) {
            Row row{.table = &on_cpu,
                    .row = ciphers[i].paper_name,
                    .unit = "Gbit/s",
                    .published = paper::throughput[i].on_cpu};
            row.method = as_gigabits(cores_[i].gigabytes_per_second);
            row.method_what = "32-bit code with look-up tables, one core";
            row.method_spread = cores_[i].spread;
            row.method_units = study_.on_cores(1);
            row.figure = cli::format("P1 {} on a core", ciphers[i].paper_name);
            set_ours(row, study_.on_one_core(ciphers[i].ours, true), as_gigabits);
            study_.take(row);
        }
    }

    void print_forms() {
        for (size_t i = 0; i < cores_.size(); ++i) {
            for (const bool words : {true, false}) {
                Row row = over_core(i, words ? words_[i] : bytes_form_[i],
                                    words ? "32-bit form" : "8-bit form");
                row.published = words ? paper::word_form_over_cpu : paper::byte_form_over_cpu;
                row.published_bound = words ? "at least" : "below";
                study_.take(row);
            }
            study_.take(over_core(i, study_.step(ciphers[i].persistent_bytes, bytes_),
                                  "8-bit form, our variant"));
        }
    }

    Row over_core(size_t cipher, const Study::StepFigure& figure, const char* form) const {
        Row row{.table = &forms,
                .row = cli::format("{}, {}", ciphers[cipher].paper_name, form),
                .unit = "times"};
        set_method(row, figure,
                   [&](double rate) { return rate / cores_[cipher].gigabytes_per_second; });
        if (figure.gigabytes_per_second)
            row.more.emplace_back("method_gigabytes_per_second", *figure.gigabytes_per_second);
        return row;
    }

    const Study::StepFigure& step_of(const paper::Resources& published) const {
        const auto i = static_cast<size_t>(&cipher_of(published.cipher) - ciphers);
        return published.form[0] == '8' ? bytes_form_[i] : words_[i];
    }

    void print_resources(const paper::Resources& published) {
        const Study::StepFigure& figure = step_of(published);
        const ladder::Measured& kernel = figure.measured;
        const struct {
            const char* what;
            const char* unit;
            int published, measured;
        } lines[] = {{"shared", "bytes", published.shared_bytes, kernel.shared_bytes},
                     {"registers", "registers", published.registers, kernel.registers},
                     {"local", "bytes", published.local_bytes, kernel.local_bytes}};
        for (const auto& line : lines) {
            Row row{.table = &resources,
                    .row = cli::format("{}, {}: {}", published.form, published.cipher, line.what),
                    .unit = line.unit};
            row.published = line.published;
            row.method_what = figure.what;
            row.not_run = figure.not_run;
            if (figure.gigabytes_per_second) {
                row.method = line.measured;
                row.more.emplace_back("threads_per_block", kernel.threads_per_block);
            }
            study_.take(row);
        }
    }

    void print_occupancy(const paper::Resources& published) {
        const Study::StepFigure& figure = step_of(published);
        const ladder::Measured& kernel = figure.measured;
        const struct {
            const char* what;
            const char* unit;
            double measured;
        } lines[] = {{"blocks on a multiprocessor", "blocks", double(kernel.resident_blocks)},
                     {"occupancy", "%", 100 * kernel.occupancy},
                     {"threads at once", "threads", kernel.resident_threads()}};
        for (const auto& line : lines) {
            Row row{.table = &occupancy_table,
                    .row = cli::format("{}, {}: {}", published.form, published.cipher, line.what),
                    .unit = line.unit};
            if (line.unit == std::string_view("threads"))
                row.published = paper::least_threads, row.published_bound = "over";
            row.method_what = figure.what;
            row.not_run = figure.not_run;
            if (figure.gigabytes_per_second) {
                row.method = line.measured;
                add_kernel(row, kernel);
            }
            study_.take(row);
        }
    }

    void print_threads() {
        const uint64_t bytes = study_.limited(gibibyte / 4);
        for (const Cipher& cipher : ciphers)
            for (const char* step : {cipher.words, cipher.bytes})
                for (const int in_block : {16, 32, 64, 128, 192, 256, 384, 512, 768, 1024}) {
                    if (!step || (in_block == 16 && step == cipher.words)) continue;
                    Row row{.table = &threads,
                            .row = cli::format("{}, {} threads", step, in_block),
                            .unit = "GB/s"};
                    set_method(row, study_.step(step, bytes, in_block, 3), as_gigabytes);
                    row.more.emplace_back("threads_per_block", in_block);
                    study_.take(row);
                }
    }

    Study& study_;
    const uint64_t bytes_;
    std::vector<Study::StepFigure> words_, bytes_form_;
    std::vector<TableCodeRate> cores_;  // the 32-bit code on one core
};

// All tables, in the order of their rows.
constexpr const Table* all_tables[] = {&throughput, &multiprocessors_table, &on_cpu,  &forms,
                                       &resources,  &occupancy_table,       &threads, &load_table};

}  // namespace

constinit const Paper paper_p1{"P1", "AES, ARIA and DES on CUDA (Yeom and Cho, 2008)", all_tables,
                               [](Study& study) { Reproduction(study).run(); }};

}  // namespace warpseal::papers
