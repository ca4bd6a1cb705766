// P4: NTRU with a block of threads for each operation, for 10^2 to 10^6 clients, and the gain of
// its parts from threads. Runs on cores and on a GPU.
#include <fmt/core.h>

#include <algorithm>

#include "bench/ladder/kem.h"
#include "bench/papers/ntru_on_one_core.h"
#include "bench/papers/published.h"
#include "bench/papers/study.h"

namespace warpseal::papers {
namespace {

namespace paper = published::p4;

constexpr Table parts_table{
    "P4", "table 5", "where a core's time goes, 10,000 operations of ntruhps4096821", paper::cpu,
    "the method is the ladder's plain text in C++ on one core, vectorized by the compiler; its "
    "random bytes are hashed "
    "counters instead of AES's; its S3 frombytes reduces modulo 3, which the paper has under "
    "mod(3, x^n-1); times are "
    "scaled from as many operations as run in the time allowed; our default is one core's call, "
    "coins included"};
constexpr Table components_table{
    "P4", "table 6", "parts of an operation in one block of threads, 10,000 of each", paper::gpu,
    "in the block's shared memory; random bytes are a hashed counter each instead of a call of "
    "cuRAND; the best number "
    "of threads counts; times are scaled from as many as run in the time allowed"};
constexpr Table threads_table{
    "P4", "figures 8 to 10", "speed-up of parts by threads in the block", paper::gpu,
    "the figures are drawings without numbers, of random bytes, Rq-mul and sample-iid"};
constexpr Table registers_table{"P4", "sections 5.1 and 5.3", "registers of a thread", paper::gpu,
                                "read from the kernels as compiled for this GPU"};
constexpr Table whole_table{
    "P4", "table 8", "10,000 operations of ntruhps4096821", paper::gpu,
    "within the GPU's memory, copies to and from the host not counted (the paper does not say); "
    "the method draws coins "
    "by hashed counters, our default by AES-256-CTR; a seventh of the ciphertexts is spoiled"};
constexpr Table improvement_table{"P4", "table 8, improvement", "the GPU over one core",
                                  paper::both,
                                  "both of this machine: the method over the plain text on one "
                                  "core, our default over our default on one core"};
constexpr Table kernels_table{
    "P4", "section 5.3", "decapsulation with its hashes in a kernel of their own over one kernel",
    paper::gpu, "the rate of two kernels over that of one, both of this GPU"};
constexpr Table block_table{
    "P4", "section 4.3", "whole operations by threads in the block", paper::gpu,
    "a study of ours: the paper has 192 threads encapsulate and 160 decapsulate"};
constexpr Table clients_table{"P4", "figures 12 and 13", "by number of clients", paper::gpu,
                              "the figures are drawings without numbers; within the GPU's memory; "
                              "decapsulation by the method takes two "
                              "kernels; key pairs are made on the CPU in the paper"};

constexpr int thread_counts[] = {1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 384, 512, 640, 768};
constexpr uint64_t client_counts[] = {100, 1'000, 10'000, 100'000, 1'000'000};

struct TimedStep {
    std::optional<double> milliseconds = {};
    ladder::KemMeasured measured{};
    std::string what, not_run;
};

void set_method(Row& row, const TimedStep& step) {
    row.method = step.milliseconds;
    row.method_what = step.what;
    if (row.not_run.empty()) row.not_run = step.not_run;
}
void set_ours(Row& row, const TimedStep& step) {
    row.ours = step.milliseconds;
    row.ours_what = step.what;
    if (row.not_run.empty()) row.not_run = step.not_run;
}

std::string step_name(KemOperation operation, const char* how) {
    constexpr const char* names[kem_operation_count] = {"keypair", "encapsulate", "decapsulate"};
    return fmt::format("{}.{}.{}", paper::set, names[static_cast<int>(operation)], how);
}

std::string operation_name(KemOperation operation) {
    return operation == KemOperation::keypair       ? "key pairs"
           : operation == KemOperation::encapsulate ? "encapsulation"
                                                    : "decapsulation";
}

class Reproduction {
public:
    explicit Reproduction(Study& study) : study_(study), on_core_(study) {
        const uint64_t bytes = 4096;  // approximate memory of one operation's keys and coins
        most_clients_ = study.options().bytes == 0
                            ? UINT64_MAX
                            : std::max<uint64_t>(study.options().bytes / bytes, 1);
    }

    void run() {
        on_core_.compare();
        print_parts();
        print_components();
        print_whole();
        print_blocks();
        print_clients();
    }

private:
    void print_parts() {
        for (const KemOperation operation :
             {KemOperation::encapsulate, KemOperation::decapsulate}) {
            const bool encapsulates = operation == KemOperation::encapsulate;
            double& plain = plain_[encapsulates];
            double& ours = ours_[encapsulates];
            plain = on_core_.plain(operation);
            ours = on_core_.ours(operation);
            Row row{.table = &parts_table, .row = operation_name(operation), .unit = "ms"};
            row.published = encapsulates ? paper::on_cpu.encapsulate : paper::on_cpu.decapsulate;
            row.method = plain;
            row.method_what = "plain text, one core";
            row.ours = ours;
            row.ours_what = fmt::format("warpseal_kem_{}, one core",
                                        encapsulates ? "encapsulate" : "decapsulate");
            study_.take(row);
            for (size_t i = 0; i < std::size(paper::parts); ++i) {
                if (paper::parts[i].encapsulates != encapsulates) continue;
                const PlainNtru::Part& part = PlainNtru::parts()[i];
                Row line{.table = &parts_table,
                         .row = fmt::format("{}: {}", operation_name(operation), part.name),
                         .unit = "ms"};
                line.published = paper::parts[i].milliseconds;
                line.method = on_core_.plain(part);
                line.method_what = "plain text, one core";
                line.more = {{"published_share", *line.published / *row.published},
                             {"method_share", *line.method / plain}};
                study_.take(line);
            }
        }
    }

    TimedStep component(const std::string& name, int threads) {
        TimedStep out{.what = fmt::format("{}, T = {}", name, threads), .not_run = study_.no_gpu()};
        if (study_.gpu().empty()) return out;
        const auto all = ladder::components();
        const auto found = std::find_if(
            all.begin(), all.end(),
            [&](const ladder::Component& candidate) { return name == candidate.name; });
        if (found == all.end())
            throw cli::Failure(cli::ExitCode::error, "the ladder has no component " + name + ".");
        ladder::KemOptions options{.count = 0,
                                   .threads_per_block = threads,
                                   .repetitions = 3,
                                   .seconds = study_.options().seconds / 10};
        options.device = study_.gpu_number();
        finish(out, ladder::run(*found, options, &out.measured));
        return out;
    }

    void finish(TimedStep& out, warpseal_status status) {
        if (status == WARPSEAL_OK)
            out.milliseconds = out.measured.milliseconds / static_cast<double>(out.measured.count) *
                               static_cast<double>(paper::count);
        else
            out.not_run = status == WARPSEAL_INVALID_ARGUMENT
                              ? "a block cannot have so many threads"
                              : warpseal_status_text(status);
        const bool no_fault = status == WARPSEAL_OK || status == WARPSEAL_INVALID_ARGUMENT ||
                              status == WARPSEAL_OUT_OF_MEMORY;
        if (!no_fault) study_.wrong(out.what + ": no figure: " + warpseal_status_text(status));
    }

    void print_components() {
        std::vector<Row> curves;
        for (const paper::Component& published : paper::components) {
            TimedStep one, best;
            for (const int threads : thread_counts) {
                const TimedStep step = component(published.name, threads);
                if (threads == 1) one = best = step;
                if (step.milliseconds.value_or(1e300) < best.milliseconds.value_or(1e300))
                    best = step;
                Row row{.table = &threads_table,
                        .row = step.what,
                        .unit = "times",
                        .method_what = "one block",
                        .not_run = step.not_run};
                if (step.milliseconds && one.milliseconds)
                    row.method = *one.milliseconds / *step.milliseconds;
                row.more = {{"threads_per_block", threads}};
                curves.push_back(row);
                if (!step.milliseconds) break;
            }
            take_component(published, one, best);
        }
        for (const Row& row : curves) study_.take(row);
    }

    void take_component(const paper::Component& published, const TimedStep& one,
                        const TimedStep& best) {
        Row time{.table = &components_table,
                 .row = fmt::format("{}: time", published.name),
                 .unit = "ms",
                 .published = published.milliseconds};
        set_method(time, best);
        time.more = {{"measured_count", static_cast<double>(best.measured.count)}};
        study_.take(time);
        Row speed_up = time;
        speed_up.row = fmt::format("{}: speed-up", published.name);
        speed_up.unit = "times";
        speed_up.published = published.speed_up;
        if (best.milliseconds && one.milliseconds)
            speed_up.method = *one.milliseconds / *best.milliseconds;
        study_.take(speed_up);
        Row registers = time;
        registers.row = fmt::format("{}: registers", published.name);
        registers.unit = "registers";
        registers.published = published.registers;
        if (best.milliseconds) registers.method = best.measured.registers;
        study_.take(registers);
    }

    // Runs a step on `count` operations and scales the times to the requested number.
    TimedStep step(KemOperation operation, const char* how, uint64_t count, int threads = 0) {
        TimedStep out{.what = step_name(operation, how), .not_run = study_.no_gpu()};
        if (study_.gpu().empty()) return out;
        const auto all = ladder::kem_steps();
        const auto found = std::find_if(
            all.begin(), all.end(),
            [&](const ladder::KemStep& candidate) { return out.what == candidate.name; });
        if (found == all.end())
            throw cli::Failure(cli::ExitCode::error, "the ladder has no step " + out.what + ".");
        ladder::KemOptions options{.count = std::min(count, most_clients_),
                                   .threads_per_block = threads,
                                   .seconds = study_.options().seconds};
        options.device = study_.gpu_number();
        finish(out, ladder::run(*found, options, &out.measured));
        if (out.milliseconds)
            *out.milliseconds *= static_cast<double>(count) / static_cast<double>(paper::count);
        return out;
    }

    void print_whole() {
        const TimedStep encapsulate = step(KemOperation::encapsulate, "block", paper::count),
                        decapsulate = step(KemOperation::decapsulate, "block", paper::count),
                        split = step(KemOperation::decapsulate, "split-hash", paper::count),
                        our_encapsulate = step(KemOperation::encapsulate, "product", paper::count),
                        our_decapsulate = step(KemOperation::decapsulate, "product", paper::count);
        const struct {
            const char* name;
            const TimedStep &method, &ours;
            double published, improvement;
            bool encapsulates;
        } lines[] = {
            {"encapsulation, one kernel", encapsulate, our_encapsulate,
             paper::one_kernel.encapsulate, paper::one_kernel.encapsulate_improvement, true},
            {"decapsulation, one kernel", decapsulate, our_decapsulate,
             paper::one_kernel.decapsulate, paper::one_kernel.decapsulate_improvement, false},
            {"decapsulation, two kernels", split, our_decapsulate, paper::two_kernels,
             paper::two_kernels_improvement, false}};
        for (const auto& line : lines) {
            Row row{
                .table = &whole_table, .row = line.name, .unit = "ms", .published = line.published};
            set_method(row, line.method);
            set_ours(row, line.ours);
            study_.take(row);
        }
        for (const auto& line : lines) {
            Row row{.table = &improvement_table,
                    .row = line.name,
                    .unit = "times",
                    .published = line.improvement,
                    .not_run = line.method.not_run};
            row.method_what = line.method.what + " over the plain text on a core";
            row.ours_what = line.ours.what + " over our one core";
            if (line.method.milliseconds)
                row.method = plain_[line.encapsulates] / *line.method.milliseconds;
            if (line.ours.milliseconds)
                row.ours = ours_[line.encapsulates] / *line.ours.milliseconds;
            study_.take(row);
        }
        Row kernels{.table = &kernels_table,
                    .row = "two kernels over one",
                    .unit = "times",
                    .published = paper::two_kernels_over_one,
                    .method_what = split.what,
                    .not_run = split.not_run};
        if (split.milliseconds && decapsulate.milliseconds)
            kernels.method = *decapsulate.milliseconds / *split.milliseconds;
        study_.take(kernels);
        const std::pair<const TimedStep&, int> registers[] = {
            {encapsulate, paper::encapsulate_registers},
            {decapsulate, paper::decapsulate_registers},
            {split, paper::decrypt_registers}};
        for (const auto& [kernel, published] : registers) {
            Row row{.table = &registers_table,
                    .row = kernel.what,
                    .unit = "registers",
                    .published = published,
                    .method_what = kernel.what,
                    .not_run = kernel.not_run};
            if (kernel.milliseconds) row.method = kernel.measured.registers;
            row.more = {{"threads_per_block", kernel.measured.threads_per_block},
                        {"shared_bytes", kernel.measured.shared_bytes},
                        {"local_bytes", kernel.measured.local_bytes}};
            study_.take(row);
        }
    }

    void print_blocks() {
        for (const auto& [operation, how] : {std::pair{KemOperation::encapsulate, "block"},
                                             {KemOperation::decapsulate, "split-hash"}})
            for (const int threads : thread_counts) {
                if (threads != 1 && threads < 32) continue;
                const TimedStep timed = step(operation, how, paper::count, threads);
                Row row{.table = &block_table,
                        .row = fmt::format("{}, T = {}", operation_name(operation), threads),
                        .unit = "ms"};
                set_method(row, timed);
                row.more = {{"threads_per_block", threads}};
                study_.take(row);
            }
    }

    void print_clients() {
        for (const KemOperation operation :
             {KemOperation::encapsulate, KemOperation::decapsulate, KemOperation::keypair})
            for (const uint64_t clients : client_counts) {
                if (clients > most_clients_) continue;
                const bool encapsulates = operation == KemOperation::encapsulate,
                           keypair = operation == KemOperation::keypair;
                Row row{.table = &clients_table,
                        .row = fmt::format("{}, N = {}", operation_name(operation), clients),
                        .unit = "ms"};
                if (!keypair)
                    set_method(row,
                               step(operation, encapsulates ? "block" : "split-hash", clients));
                set_ours(row, step(operation, "product", clients));
                row.more = {{"count", static_cast<double>(clients)}};
                const double of_paper =
                    static_cast<double>(clients) / static_cast<double>(paper::count);
                if (row.method)
                    row.more.emplace_back("method_over_one_core",
                                          plain_[encapsulates] * of_paper / *row.method);
                if (row.ours && !keypair)
                    row.more.emplace_back("default_over_one_core",
                                          ours_[encapsulates] * of_paper / *row.ours);
                study_.take(row);
            }
    }

    Study& study_;
    NtruOnOneCore on_core_;
    uint64_t most_clients_;
    // [encapsulates], milliseconds for the paper's number of operations on one core
    double plain_[2] = {}, ours_[2] = {};
};

}  // namespace

void reproduce_p4(Study& study) { Reproduction(study).run(); }

}  // namespace warpseal::papers
