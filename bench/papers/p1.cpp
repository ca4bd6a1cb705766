// P1: AES, ARIA and DES on CUDA in two representations: throughput, kernel resources and the best
// block size.
#include <fmt/core.h>

#include "bench/papers/published.h"
#include "bench/papers/study.h"
#include "bench/papers/table_code.h"

namespace warpseal::papers {
namespace {

namespace paper = published::p1;

constexpr Table throughput{"P1", "table 3",
                           "block ciphers on CUDA, 32-bit form, global memory to global memory",
                           paper::gtx,
                           "transfers between host and device are not counted, there and here; "
                           "keys of 128 bits (DES: 56), ECB"};
constexpr Table on_cpu{"P1", "section 4.1", "the same ciphers on a CPU", paper::cpu,
                       "the method is the same 32-bit code with look-up tables in C++, on one "
                       "core; the default is one core too"};
constexpr Table forms{
    "P1", "section 3.2", "the two forms on a GPU over the 32-bit code on a core", paper::gtx,
    "both sides of a quotient are of this machine: its GPU over one of its cores"};
constexpr Table resources{
    "P1", "table 4",
    "what the compiled kernels take: a block's shared memory, a thread's registers and local "
    "memory",
    "GeForce 8800, nvcc of 2007",
    "read from the kernels as compiled for this GPU; a block of the step's own size"};
constexpr Table threads{
    "P1", "section 4.2", "threads in a block: 64 at least, 192 or 256 advised",
    "NVIDIA's advice of 2007",
    "no figures are published; a kernel that cannot have so many threads says so"};

struct Cipher {
    const char* paper_name;
    const char* words;  // steps of the ladder
    const char* bytes;
    const char* ours;
};
constexpr Cipher ciphers[] = {{"AES", "aes-128.words", "aes-128.bytes", "aes-128-ecb"},
                              {"ARIA", "aria-128.words", "aria-128.bytes", "aria-128-ecb"},
                              {"DES", "des.words", nullptr, "des-ecb"}};
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
        print_on_cpu();
        print_forms();
        for (const paper::Resources& published : paper::resources) print_resources(published);
        print_threads();
    }

private:
    void print_throughput() {
        for (size_t i = 0; i < std::size(ciphers); ++i)
            for (const auto& [machine, figure] :
                 {std::pair{paper::gts, paper::throughput[i].on_gts},
                  {paper::gtx, paper::throughput[i].on_gtx}}) {
                Row row{.table = &throughput,
                        .row = fmt::format("{}, {}", ciphers[i].paper_name, machine),
                        .unit = "Gbit/s"};
                row.published = figure;
                row.published_on = machine;
                set_method(row, words_[i], as_gigabits);
                set_ours(row, study_.on_gpu(ciphers[i].ours, true, bytes_), as_gigabits);
                study_.take(row);
            }
    }

    void print_on_cpu() {
        cores_ = {table_code_rate("AES", study_), table_code_rate("ARIA", study_)};
        for (size_t i = 0; i < cores_.size(); ++i) {
            Row row{.table = &on_cpu,
                    .row = ciphers[i].paper_name,
                    .unit = "Gbit/s",
                    .published = paper::throughput[i].on_cpu};
            row.method = as_gigabits(cores_[i]);
            row.method_what = "32-bit code with look-up tables, one core";
            set_ours(row, study_.on_one_core(ciphers[i].ours, true), as_gigabits);
            study_.take(row);
        }
    }

    void print_forms() {
        for (size_t i = 0; i < cores_.size(); ++i)
            for (const bool words : {true, false}) {
                Row row{
                    .table = &forms,
                    .row = fmt::format("{}, {}-bit form", ciphers[i].paper_name, words ? 32 : 8),
                    .unit = "times"};
                row.published = words ? paper::word_form_over_cpu : paper::byte_form_over_cpu;
                row.published_bound = words ? ">" : "<";
                const Study::StepFigure& figure = words ? words_[i] : bytes_form_[i];
                set_method(row, figure, [&](double rate) { return rate / cores_[i]; });
                if (figure.gigabytes_per_second)
                    row.more.emplace_back("method_gigabytes_per_second",
                                          *figure.gigabytes_per_second);
                study_.take(row);
            }
    }

    void print_resources(const paper::Resources& published) {
        const Cipher& cipher = cipher_of(published.cipher);
        const auto i = static_cast<size_t>(&cipher - ciphers);
        const Study::StepFigure& figure = published.form[0] == '8' ? bytes_form_[i] : words_[i];
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
                    .row = fmt::format("{}, {}: {}", published.form, published.cipher, line.what),
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

    void print_threads() {
        const uint64_t bytes = study_.limited(gibibyte / 4);
        for (const Cipher& cipher : ciphers)
            for (const char* step : {cipher.words, cipher.bytes})
                for (const int in_block : {32, 64, 128, 192, 256, 384, 512, 768, 1024}) {
                    if (!step) continue;
                    Row row{.table = &threads,
                            .row = fmt::format("{}, {} threads", step, in_block),
                            .unit = "GB/s"};
                    set_method(row, study_.step(step, bytes, in_block, 3), as_gigabytes);
                    row.more.emplace_back("threads_per_block", in_block);
                    study_.take(row);
                }
    }

    Study& study_;
    const uint64_t bytes_;
    std::vector<Study::StepFigure> words_, bytes_form_;
    std::vector<double> cores_;  // GB/s of the 32-bit code on one core
};

}  // namespace

void reproduce_p1(Study& study) { Reproduction(study).run(); }

}  // namespace warpseal::papers
