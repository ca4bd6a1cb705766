// The commands and options of the program as data, read from CLI11. Man pages, completions and
// `help` are made from it, so that none can differ from --help.
#pragma once

#include <string>
#include <vector>

#include "cli/support/command.h"

namespace warpseal::cli {

struct HelpOption {
    enum class Value { none, word, file, directory, listed };
    std::vector<std::string> names;  // "-o", "--output"; empty for an argument without an option
    std::string type;                // "FILE", as --help shows it; empty for a flag
    std::string text, environment;
    bool required = false, repeats = false;
    Value value = Value::none;
    std::vector<std::string> values;  // of Value::listed
};

struct HelpCommand {
    std::string path;  // "key list"; empty for the program
    std::string name, about, footer;
    bool companion = false;  // its options belong to another program
    std::vector<HelpOption> options, arguments;
    std::vector<HelpCommand> commands;
};

HelpCommand help_tree(const CLI::App& program);

// Calls each(command) for the command and all below it, depth first.
template <class Each>
void for_each_command(const HelpCommand& command, const Each& each) {
    each(command);
    for (const HelpCommand& one : command.commands) for_each_command(one, each);
}

// A page of section 1 about one command.
std::string man_page(const HelpCommand& command, const HelpCommand& program);
// Returns the file name without the folder: "warpseal-key-list.1".
std::string man_page_name(const HelpCommand& command);

std::string bash_completion(const HelpCommand& program);
std::string zsh_completion(const HelpCommand& program);
std::string fish_completion(const HelpCommand& program);

}  // namespace warpseal::cli
