// Reads the tree of commands from CLI11.
#include "cli/help/tree.h"

#include <CLI/CLI.hpp>

#include "cli/support/ciphers.h"
#include "cli/support/kem_sets.h"

namespace warpseal::cli {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> words;
    for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find(separator, at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

// The kind of value follows from the name that --help gives it.
void set_values(HelpOption& option, const std::string& command) {
    const std::string& type = option.type;
    option.value = HelpOption::Value::listed;
    if (type == "DEVICE") {
        option.values = device_names();
        option.values.emplace_back("cuda:0");
    } else if (type == "CIPHER") {
        option.values = file_suites();
    } else if (type == "CIPHER-MODE") {
        option.values = cipher_mode_names();
    } else if (type == "SET") {
        for (const warpseal_kem_info& set : all_kem_sets()) option.values.emplace_back(set.name);
    } else if (type.find('|') != std::string::npos) {
        option.values = split(type, '|');
    } else if (type == "DIR") {
        option.value = HelpOption::Value::directory;
    } else if (type.find("FILE") != std::string::npos || type.find("PUT") != std::string::npos ||
               type == "PATH" || command == "vectors") {
        option.value = HelpOption::Value::file;
    } else {
        option.value = HelpOption::Value::word;
    }
}

HelpOption read_option(const CLI::Option& from, const std::string& command) {
    HelpOption option;
    for (const std::string& name : from.get_snames()) option.names.push_back("-" + name);
    for (const std::string& name : from.get_lnames()) option.names.push_back("--" + name);
    option.text = from.get_description();
    option.environment = from.get_envname();
    option.required = from.get_required();
    if (from.get_items_expected_max() == 0) return option;
    // Descriptions of validators follow a colon.
    const std::string type = from.get_type_name();
    option.type = type.substr(0, type.find(':'));
    option.repeats = from.get_items_expected_max() > 1;
    set_values(option, command);
    return option;
}

HelpCommand read_command(const CLI::App& app, const std::string& parent) {
    HelpCommand command;
    command.name = app.get_name();
    command.path = app.get_parent() == nullptr ? ""
                   : parent.empty()            ? command.name
                                               : parent + " " + command.name;
    command.about = app.get_description();
    command.footer = app.get_footer();
    command.companion = app.get_help_ptr() == nullptr;
    const auto add = [&](const CLI::Option* from) {
        if (from->get_group().empty()) return;
        const HelpOption option = read_option(*from, command.path);
        if (!option.names.empty()) command.options.push_back(option);
        if (from->get_positional()) {
            command.arguments.push_back(option);
            command.arguments.back().names.clear();
        }
    };
    for (const CLI::Option* option : app.get_options()) add(option);
    // Options that the program takes after a command too.
    if (app.get_parent() != nullptr && app.get_fallthrough() && !command.companion) {
        const CLI::App* program = app.get_parent();
        while (program->get_parent() != nullptr) program = program->get_parent();
        add(program->get_option("--quiet"));
    }
    for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; }))
        command.commands.push_back(read_command(*one, command.path));
    return command;
}

}  // namespace

HelpCommand help_tree(const CLI::App& program) { return read_command(program, ""); }

}  // namespace warpseal::cli
