// `warpseal help`: the help of a command, completion scripts, and the man pages.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>

#include "cli/commands.h"
#include "cli/help/tree.h"
#include "cli/support/format.h"
#include "cli/support/output.h"
#include "cli/support/stream.h"
#include "cli/support/words/suggest.h"

namespace warpseal::cli {
namespace {

namespace fs = std::filesystem;

struct HelpChoice {
    std::string shell, share_directory;
};

void write_file(const fs::path& path, const std::string& text) {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error)
        throw Failure(ExitCode::input_output,
                      cli::format("cannot create the directory '{}': {}.",
                                  path.parent_path().string(), error.message()));
    Output output(path.string(), true, mode_encrypted);
    RawOutput(output).write(reinterpret_cast<const uint8_t*>(text.data()), text.size());
    output.commit();
}

// The folders are those below /usr/share.
void write_share(const HelpCommand& program, const fs::path& share) {
    for_each_command(program, [&](const HelpCommand& command) {
        write_file(share / "man/man1" / man_page_name(command), man_page(command, program));
    });
    write_file(share / "bash-completion/completions/warpseal", bash_completion(program));
    write_file(share / "zsh/site-functions/_warpseal", zsh_completion(program));
    write_file(share / "fish/vendor_completions.d/warpseal.fish", fish_completion(program));
}

std::string completion(const HelpCommand& program, const std::string& shell) {
    if (shell == "bash") return bash_completion(program);
    return shell == "zsh" ? zsh_completion(program) : fish_completion(program);
}

// Returns the command that the words name, and the words that are left for a companion.
CLI::App* find_command(CLI::App& program, std::vector<std::string>& words) {
    CLI::App* app = &program;
    while (!words.empty() && (app == &program || app->get_help_ptr() != nullptr)) {
        const auto commands = app->get_subcommands([](const CLI::App*) { return true; });
        const auto found = std::find_if(commands.begin(), commands.end(), [&](const CLI::App* one) {
            return one->get_name() == words.front();
        });
        if (found == commands.end()) {
            std::vector<std::string> names;
            names.reserve(commands.size());
            for (const CLI::App* one : commands) names.push_back(one->get_name());
            throw Failure(ExitCode::usage,
                          cli::format("there is no command '{}'.{} See `warpseal --help`.",
                                      words.front(), did_you_mean(words.front(), names)));
        }
        app = *found;
        words.erase(words.begin());
    }
    return app;
}

ExitCode show_command(CLI::App& program, std::vector<std::string> words, Session& session) {
    CLI::App* const command = find_command(program, words);
    if (command->get_help_ptr() != nullptr) {
        std::string name = command->get_name();
        for (const CLI::App* app = command->get_parent(); app != nullptr; app = app->get_parent())
            name.insert(0, app->get_name() + " ");
        // CLI::App::help would choose the command that was parsed, which is this one.
        print_output(
            command->get_formatter()->make_help(command, name, CLI::AppFormatMode::Normal));
        return ExitCode::ok;
    }
    // A companion shows its help itself. CLI11 takes the words in reverse.
    words.emplace_back("--help");
    std::reverse(words.begin(), words.end());
    command->parse(words);
    return session.command();
}

ExitCode run(const HelpChoice& choice, CLI::App& program, const std::vector<std::string>& words,
             Session& session) {
    const bool writes = !choice.shell.empty() || !choice.share_directory.empty();
    if (!words.empty() && (writes || words.front().rfind('-', 0) == 0))
        throw Failure(ExitCode::usage, cli::format("help does not take '{}'. See `warpseal help "
                                                   "--help`.",
                                                   words.front()));
    if (!choice.shell.empty()) print_output(completion(help_tree(program), choice.shell));
    if (!choice.share_directory.empty()) write_share(help_tree(program), choice.share_directory);
    return writes ? ExitCode::ok : show_command(program, words, session);
}

}  // namespace

void add_help(CLI::App& program, Session& session) {
    auto choice = std::make_shared<HelpChoice>();
    CLI::App* command = program.add_subcommand(
        "help", "Show the help of a command, or print completions for a shell");
    command->fallthrough(false);  // The other words are commands to explain, not to run.
    command->prefix_command();
    command->add_option("--completion", choice->shell, "print the completion script for this shell")
        ->type_name("bash|zsh|fish")
        ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""));
    // For packages and `cmake --install`.
    command->add_option("--share", choice->share_directory, "write man pages and completions")
        ->type_name("DIR")
        ->group("");
    command->footer(
        "Examples:\n"
        "  warpseal help key add\n"
        "  warpseal help --completion bash > ~/.local/share/bash-completion/completions/warpseal");
    command->callback([choice, command, &program, &session] {
        const std::vector<std::string> words = command->remaining();
        session.command = [choice, words, &program, &session] {
            return run(*choice, program, words, session);
        };
    });
}

}  // namespace warpseal::cli
