// Main function of a program with commands.
#include "cli/support/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <new>
#include <sstream>

#include "cli/support/format.h"
#include "cli/support/interrupt.h"
#include "cli/support/progress.h"
#include "cli/support/words/unknown.h"

namespace warpseal::cli {
namespace {

// Holds closed standard descriptors open, because the next open would reuse the number for a key
// file or an output. They are opened in the wrong direction, so that reading or writing still
// fails. stderr discards its output.
void hold_standard_descriptors() {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(descriptor, F_GETFD) >= 0) continue;
        const int flags = descriptor == STDIN_FILENO    ? O_WRONLY
                          : descriptor == STDOUT_FILENO ? O_RDONLY
                                                        : O_WRONLY;
        if (open("/dev/null", flags) != descriptor) _exit(static_cast<int>(ExitCode::input_output));
    }
}

void prepare_process() {
    hold_standard_descriptors();
    // A closed pipe and a file beyond the size limit become errors of write(2), with exit code 16.
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    // Where the caller ignores it, waitpid(2) does not return exit codes.
    signal(SIGCHLD, SIG_DFL);
    const rlimit none{0, 0};
    // Keeps keys and plaintext out of core files. PR_SET_DUMPABLE also covers cores sent to a pipe,
    // which the limit does not (core(5)). It prevents other processes of the user from reading the
    // memory or attaching (prctl(2)). Root still can.
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    watch_interrupts();
}

ExitCode run(const ProgramDescription& description, int argument_count, char** arguments,
             Session& session) {
    CLI::App program;
    add_options(program, description, session);
    const std::optional<std::string> asked = parse_arguments(program, argument_count, arguments);
    const ExitCode code = asked ? ExitCode::ok : session.command();
    print_output(asked.value_or(""));
    return code;
}

}  // namespace

void add_options(CLI::App& program, const ProgramDescription& description, Session& session) {
    program.name(description.name);
    program.description(description.about);
    program.add_flag("-q,--quiet", session.quiet, "no remarks on stderr, errors only");
    program.set_version_flag("-V,--version",
                             cli::format("{} {}", description.name, warpseal_version()));
    description.add_commands(program, session);
}

std::optional<std::string> parse_arguments(CLI::App& program, int argument_count,
                                           char** arguments) {
    try {
        program.parse(argument_count, arguments);
    } catch (const CLI::Success& success) {  // --help and --version
        refuse_unknown_words(program, false);
        std::ostringstream text;
        program.exit(success, text);
        return text.str();
    } catch (const CLI::ParseError& error) {
        refuse_unknown_words(program, true);
        throw Failure(ExitCode::usage,
                      cli::format("{}. See `{} --help`.", without_value(error.what()),
                                  parsed_command(program)));
    }
    return std::nullopt;
}

int run_program(const ProgramDescription& description, int argument_count, char** arguments) {
    prepare_process();
    Session session;
    const auto fail = [&session](ExitCode code, const std::string& text) {
        if (session.json_events) print_failed_event(code, text);
        complain(text);
        return static_cast<int>(code);
    };
    try {
        return static_cast<int>(run(description, argument_count, arguments, session));
    } catch (const Failure& failure) {
        return fail(failure.code, failure.what());
    } catch (const std::bad_alloc&) {
        return fail(ExitCode::error, "out of memory.");
    } catch (const std::exception& error) {
        return fail(ExitCode::error, error.what());
    }
}

}  // namespace warpseal::cli
