// `warpseal-bench ladder`: runs the kernel studies in turn and checks each against the product
// before it reports a figure.
#include <CLI/CLI.hpp>

#include <algorithm>

#include "bench/commands.h"
#include "bench/ladder/kem.h"
#include "bench/ladder/ladder.h"
#include "bench/report/figures.h"
#include "bench/report/report.h"
#include "cli/support/format.h"
#include "cli/support/output.h"

namespace warpseal::bench {
namespace {

struct LadderOptions {
    std::vector<std::string> steps;
    std::string json;
    ladder::Options run;
    uint64_t count = ladder::KemOptions{}.count;

    ladder::KemOptions kem() const {
        return {.count = count,
                .threads_per_block = run.threads_per_block,
                .repetitions = run.repetitions,
                .seconds = run.seconds,
                .device = run.device};
    }
};

struct Chosen {
    std::vector<const ladder::Step*> steps;
    std::vector<const ladder::KemStep*> kem_steps;
    size_t size() const { return steps.size() + kem_steps.size(); }
};

Chosen chosen_steps(const std::vector<std::string>& names) {
    Chosen chosen;
    const auto choose = [&](const std::string* name) {
        for (const ladder::Step& step : ladder::steps())
            if (!name || *name == step.name || *name == step.cipher ||
                (step.paper && *name == step.paper))
                chosen.steps.push_back(&step);
        for (const ladder::KemStep& step : ladder::kem_steps())
            if (!name || *name == step.name || *name == step.set ||
                (step.paper && *name == step.paper))
                chosen.kem_steps.push_back(&step);
    };
    if (names.empty()) choose(nullptr);
    for (const std::string& name : names) {
        const size_t before = chosen.size();
        choose(&name);
        if (chosen.size() == before)
            throw cli::Failure(
                cli::ExitCode::unsupported,
                cli::format(
                    "the ladder has no step '{}': `warpseal-bench ladder --list` shows them.",
                    name));
    }
    return chosen;
}

constexpr const char* operation_names[kem_operation_count] = {"keypair", "encapsulate",
                                                              "decapsulate"};

// Adds the fields that are specific to steps of ciphers or of KEMs.
void add_kind(nlohmann::ordered_json& json, const ladder::Step& step) {
    json["cipher"] = step.cipher;
    json["mode"] = step.mode;
    json["decrypts"] = step.decrypts;
    json["keystream_only"] = step.keystream_only;
    json["gigabytes_per_second"] = nullptr;
}
void add_kind(nlohmann::ordered_json& json, const ladder::KemStep& step) {
    json["set"] = step.set;
    json["operation"] = operation_names[static_cast<int>(step.operation)];
    json["operations_per_second"] = nullptr;
}
void add_figures(nlohmann::ordered_json& json, const ladder::Measured& measured) {
    json["gigabytes_per_second"] = rounded(measured.gigabytes_per_second);
    json["bytes"] = measured.bytes;
}
void add_figures(nlohmann::ordered_json& json, const ladder::KemMeasured& measured) {
    json["operations_per_second"] = rounded(measured.operations_per_second());
    json["count"] = measured.count;
}
double figure(const ladder::Measured& measured) { return measured.gigabytes_per_second; }
double figure(const ladder::KemMeasured& measured) {
    return measured.operations_per_second() / 1e6;
}
std::string remark(const ladder::Step& step) {
    return step.keystream_only ? " (keystream only)" : "";
}
std::string remark(const ladder::KemStep&) { return ""; }

// `measured` is null if the step did not run.
template <class AnyStep, class AnyMeasured>
nlohmann::ordered_json json_row(const AnyStep& step, const AnyMeasured* measured,
                                const std::string& not_run) {
    nlohmann::ordered_json json{
        {"step", step.name}, {"paper", step.paper ? nlohmann::ordered_json(step.paper) : nullptr}};
    add_kind(json, step);
    json["product"] = step.product;
    json["what"] = step.what;
    json["taught"] = step.taught;
    json["not_run"] = not_run.empty() ? nullptr : nlohmann::ordered_json(not_run);
    if (!measured) return json;
    add_figures(json, *measured);
    json["milliseconds"] = rounded(measured->milliseconds);
    if (step.product) return json;  // The product's kernel attributes are not queried.
    json["registers"] = measured->registers;
    json["local_bytes"] = measured->local_bytes;
    json["shared_bytes"] = measured->shared_bytes;
    json["threads_per_block"] = measured->threads_per_block;
    json["resident_blocks"] = measured->resident_blocks;
    json["occupancy"] = rounded(measured->occupancy);
    json["blocks"] = measured->blocks;
    return json;
}

template <class AnyMeasured>
std::string kernel_text(bool product, const AnyMeasured& measured) {
    if (product) return cli::format("{:>10}{:>8}{:>8}{:>9}{:>8}", "-", "-", "-", "-", "-");
    return cli::format("{:>10}{:>8}{:>8}{:>9}{:>8}", measured.registers, measured.local_bytes,
                       measured.shared_bytes, measured.threads_per_block, measured.resident_blocks);
}

// Returns true if every output was right.
template <class AnyMeasured, class AnyStep, class AnyOptions>
bool run_all(const std::vector<const AnyStep*>& steps, const AnyOptions& options, const char* unit,
             Report& report) {
    if (steps.empty()) return true;
    report.print(cli::format("\n{:<40}{:>10}{:>10}{:>8}{:>8}{:>9}{:>8}  {}\n", "", unit,
                             "registers", "local", "shared", "threads", "blocks", "what"));
    bool right = true;
    for (const AnyStep* step : steps) {
        if (const int signal = cli::interrupted_by())
            throw cli::Failure(static_cast<cli::ExitCode>(128 + signal), "interrupted.");
        AnyMeasured measured{};
        const warpseal_status status = ladder::run(*step, options, &measured);
        const bool ran = status == WARPSEAL_OK;
        const std::string not_run = ran ? "" : warpseal_status_text(status);
        report.add(json_row(*step, ran ? &measured : nullptr, not_run));
        if (ran)
            report.print(cli::format("{:<40}{:>10.4g}{}  {}{}\n", step->name, figure(measured),
                                     kernel_text(step->product, measured), step->what,
                                     remark(*step)));
        else
            report.print(cli::format("{:<40}{:>10}  {}\n", step->name, "not run", not_run));
        right &= ran || status == WARPSEAL_INVALID_ARGUMENT;
    }
    return right;
}

cli::ExitCode run(const LadderOptions& options) {
    const Chosen chosen = chosen_steps(options.steps);
    warpseal_device_info info{};
    const size_t device = static_cast<size_t>(options.run.device);
    const bool usable = chosen.size() != 0 && warpseal_device_at(device, &info) == WARPSEAL_OK;
    Report report(options.json, usable ? cli::format("cuda:{}", device) : "");
    if (!usable) {
        report.write();
        report.print(cli::format("not run: {}\n", ladder::steps().empty()
                                                      ? "built without CUDA"
                                                      : "no GPU that can be used"));
        return cli::ExitCode::ok;
    }
    const bool ciphers_right = run_all<ladder::Measured>(chosen.steps, options.run, "GB/s", report);
    const bool ntru_right =
        run_all<ladder::KemMeasured>(chosen.kem_steps, options.kem(), "million/s", report);
    report.write();
    return ciphers_right && ntru_right ? cli::ExitCode::ok : cli::ExitCode::error;
}

std::string list_text() {
    std::string text;
    for (const ladder::Step& step : ladder::steps())
        text += cli::format("{:<40}{:<4}{:<15}{}\n", step.name, step.paper ? step.paper : "",
                            step.cipher, step.what);
    for (const ladder::KemStep& step : ladder::kem_steps())
        text += cli::format("{:<40}{:<4}{:<15}{}\n", step.name, step.paper ? step.paper : "",
                            step.set, step.what);
    return text.empty() ? "built without CUDA: no steps\n" : text;
}

}  // namespace

void add_ladder(CLI::App& program, cli::Session& session) {
    auto options = std::make_shared<LadderOptions>();
    auto list = std::make_shared<bool>(false);
    CLI::App* ladder = program.add_subcommand(
        "ladder", "Every step from the papers' kernels to ours, within a GPU's memory");
    ladder->add_option("STEP", options->steps,
                       "a step, a cipher, a set of NTRU or a paper (default: every step)");
    ladder->add_flag("--list", *list, "name the steps and run none");
    ladder
        ->add_option("--json", options->json,
                     "write head and rows there; - is stdout, the table then goes to stderr")
        ->type_name("FILE")
        ->check(cli::Output::refused_path);
    ladder->add_option("--device", options->run.device, "which GPU")
        ->check(CLI::Range(0, 63).description(""))
        ->type_name("N")
        ->capture_default_str();
    ladder
        ->add_option("--bytes", options->run.bytes,
                     "of data (default: 1 GiB; of keystream alone as much as takes --seconds)")
        ->transform(cli::size_value())
        ->type_name("SIZE");
    ladder->add_option("--count", options->count, "of NTRU's operations")
        ->check(CLI::Range(1, 1 << 24).description(""))
        ->type_name("N")
        ->capture_default_str();
    ladder
        ->add_option("--threads-per-block", options->run.threads_per_block,
                     "instead of the step's own")
        ->check(CLI::Range(1, 1024).description(""))
        ->type_name("N");
    ladder->add_option("--seconds", options->run.seconds, "no repetition is begun after so many")
        ->check(cli::check_seconds)
        ->type_name("S")
        ->capture_default_str();
    ladder->callback([options, list, &session] {
        session.command = [options, list] {
            if (!*list) return run(*options);
            cli::print_output(list_text());
            return cli::ExitCode::ok;
        };
    });
}

}  // namespace warpseal::bench
