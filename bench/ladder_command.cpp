// `warpseal-bench ladder`: the kernel studies one after the other, each checked against the product before it has a figure.
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "commands.h"
#include "ladder/ladder.h"
#include "report.h"

namespace warpseal::papers {
namespace {

struct LadderOptions {
    std::vector<std::string> steps;
    std::string json;
    ladder::Options run;
};

std::vector<const ladder::Step*> chosen_steps(const std::vector<std::string>& names) {
    std::vector<const ladder::Step*> chosen;
    for (const ladder::Step& step : ladder::steps())
        if (names.empty()) chosen.push_back(&step);
    for (const std::string& name : names) {
        const size_t before = chosen.size();
        for (const ladder::Step& step : ladder::steps())
            if (name == step.name || name == step.cipher || (step.paper && name == step.paper)) chosen.push_back(&step);
        if (chosen.size() == before)
            throw cli::Failure(cli::ExitCode::unsupported,
                               fmt::format("the ladder has no step '{}': `warpseal-bench ladder --list` shows them.", name));
    }
    return chosen;
}

nlohmann::ordered_json json_row(const ladder::Step& step, const ladder::Measured* measured, const std::string& not_run) {
    nlohmann::ordered_json json{{"step", step.name},
                                {"paper", step.paper ? nlohmann::ordered_json(step.paper) : nullptr},
                                {"cipher", step.cipher},
                                {"mode", step.mode},
                                {"decrypts", step.decrypts},
                                {"keystream_only", step.keystream_only},
                                {"product", step.product},
                                {"what", step.what},
                                {"taught", step.taught},
                                {"gigabytes_per_second", nullptr},
                                {"not_run", not_run.empty() ? nullptr : nlohmann::ordered_json(not_run)}};
    if (!measured) return json;
    json["gigabytes_per_second"] = rounded(measured->gigabytes_per_second);
    json["milliseconds"] = rounded(measured->milliseconds);
    json["bytes"] = measured->bytes;
    if (step.product) return json;  // nobody asks its kernels
    json["registers"] = measured->registers;
    json["local_bytes"] = measured->local_bytes;
    json["shared_bytes"] = measured->shared_bytes;
    json["threads_per_block"] = measured->threads_per_block;
    return json;
}

std::string kernel_text(const ladder::Step& step, const ladder::Measured& measured) {
    if (step.product) return fmt::format("{:>10}{:>8}{:>8}{:>9}", "-", "-", "-", "-");
    return fmt::format("{:>10}{:>8}{:>8}{:>9}", measured.registers, measured.local_bytes, measured.shared_bytes,
                       measured.threads_per_block);
}

cli::ExitCode run(const LadderOptions& options) {
    const auto chosen = chosen_steps(options.steps);
    warpseal_device_info info{};
    const size_t device = static_cast<size_t>(options.run.device);
    const bool usable = !chosen.empty() && warpseal_device_at(device, &info) == WARPSEAL_OK;
    Report report(options.json, usable ? fmt::format("cuda:{}", device) : "");
    if (!usable) {
        report.write();
        report.print(fmt::format("not run: {}\n", ladder::steps().empty() ? "built without CUDA" : "no GPU that can be used"));
        return cli::ExitCode::ok;
    }
    report.print(fmt::format("\n{:<32}{:>10}{:>10}{:>8}{:>8}{:>9}  {}\n", "", "GB/s", "registers", "local", "shared", "threads", "what"));
    bool wrong = false;
    for (const ladder::Step* step : chosen) {
        if (const int signal = cli::interrupted_by()) throw cli::Failure(static_cast<cli::ExitCode>(128 + signal), "interrupted.");
        ladder::Measured measured{};
        const warpseal_status status = ladder::run(*step, options.run, &measured);
        const std::string not_run = status == WARPSEAL_OK ? "" : warpseal_status_text(status);
        report.add(json_row(*step, status == WARPSEAL_OK ? &measured : nullptr, not_run));
        if (status == WARPSEAL_OK)
            report.print(fmt::format("{:<32}{:>10.1f}{}  {}{}\n", step->name, measured.gigabytes_per_second, kernel_text(*step, measured),
                                     step->what, step->keystream_only ? " (keystream only)" : ""));
        else
            report.print(fmt::format("{:<32}{:>10}  {}\n", step->name, "not run", not_run));
        wrong |= status != WARPSEAL_OK && status != WARPSEAL_INVALID_ARGUMENT;
    }
    report.write();
    return wrong ? cli::ExitCode::error : cli::ExitCode::ok;
}

std::string list_text() {
    std::string text;
    for (const ladder::Step& step : ladder::steps())
        text += fmt::format("{:<32}{:<4}{:<14}{}\n", step.name, step.paper ? step.paper : "", step.cipher, step.what);
    return text.empty() ? "built without CUDA: no steps\n" : text;
}

}  // namespace

void add_ladder(CLI::App& program, cli::Session& session) {
    auto options = std::make_shared<LadderOptions>();
    auto list = std::make_shared<bool>(false);
    CLI::App* ladder = program.add_subcommand("ladder", "Every step from the papers' kernels to ours, within a GPU's memory");
    ladder->add_option("STEP", options->steps, "a step, a cipher or a paper (default: every step)");
    ladder->add_flag("--list", *list, "name the steps and run none");
    ladder->add_option("--json", options->json, "write head and rows there; - is stdout, the table then goes to stderr")->type_name("FILE");
    ladder->add_option("--device", options->run.device, "which GPU")
        ->check(CLI::Range(0, 63).description(""))
        ->type_name("N")
        ->capture_default_str();
    ladder->add_option("--bytes", options->run.bytes, "of data (default: 1 GiB; of keystream alone as much as takes --seconds)")
        ->transform(CLI::AsSizeValue(true).description(""))
        ->type_name("SIZE");
    ladder->add_option("--threads-per-block", options->run.threads_per_block, "instead of the step's own")
        ->check(CLI::Range(1, 1024).description(""))
        ->type_name("N");
    ladder->add_option("--seconds", options->run.seconds, "no repetition is begun after so many")
        ->check(CLI::Range(0.001, 3600.0).description(""))
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

}  // namespace warpseal::papers
