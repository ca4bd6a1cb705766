// Finds the companion programs of `warpseal` and replaces this process with one.
#include "cli/support/companion.h"

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstring>

#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

namespace fs = std::filesystem;

// Replaces the process; returns only by throwing.
[[noreturn]] void become(const Companion& companion, bool quiet,
                         const std::vector<std::string>& last) {
    const std::string program = find_companion(companion.program).string();
    std::vector<std::string> arguments{program};
    if (quiet) arguments.emplace_back("--quiet");
    arguments.insert(arguments.end(), companion.first.begin(), companion.first.end());
    arguments.insert(arguments.end(), last.begin(), last.end());
    execv(program.c_str(), pointers_to(arguments).data());
    throw Failure(ExitCode::error, cli::format("cannot run {}: {}.", program, strerror(errno)));
}

}  // namespace

fs::path find_companion(const std::string& name) {
    std::error_code error;
    const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
    for (const fs::path& candidate : {here / name, here / WARPSEAL_COMPANIONS / name})
        if (fs::is_regular_file(candidate, error)) return candidate.lexically_normal();
    throw Failure(ExitCode::unsupported,
                  cli::format("the program {} is not beside {} nor in {}: `cmake --install` of "
                              "Warpseal's build puts it there.",
                              name, (here / "warpseal").string(),
                              (here / WARPSEAL_COMPANIONS).lexically_normal().string()));
}

std::vector<char*> pointers_to(std::vector<std::string>& arguments) {
    std::vector<char*> pointers;
    pointers.reserve(arguments.size() + 1);
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    return pointers;
}

void add_companion_command(CLI::App& program, Session& session, const char* name, const char* about,
                           const Companion& companion) {
    CLI::App* command = program.add_subcommand(name, about);
    command->fallthrough(false);  // All options, including --help, belong to the companion.
    command->set_help_flag();
    command->allow_extras();
    command->prefix_command();
    command->callback([command, companion, &session] {
        session.command = [command, companion, &session]() -> ExitCode {
            become(companion, session.quiet, command->remaining());
        };
    });
}

}  // namespace warpseal::cli
