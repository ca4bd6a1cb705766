// P4: NTRU with a block of threads for each operation, for 10^2 to 10^6 clients, and the gain of
// its parts from threads. Runs on cores and on a GPU.

#include <algorithm>
#include <initializer_list>

#include "bench/papers/ntru_on_gpu.h"
#include "bench/papers/ntru_on_one_core.h"
#include "bench/papers/p4_clients.h"
#include "bench/papers/p4_estimates.h"
#include "bench/papers/p4_tables.h"
#include "bench/papers/published.h"
#include "bench/papers/study.h"
#include "cli/support/format.h"

namespace warpseal::papers {
namespace {

using namespace p4;

constexpr int thread_counts[] = {1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 384, 512, 640, 768};
constexpr uint64_t client_counts[] = {100, 1'000, 10'000, 100'000, 1'000'000};

std::string operation_name(KemOperation operation) {
    return operation == KemOperation::keypair       ? "key pairs"
           : operation == KemOperation::encapsulate ? "encapsulation"
                                                    : "decapsulation";
}

class Reproduction {
public:
    explicit Reproduction(Study& study) : study_(study), on_core_(study), on_gpu_(study) {}

    void run() {
        on_core_.compare();
        const bool by_clients = wants({&clients_table, &client_times_table});
        const bool whole = wants(
            {&whole_table, &improvement_table, &kernels_table, &registers_table, &occupancy_table});
        // Both take the times of a core from the parts.
        const bool estimates = wants({&shares_table, &estimates_table});
        if (wants({&parts_table}) || estimates || whole || by_clients) print_parts();
        if (estimates) print_shares(study_, profiles_);
        if (wants({&components_table, &threads_table, &estimates_table})) print_components();
        if (estimates) print_estimates(study_, profiles_, speed_up_);
        if (whole) print_whole();
        if (wants({&copies_table})) print_copies();
        if (wants({&variants_table})) print_variants();
        if (wants({&block_table})) print_blocks();
        if (by_clients) print_clients();
        if (wants({&clients_at_once_table})) print_clients_at_once(study_);
        if (wants({&sizes_table})) print_sizes(study_);
    }

private:
    bool wants(std::initializer_list<const Table*> tables) const {
        return std::any_of(tables.begin(), tables.end(),
                           [&](const Table* table) { return study_.wants(*table); });
    }

    void print_parts() {
        for (const KemOperation operation :
             {KemOperation::encapsulate, KemOperation::decapsulate}) {
            const bool encapsulates = operation == KemOperation::encapsulate;
            double& plain = plain_[encapsulates];
            double& ours = ours_[encapsulates];
            const std::vector<Timed> plain_times = on_core_.plain(encapsulates);
            const Timed& plain_time = plain_times[0];
            const Timed our_time = on_core_.ours(operation);
            plain = 1000 * plain_time.seconds;
            ours = 1000 * our_time.seconds;
            profiles_[encapsulates].whole = plain;
            Row row{.table = &parts_table, .row = operation_name(operation), .unit = "ms"};
            row.published = encapsulates ? paper::on_cpu.encapsulate : paper::on_cpu.decapsulate;
            row.method = plain;
            row.method_what = "plain text, one core";
            row.ours = ours;
            row.method_spread = plain_time.spread;
            row.ours_spread = our_time.spread;
            row.method_units = row.ours_units = study_.on_cores(1);
            row.figure = cli::format("P4 {} on a core", operation_name(operation));
            row.ours_what = cli::format("warpseal_kem_{}, one core",
                                        encapsulates ? "encapsulate" : "decapsulate");
            study_.take(row);
            for (size_t i = 0, timed = 0; i < std::size(paper::parts); ++i) {
                if (paper::parts[i].encapsulates != encapsulates) continue;
                const PlainNtru::Part& part = PlainNtru::parts()[i];
                const Timed& time = plain_times[++timed];
                Row line{.table = &parts_table,
                         .row = cli::format("{}: {}", operation_name(operation), part.name),
                         .unit = "ms"};
                line.published = paper::parts[i].milliseconds;
                line.method = 1000 * time.seconds;
                profiles_[encapsulates].parts[i] = *line.method;
                line.method_spread = time.spread;
                line.method_units = study_.on_cores(1);
                line.method_what = "plain text, one core";
                line.more = {{"published_share", *line.published / *row.published},
                             {"method_share", *line.method / plain}};
                study_.take(line);
            }
        }
    }

    void print_components() {
        std::vector<Row> curves;
        for (const paper::Component& published : paper::components) {
            TimedStep one, best;
            for (const int threads : thread_counts) {
                const TimedStep step = on_gpu_.component(published.name, threads);
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
        take_own_component("Rq-mul, doubled factor");
        for (const Row& row : curves) study_.take(row);
    }

    void take_own_component(const char* name) {
        TimedStep best;
        for (const int threads : thread_counts) {
            const TimedStep step = on_gpu_.component(name, threads);
            if (threads == 1 || step.milliseconds.value_or(1e300) < *best.milliseconds) best = step;
            if (!step.milliseconds) break;
        }
        Row row{.table = &components_table, .row = cli::format("{}: time", name), .unit = "ms"};
        set_method(row, best);
        study_.take(row);
    }

    void take_component(const paper::Component& published, const TimedStep& one,
                        const TimedStep& best) {
        Row time{.table = &components_table,
                 .row = cli::format("{}: time", published.name),
                 .unit = "ms",
                 .published = published.milliseconds,
                 .published_units = 1};
        set_method(time, best);
        time.more = {{"measured_count", static_cast<double>(best.measured.count)}};
        study_.take(time);
        Row speed_up = time;
        speed_up.row = cli::format("{}: speed-up", published.name);
        speed_up.unit = "times";
        speed_up.published = published.speed_up;
        if (best.milliseconds && one.milliseconds) {
            speed_up.method = *one.milliseconds / *best.milliseconds;
            speed_up_[published.name] = *speed_up.method;
        }
        study_.take(speed_up);
        Row registers = time;
        registers.row = cli::format("{}: registers", published.name);
        registers.unit = "registers";
        registers.published = published.registers;
        if (best.milliseconds) registers.method = best.measured.registers;
        study_.take(registers);
    }

    TimedStep step(KemOperation operation, const char* how, int threads = 0) {
        return on_gpu_.step(operation, how, paper::count, threads);
    }

    void print_whole() {
        const TimedStep encapsulate = step(KemOperation::encapsulate, "block"),
                        decapsulate = step(KemOperation::decapsulate, "block"),
                        split = step(KemOperation::decapsulate, "split-hash"),
                        our_encapsulate = step(KemOperation::encapsulate, "product"),
                        our_decapsulate = step(KemOperation::decapsulate, "product");
        const struct {
            const char* name;
            const TimedStep &method, &ours;
            Printed published, improvement;
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
            row.figure = cli::format("P4 {}capsulation on a GPU", line.encapsulates ? "en" : "de");
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
            row.scaled = line.ours.scaled;
            row.figure =
                cli::format("P4 improvement of {}capsulation", line.encapsulates ? "en" : "de");
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
        kernels.published_bound = "about";
        kernels.scaled = split.scaled;
        study_.take(kernels);
        print_registers(encapsulate, decapsulate, split);
        print_occupancy(encapsulate, paper::encapsulate_occupancy);
        print_occupancy(decapsulate, paper::decapsulate_occupancy);
    }

    void print_registers(const TimedStep& encapsulate, const TimedStep& decapsulate,
                         const TimedStep& split) {
        const auto print = [&](const TimedStep& kernel, std::optional<double> published) {
            Row row{.table = &registers_table,
                    .row = kernel.what,
                    .unit = "registers",
                    .published = published,
                    .method_what = kernel.what,
                    .not_run = kernel.not_run};
            if (kernel.milliseconds) {
                row.method = kernel.measured.registers;
                add_kernel(row, kernel.measured);
            }
            study_.take(row);
        };
        print(encapsulate, paper::encapsulate_registers);
        print(decapsulate, paper::decapsulate_registers);
        print(split, paper::decrypt_registers);
        print(step(KemOperation::encapsulate, "block-768"), std::nullopt);
        print(step(KemOperation::decapsulate, "block-768"), std::nullopt);
    }

    void print_occupancy(const TimedStep& kernel, const paper::Occupancy& published) {
        const struct {
            const char* what;
            const char* unit;
            double published, measured;
        } lines[] = {{"occupancy", "%", published.percent, 100 * kernel.measured.occupancy},
                     {"blocks", "blocks", double(published.blocks),
                      double(kernel.measured.resident_blocks)}};
        for (const auto& line : lines) {
            Row row{.table = &occupancy_table,
                    .row = cli::format("{}: {}", kernel.what, line.what),
                    .unit = line.unit,
                    .published = line.published,
                    .method_what = kernel.what,
                    .not_run = kernel.not_run};
            if (kernel.milliseconds) {
                row.method = line.measured;
                add_kernel(row, kernel.measured);
            }
            study_.take(row);
        }
    }

    // The time of a step, and its rate over that of `base`.
    void print_against(const Table& table, const TimedStep& base, const TimedStep& changed) {
        Row row{.table = &table, .row = changed.what, .unit = "ms"};
        set_method(row, changed);
        if (row.method) add_kernel(row, changed.measured);
        study_.take(row);
        if (&base == &changed) return;
        Row quotient{.table = &table,
                     .row = changed.what + " over " + base.what,
                     .unit = "times",
                     .method_what = changed.what,
                     .not_run = row.not_run};
        if (base.milliseconds && changed.milliseconds)
            quotient.method = *base.milliseconds / *changed.milliseconds;
        study_.take(quotient);
    }

    void print_copies() {
        for (const KemOperation operation :
             {KemOperation::encapsulate, KemOperation::decapsulate}) {
            const TimedStep together = step(operation, "block");
            print_against(copies_table, together, together);
            for (const char* how : {"copy-runs", "copy-alone"})
                print_against(copies_table, together, step(operation, how));
        }
    }

    void print_variants() {
        for (const KemOperation operation : {KemOperation::encapsulate, KemOperation::decapsulate})
            print_against(variants_table, step(operation, "block"), step(operation, "lane-hash"));
        print_against(variants_table, step(KemOperation::encapsulate, "block"),
                      step(KemOperation::encapsulate, "doubled"));
        print_against(variants_table, step(KemOperation::decapsulate, "split-hash"),
                      step(KemOperation::decapsulate, "doubled"));
    }

    void print_blocks() {
        for (const auto& [operation, how] : {std::pair{KemOperation::encapsulate, "block"},
                                             {KemOperation::decapsulate, "split-hash"}})
            for (const int threads : thread_counts) {
                if (threads != 1 && threads < 32) continue;
                const TimedStep timed = step(operation, how, threads);
                Row row{.table = &block_table,
                        .row = cli::format("{}, T = {}", operation_name(operation), threads),
                        .unit = "ms"};
                set_method(row, timed);
                row.more = {{"threads_per_block", threads}};
                study_.take(row);
            }
    }

    void print_clients() {
        std::vector<Row> times;
        for (const KemOperation operation :
             {KemOperation::encapsulate, KemOperation::decapsulate, KemOperation::keypair})
            for (const uint64_t clients : client_counts) {
                const bool excluded = !study_.gpu().empty() && clients > on_gpu_.most();
                const Row time = excluded ? excluded_clients(operation, clients)
                                          : time_by_clients(operation, clients);
                times.push_back(time);
                if (operation != KemOperation::keypair) take_improvement(operation, clients, time);
            }
        for (const Row& time : times) study_.take(time);
    }

    static Row excluded_clients(KemOperation operation, uint64_t clients) {
        return {.table = &client_times_table,
                .row = cli::format("{}, N = {}", operation_name(operation), clients),
                .unit = "ms",
                .not_run = "more than --bytes"};
    }

    Row time_by_clients(KemOperation operation, uint64_t clients) {
        Row row{.table = &client_times_table,
                .row = cli::format("{}, N = {}", operation_name(operation), clients),
                .unit = "ms"};
        const char* const how = operation == KemOperation::encapsulate ? "block" : "split-hash";
        if (operation != KemOperation::keypair)
            set_method(row, on_gpu_.step(operation, how, clients));
        set_ours(row, on_gpu_.step(operation, "product", clients));
        row.more = {{"count", static_cast<double>(clients)}};
        return row;
    }

    // The axis of the figures: the time of as many operations on one core over that of the GPU.
    void take_improvement(KemOperation operation, uint64_t clients, const Row& time) {
        const bool encapsulates = operation == KemOperation::encapsulate;
        const double of_paper = static_cast<double>(clients) / static_cast<double>(paper::count);
        Row row = time;
        row.table = &clients_table;
        row.unit = "times";
        if (time.method) row.method = plain_[encapsulates] * of_paper / *time.method;
        if (time.ours) row.ours = ours_[encapsulates] * of_paper / *time.ours;
        study_.take(row);
    }

    Study& study_;
    NtruOnOneCore on_core_;
    NtruOnGpu on_gpu_;
    // [encapsulates], milliseconds for the paper's number of operations on one core
    double plain_[2] = {}, ours_[2] = {};
    std::array<CoreProfile, 2> profiles_ = {};  // of the plain code, [encapsulates]
    std::map<std::string, double> speed_up_;    // of components on the GPU, by name
};

// All tables, in the order of their rows.
constexpr const Table* all_tables[] = {&parts_table,           &shares_table,  &components_table,
                                       &estimates_table,       &threads_table, &whole_table,
                                       &improvement_table,     &kernels_table, &registers_table,
                                       &occupancy_table,       &copies_table,  &variants_table,
                                       &block_table,           &clients_table, &client_times_table,
                                       &clients_at_once_table, &sizes_table};

}  // namespace

constinit const Paper paper_p4{"P4",
                               "NTRU for many clients on a GPU (Seong, Kim, Yeom and Kang, 2021)",
                               all_tables, [](Study& study) { Reproduction(study).run(); }};

}  // namespace warpseal::papers
