// Companion programs beside `warpseal` that implement some of its commands, because they are no
// part of the product or link other libraries.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/support/command.h"

namespace warpseal::cli {

// Returns the path of a companion, in the build tree or where it is installed. Throws Failure
// (unsupported).
std::filesystem::path find_companion(const std::string& name);

// Returns an argument vector for exec(3): pointers into `arguments` and a terminating null.
std::vector<char*> pointers_to(std::vector<std::string>& arguments);

struct Companion {
    const char* program;
    std::vector<std::string> first;  // arguments before those of the user
};

// Registers a command of `program` that the companion runs in place of this process, with all
// arguments of the command, including --help.
void add_companion_command(CLI::App& program, Session& session, const char* name, const char* about,
                           const Companion& companion);

}  // namespace warpseal::cli
