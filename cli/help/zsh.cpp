// Writes the completion function for zsh, in specifications of _arguments (zshcompsys(1)).
#include <fmt/format.h>

#include <algorithm>

#include "cli/help/tree.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

// Escapes what ends a description in a specification, and the quote around it.
std::string zsh_text(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '\'') {
            out += "'\\''";
            continue;
        }
        if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

std::string zsh_function(const HelpCommand& command) {
    std::string name = command.path.empty() ? "_warpseal" : "_warpseal_" + command.path;
    std::replace(name.begin(), name.end(), ' ', '_');
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

std::string zsh_action(const HelpOption& option) {
    switch (option.value) {
        case HelpOption::Value::none: return "";
        case HelpOption::Value::listed: {
            std::vector<std::string> values;
            for (const std::string& value : option.values) values.push_back(zsh_text(value));
            return cli::format("({})", fmt::join(values, " "));
        }
        case HelpOption::Value::directory: return "_files -/";
        case HelpOption::Value::file: return "_files";
        case HelpOption::Value::word: break;
    }
    return " ";  // a message instead of a completion
}

std::string zsh_option(const HelpOption& option) {
    const std::string value =
        option.type.empty() ? "" : cli::format(":{}:{}", zsh_text(option.type), zsh_action(option));
    std::string text;
    for (const std::string& name : option.names) {
        const bool equals = !value.empty() && name.rfind("--", 0) == 0;
        text +=
            cli::format(" \\\n        '{}{}{}[{}]{}'",
                        option.repeats ? "*" : cli::format("({})", fmt::join(option.names, " ")),
                        name, equals ? "=" : "", zsh_text(option.text), value);
    }
    return text;
}

std::string zsh_group(const HelpCommand& command) {
    std::string commands, cases;
    for (const HelpCommand& one : command.commands) {
        commands += cli::format("                '{}:{}'\n", one.name, zsh_text(one.about));
        const std::string target = one.path == "help" ? "_warpseal"
                                   : one.companion    ? "_default"
                                                      : zsh_function(one);
        cases += cli::format("                {}) {} ;;\n", one.name, target);
    }
    return " \\\n        '1:command:->command' '*::argument:->argument'\n"
           "    case $state in\n"
           "        command)\n"
           "            local -a commands=(\n" +
           commands +
           "            )\n"
           "            _describe command commands\n"
           "            ;;\n"
           "        argument)\n"
           "            case $line[1] in\n" +
           cases + "            esac\n            ;;\n    esac\n";
}

std::string zsh_command(const HelpCommand& command) {
    std::string text = zsh_function(command) +
                       "() {\n"
                       "    local curcontext=$curcontext state line\n"
                       "    typeset -A opt_args\n"
                       "    _arguments -C -S";
    for (const HelpOption& option : command.options) text += zsh_option(option);
    if (!command.commands.empty()) return text + zsh_group(command) + "}\n\n";
    for (const HelpOption& argument : command.arguments)
        text += cli::format(" \\\n        '{}:{}:{}'", argument.repeats ? "*" : "",
                            zsh_text(argument.type), zsh_action(argument));
    return text + "\n}\n\n";
}

}  // namespace

std::string zsh_completion(const HelpCommand& program) {
    std::string text =
        "#compdef warpseal\n# zsh completion of warpseal, made from the options of the "
        "program.\n\n";
    for_each_command(program, [&](const HelpCommand& command) {
        if (!command.companion) text += zsh_command(command);
    });
    return text + "_warpseal \"$@\"\n";
}

}  // namespace warpseal::cli
