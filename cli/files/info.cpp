// `warpseal info`: prints the header of a sealed file, which needs no key.
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "cli/age/age.h"
#include "cli/commands.h"
#include "cli/key/slot_text.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

struct InfoChoice {
    std::string input = "-";
    bool json = false;
};

nlohmann::ordered_json known(uint64_t bytes) {
    return bytes == UINT64_MAX ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(bytes);
}

std::string as_json(const warpseal_file_info& info) {
    const nlohmann::ordered_json all{{"format", "warpseal"},
                                     {"version", info.version},
                                     {"cipher", info.suite},
                                     {"file_id", hexadecimal(info.file_id, sizeof info.file_id)},
                                     {"header_bytes", info.header_bytes},
                                     {"generation", info.generation},
                                     {"file_bytes", known(info.file_bytes)},
                                     {"plaintext_bytes", known(info.plaintext_bytes)},
                                     {"slots", slots_json(info)},
                                     {"authenticated", false}};
    return all.dump(2) + "\n";
}

std::string as_text(const warpseal_file_info& info) {
    const auto bytes = [](uint64_t count) {
        return count == UINT64_MAX ? std::string("unknown") : cli::format("{} bytes", count);
    };
    std::string text = cli::format(
        "format      warpseal, version {}\n"
        "cipher      {}\n"
        "file id     {}\n"
        "header      {} bytes, generation {}\n"
        "file        {}\n"
        "plaintext   {}\n",
        info.version, info.suite, hexadecimal(info.file_id, sizeof info.file_id), info.header_bytes,
        info.generation, bytes(info.file_bytes), bytes(info.plaintext_bytes));
    text += slot_lines(info, "slot {:<6} {}\n");
    return text + "Read without a key, so not authenticated: `warpseal verify` checks.\n";
}

ExitCode run(const InfoChoice& choice) {
    const Descriptor input = open_input(choice.input);
    const std::string shown = choice.input == "-" ? "standard input" : "'" + choice.input + "'";
    if (is_age({}, {}, input.get())) return print_age_info(input.get(), shown, choice.json);
    warpseal_file_result result{};
    const warpseal_file_info info =
        read_file_info(input.get(), "cannot read the header of " + shown, result);
    print_output(choice.json ? as_json(info) : as_text(info));
    return ExitCode::ok;
}

}  // namespace

void add_info(CLI::App& program, Session& session) {
    auto choice = std::make_shared<InfoChoice>();
    CLI::App* command = program.add_subcommand(
        "info", "Show what the header of a sealed file or an age file says, without a key");
    command->add_option("input", choice->input, "file to read; - or nothing: standard input")
        ->type_name("INPUT");
    command->add_flag("--json", choice->json, "one JSON object");
    command->footer("Example:\n  warpseal info --json disk.img.ws");
    command->callback([choice, &session] { session.command = [choice] { return run(*choice); }; });
}

}  // namespace warpseal::cli
