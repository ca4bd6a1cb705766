// Writes the completion script for bash. It needs no other file.
#include <fmt/format.h>

#include "cli/help/tree.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

constexpr char bash_head[] = R"(# bash completion of warpseal, made from the options of the program.
_warpseal() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command= help= words= i IFS=$' \t\n'
    COMPREPLY=()
    # bash takes "=" for a word.
    if [[ $current == = ]]; then
        current=
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    for ((i = 1; i < COMP_CWORD; ++i)); do
        [[ ${COMP_WORDS[i]} == -- ]] && return
        case "$command ${COMP_WORDS[i]}" in
            " help") help=1 ;;
)";

constexpr char bash_tail[] = R"(    esac
    [[ -n $words ]] || return
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o bashdefault -o default -F _warpseal warpseal
)";

std::string bash_names(const HelpCommand& command) {
    std::vector<std::string> names;
    for (const HelpOption& option : command.options)
        names.insert(names.end(), option.names.begin(), option.names.end());
    return cli::format("{}", fmt::join(names, " "));
}

std::string bash_value(const HelpOption& option) {
    switch (option.value) {
        case HelpOption::Value::listed:
            return cli::format("words=\"{}\"", fmt::join(option.values, " "));
        case HelpOption::Value::directory: return "compopt -o dirnames +o default; return";
        case HelpOption::Value::file: return "return";
        default: return "compopt +o default +o bashdefault; return";
    }
}

std::string bash_command(const HelpCommand& command) {
    std::string values;
    for (const HelpOption& option : command.options)
        if (option.value != HelpOption::Value::none)
            values += cli::format("                {}) {} ;;\n", fmt::join(option.names, "|"),
                                  bash_value(option));
    std::vector<std::string> commands;
    for (const HelpCommand& one : command.commands) commands.push_back(one.name);
    std::string text = cli::format("        \"{}\")\n", command.path);
    if (!values.empty()) text += "            case $previous in\n" + values + "            esac\n";
    // Names of commands, or else of files.
    text += cli::format(
        "            if [[ -z $words && $current == -* && -z $help ]]; then\n"
        "                words=\"{}\"\n"
        "            elif [[ -z $words ]]; then\n"
        "                words=\"{}\"\n"
        "            fi\n            ;;\n",
        bash_names(command), fmt::join(commands, " "));
    return text;
}

}  // namespace

std::string bash_completion(const HelpCommand& program) {
    std::string text = bash_head;
    for_each_command(program, [&](const HelpCommand& parent) {
        for (const HelpCommand& one : parent.commands)
            if (one.path != "help")
                text += cli::format("            \"{} {}\") command=\"{}\" ;;\n", parent.path,
                                    one.name, one.path);
    });
    text += "        esac\n    done\n    case $command in\n";
    for_each_command(program, [&](const HelpCommand& one) {
        if (!one.companion || one.path == "help") text += bash_command(one);
    });
    return text + bash_tail;
}

}  // namespace warpseal::cli
