// `warpseal doctor`: options and report.
#include "cli/doctor/doctor.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/support/command.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

constexpr const char* part_names[] = {"targets", "gpus", "limits", "openssl"};

struct DoctorChoice {
    std::vector<std::string> parts;  // empty: all
    OpensslChoice openssl;
    bool json = false;
};

const char* name_of(CheckResult result) {
    switch (result) {
        case CheckResult::ok: return "ok";
        case CheckResult::note: return "note";
        case CheckResult::warning: return "warning";
        case CheckResult::problem: return "problem";
    }
    return "";
}

std::string as_json(const Findings& findings, size_t problems, size_t warnings) {
    nlohmann::ordered_json all{{"problems", problems},
                               {"warnings", warnings},
                               {"findings", nlohmann::ordered_json::array()}};
    for (const Finding& finding : findings)
        all["findings"].push_back({{"subject", finding.subject},
                                   {"result", name_of(finding.result)},
                                   {"found", finding.found},
                                   {"advice", finding.advice}});
    return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string as_text(const Findings& findings, size_t problems, size_t warnings) {
    std::string text;
    for (const Finding& finding : findings) {
        text += cli::format("{:<8} {:<15} {}\n", name_of(finding.result), finding.subject,
                            finding.found);
        if (!finding.advice.empty()) text += cli::format("{:<24} > {}\n", "", finding.advice);
    }
    return text + cli::format("{} problems, {} warnings\n", problems, warnings);
}

ExitCode doctor(const DoctorChoice& choice) {
    Findings findings;
    const auto wanted = [&](const char* part) {
        return choice.parts.empty() ||
               std::find(choice.parts.begin(), choice.parts.end(), part) != choice.parts.end();
    };
    if (wanted("targets")) examine_targets(findings);
    if (wanted("gpus")) examine_gpus(findings);
    if (wanted("limits")) examine_limits(findings);
    if (wanted("openssl")) examine_openssl(choice.openssl, findings);
    const auto count = [&](CheckResult result) {
        return static_cast<size_t>(
            std::count_if(findings.begin(), findings.end(),
                          [&](const Finding& finding) { return finding.result == result; }));
    };
    const size_t problems = count(CheckResult::problem), warnings = count(CheckResult::warning);
    print_output(choice.json ? as_json(findings, problems, warnings)
                             : as_text(findings, problems, warnings));
    return problems == 0 ? ExitCode::ok : ExitCode::error;
}

}  // namespace

void add_doctor(CLI::App& program, Session& session) {
    auto choice = std::make_shared<DoctorChoice>();
    CLI::App* command = program.add_subcommand(
        "doctor",
        "Check this machine, its GPUs and limits, and how OpenSSL is set up for the provider");
    command
        ->add_option("part", choice->parts,
                     "targets (seconds of self-tests), gpus, limits, openssl; all if none is named")
        ->type_name("PART")
        ->check(
            CLI::IsMember(std::vector<std::string>(std::begin(part_names), std::end(part_names))));
    command->add_flag("--provider", choice->openssl.required,
                      "the OpenSSL provider must be active: a problem if it is not");
    command
        ->add_option("--openssl", choice->openssl.program,
                     "the program `openssl` to ask (default: that of PATH)")
        ->type_name("PROGRAM");
    command
        ->add_option("--config", choice->openssl.config,
                     "the openssl.cnf to look at (default: $OPENSSL_CONF, or OpenSSL's own)")
        ->type_name("FILE");
    command->add_flag("--json", choice->json, "one JSON object");
    command->footer(
        "Exit code 0: no problem, warnings apart; 1: a problem.\nExamples:\n  warpseal doctor\n  "
        "warpseal doctor openssl --provider");
    command->callback(
        [choice, &session] { session.command = [choice] { return doctor(*choice); }; });
}

}  // namespace warpseal::cli
