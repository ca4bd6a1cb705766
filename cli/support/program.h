// Main function of a program with commands: parses the command line, runs one command and returns
// its exit code.
#pragma once

#include <optional>
#include <string>

#include "cli/support/command.h"

namespace warpseal::cli {

struct ProgramDescription {
    const char* name;   // as users type it
    const char* about;  // what it does, for --help
    // Registers options and commands. Every option besides --quiet, --version and --help is here.
    void (*add_commands)(CLI::App& program, Session& session);
};

// Registers the options and commands, and --quiet, --version and --help.
void add_options(CLI::App& program, const ProgramDescription& description, Session& session);

// Parses the command line; Session::command then runs the command. Returns the text that --help or
// --version asks for, else nothing. Throws Failure (usage).
std::optional<std::string> parse_arguments(CLI::App& program, int argument_count, char** arguments);

// Prepares the process for secrets and interrupts, runs the command and returns its exit code.
// Reports a failure as one line on stderr.
int run_program(const ProgramDescription& description, int argument_count, char** arguments);

}  // namespace warpseal::cli
