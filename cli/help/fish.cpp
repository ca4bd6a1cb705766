// Writes the completions for fish.
#include <fmt/format.h>

#include "cli/help/tree.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

constexpr char fish_head[] =
    R"(# fish completions of warpseal, made from the options of the program.
function __warpseal_command
    set -l found ''
    for word in (commandline -opc)[2..-1]
        switch "$found $word"
)";

constexpr char fish_middle[] = R"(        end
    end
    echo $found
end

)";

std::string fish_quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out + "'";
}

std::string fish_line(const HelpCommand& command, const std::string& rest) {
    return cli::format("complete -c warpseal -n 'test \"$(__warpseal_command)\" = \"{}\"' {}\n",
                       command.path, rest);
}

std::string fish_option(const HelpOption& option) {
    std::string text;
    for (const std::string& name : option.names)
        text += name.rfind("--", 0) == 0 ? " -l " + name.substr(2) : " -s " + name.substr(1);
    switch (option.value) {
        case HelpOption::Value::none: break;
        case HelpOption::Value::word: text += " -x"; break;
        case HelpOption::Value::file: text += " -r -F"; break;
        case HelpOption::Value::directory: text += " -x -a '(__fish_complete_directories)'"; break;
        case HelpOption::Value::listed:
            text += cli::format(" -x -a '{}'", fmt::join(option.values, " "));
    }
    return text.substr(1) + " -d " + fish_quoted(option.text);
}

}  // namespace

std::string fish_completion(const HelpCommand& program) {
    std::string text = fish_head;
    for_each_command(program, [&](const HelpCommand& parent) {
        for (const HelpCommand& one : parent.commands)
            if (one.path != "help")
                text += cli::format("            case '{} {}'\n                set found '{}'\n",
                                    parent.path, one.name, one.path);
    });
    text += fish_middle;
    for_each_command(program, [&](const HelpCommand& command) {
        for (const HelpCommand& one : command.commands)
            text +=
                fish_line(command, cli::format("-f -a {} -d {}", one.name, fish_quoted(one.about)));
        if (command.companion) return;
        for (const HelpOption& option : command.options)
            text += fish_line(command, fish_option(option));
    });
    return text;
}

}  // namespace warpseal::cli
