// Finds the unknown words in what CLI11 parsed.
#include "cli/support/words/unknown.h"

#include <CLI/CLI.hpp>

#include <algorithm>

#include "cli/support/format.h"
#include "cli/support/words/suggest.h"

namespace warpseal::cli {
namespace {

const CLI::App* deepest(const CLI::App& program) {
    const CLI::App* app = &program;
    while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
    return app;
}

std::vector<std::string> commands_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(command->get_name());
    return names;
}

// Options of parents are options of their commands too.
std::vector<std::string> options_of(const CLI::App* app) {
    std::vector<std::string> names;
    for (; app != nullptr; app = app->get_parent())
        for (const CLI::Option* option : app->get_options())
            for (const std::string& name : option->get_lnames())
                if (!option->get_group().empty()) names.push_back("--" + name);
    return names;
}

// Returns true after -p or the like, which takes no value: a passphrase may follow nevertheless.
bool asks_for_passphrase(const CLI::App& app) {
    for (const CLI::Option* option : app.get_options())
        if (option->count() > 0 && option->get_items_expected_max() == 0)
            for (const std::string& name : option->get_lnames())
                if (name.find("passphrase") != std::string::npos) return true;
    return false;
}

}  // namespace

std::string without_value(std::string text) {
    const std::string front = "Could not convert: ";
    if (text.rfind(front, 0) == 0)
        return cli::format("{} does not take this value",
                           text.substr(front.size(), text.find(" = ") - front.size()));
    const size_t value = text.find(": Value "), end = text.rfind(" not in range ");
    if (value != std::string::npos && end != std::string::npos && value + 8 <= end)
        text.erase(value + 7, end - value - 7);
    return text;
}

std::string parsed_command(const CLI::App& program) {
    std::string command = program.get_name();
    for (const CLI::App* app = &program; !app->get_subcommands().empty();) {
        app = app->get_subcommands().front();
        command += " " + app->get_name();
    }
    return command;
}

void refuse_unknown_words(const CLI::App& program, bool options) {
    std::vector<std::string> words = program.remaining(true);
    // CLI11 leaves the mark that ends the options.
    words.erase(std::remove(words.begin(), words.end(), "--"), words.end());
    if (words.empty()) return;
    const CLI::App* const app = deepest(program);
    const std::string command = parsed_command(program), &first = words.front();
    const bool is_option = first.size() > 1 && first[0] == '-';
    if (is_option && !options) return;
    const std::string see = cli::format("See `{} --help`.", command);
    if (is_option) {
        // The text after "=" or after a letter may be a secret, as in "-pword".
        const std::string name = first.substr(0, first[1] == '-' ? first.find('=') : 2);
        throw Failure(ExitCode::usage, cli::format("there is no option '{}'.{} {}", name,
                                                   did_you_mean(name, options_of(app)), see));
    }
    const std::vector<std::string> commands = commands_of(*app);
    if (!commands.empty())
        throw Failure(ExitCode::usage, cli::format("there is no command '{}'.{} {}", first,
                                                   did_you_mean(first, commands), see));
    if (options && asks_for_passphrase(*app))
        throw Failure(ExitCode::usage,
                      cli::format("there is one argument too many. A passphrase is typed when the "
                                  "program asks, and is never an argument. {}",
                                  see));
    if (options)
        throw Failure(ExitCode::usage,
                      cli::format("'{}' is one argument too many. {}", first, see));
}

}  // namespace warpseal::cli
