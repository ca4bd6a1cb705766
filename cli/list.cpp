// `warpseal list` and `warpseal devices`: contents of the library, and the parts that this machine
// can run.
#include <fmt/format.h>
#include <sched.h>
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "c_api/internal.h"
#include "cli/commands.h"
#include "cli/support/ciphers.h"
#include "cli/support/command.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

std::vector<std::string> mode_names(const warpseal_cipher_info& cipher) {
    std::vector<std::string> names;
    for (const warpseal_mode mode : modes_of(cipher))
        names.emplace_back(full_mode_name(cipher, mode));
    return names;
}

// Returns the result of `query` for the cipher on each usable target: its representation or its
// side channels.
nlohmann::ordered_json by_target(const warpseal_cipher_info& cipher,
                                 const char* (*query)(const char* cipher, const char* target)) {
    nlohmann::ordered_json values = nlohmann::ordered_json::object();
    for (const warpseal_target_info& target : all_targets()) {
        const char* text = target.usable ? query(cipher.name, target.name) : nullptr;
        if (text) values[target.name] = text;
    }
    return values;
}

// Short enough for a column; the table of targets gives the details of each exception.
std::string side_channels_as_text(const warpseal_cipher_info& cipher) {
    std::string text = "constant time", but = "; tables: ";
    const nlohmann::ordered_json values = by_target(cipher, warpseal_internal_side_channels);
    for (const auto& [target, what] : values.items()) {
        if (what == "constant time") continue;
        text += but + target;
        but = " ";
    }
    return text;
}

std::string representations_as_text() {
    std::vector<warpseal_target_info> usable;
    std::string text = cli::format("{:<14}", "REPRESENTATION");
    for (const warpseal_target_info& target : all_targets())
        if (target.usable) usable.push_back(target);
    for (const warpseal_target_info& target : usable) text += cli::format("  {:<12}", target.name);
    text += "\n";
    for (const warpseal_cipher_info& cipher : all_ciphers()) {
        text += cli::format("{:<14}", cipher.name);
        for (const warpseal_target_info& target : usable) {
            const char* representation = warpseal_internal_representation(cipher.name, target.name);
            text += cli::format("  {:<12}", representation ? representation : "-");
        }
        text += "\n";
    }
    return text;
}

nlohmann::ordered_json targets_as_json() {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const warpseal_target_info& target : all_targets())
        all.push_back({{"target", target.name},
                       {"usable", target.usable != 0},
                       {"reason", target.reason},
                       {"side_channels", target.side_channels}});
    return all;
}

std::string targets_as_text() {
    std::string text = cli::format("{:<10}  {:<6}  {}\n", "TARGET", "USABLE",
                                   "SIDE CHANNELS, OR WHY IT IS NOT USABLE");
    for (const warpseal_target_info& target : all_targets())
        text += cli::format("{:<10}  {:<6}  {}\n", target.name, target.usable ? "yes" : "no",
                            target.usable ? target.side_channels : target.reason);
    return text;
}

ExitCode list(bool json) {
    if (json) {
        nlohmann::ordered_json ciphers = nlohmann::ordered_json::array();
        for (const warpseal_cipher_info& cipher : all_ciphers())
            ciphers.push_back(
                {{"cipher", cipher.name},
                 {"key_bytes", cipher.key_bytes},
                 {"block_bytes", cipher.block_bytes},
                 {"modes", mode_names(cipher)},
                 {"legacy", cipher.legacy != 0},
                 {"representations", by_target(cipher, warpseal_internal_representation)},
                 {"side_channels", by_target(cipher, warpseal_internal_side_channels)}});
        const nlohmann::ordered_json all{
            {"ciphers", ciphers}, {"targets", targets_as_json()}, {"file_ciphers", file_suites()}};
        print_output(all.dump(2) + "\n");
        return ExitCode::ok;
    }
    std::string text = cli::format("{:<14}  {:>8}  {:>10}  {:<27}  {}\n", "CIPHER", "KEY BITS",
                                   "BLOCK BITS", "SIDE CHANNELS", "MODES");
    for (const warpseal_cipher_info& cipher : all_ciphers())
        text += cli::format("{:<14}  {:>8}  {:>10}  {:<27}  {}{}\n", cipher.name,
                            cipher.key_bytes * 8, cipher.block_bytes * 8,
                            side_channels_as_text(cipher), fmt::join(mode_names(cipher), " "),
                            cipher.legacy ? "  (legacy: for old data alone)" : "");
    print_output(text + "\n" + targets_as_text() + "\n" + representations_as_text() +
                 cli::format("\nFor files (-c): {}\n", fmt::join(file_suites(), ", ")));
    return ExitCode::ok;
}

// Number of processors that this process may run on; a cgroup quota may allow less CPU time.
int allowed_processors() {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

ExitCode devices(bool json) {
    nlohmann::ordered_json gpus = nlohmann::ordered_json::array();
    std::string text = cli::format("cpu         {} processors\n", allowed_processors());
    warpseal_device_info gpu{};
    for (size_t i = 0; warpseal_device_at(i, &gpu) == WARPSEAL_OK; ++i) {
        gpus.push_back({{"device", cli::format("cuda:{}", i)},
                        {"name", gpu.name},
                        {"compute_capability", cli::format("{}.{}", gpu.compute_capability / 10,
                                                           gpu.compute_capability % 10)},
                        {"multiprocessors", gpu.multiprocessors},
                        {"memory_bytes", gpu.memory_bytes},
                        {"shared_bytes_per_block", gpu.shared_bytes_per_block},
                        {"driver", gpu.driver}});
        text += cli::format(
            "{:<10}  {}, {}, {} multiprocessors, compute capability {}.{}, driver {}\n",
            cli::format("cuda:{}", i), gpu.name, human_bytes(gpu.memory_bytes), gpu.multiprocessors,
            gpu.compute_capability / 10, gpu.compute_capability % 10, gpu.driver);
    }
    if (json) {
        const nlohmann::ordered_json all{{"cpu", {{"processors", allowed_processors()}}},
                                         {"gpus", gpus},
                                         {"targets", targets_as_json()}};
        print_output(all.dump(2) + "\n");
        return ExitCode::ok;
    }
    if (gpus.empty()) text += "cuda        no usable GPU\n";
    print_output(text + "\n" + targets_as_text());
    return ExitCode::ok;
}

}  // namespace

void add_list(CLI::App& program, Session& session) {
    auto json = std::make_shared<bool>(false);
    CLI::App* command = program.add_subcommand(
        "list", "List ciphers, modes, targets, how each target runs a cipher, and side channels");
    command->add_flag("--json", *json, "one JSON object");
    command->callback([json, &session] { session.command = [json] { return list(*json); }; });
}

void add_devices(CLI::App& program, Session& session) {
    auto json = std::make_shared<bool>(false);
    CLI::App* command =
        program.add_subcommand("devices", "Show the processors and GPUs that --device can name");
    command->add_flag("--json", *json, "one JSON object");
    command->callback([json, &session] { session.command = [json] { return devices(*json); }; });
}

}  // namespace warpseal::cli
