// The programs that lie beside `warpseal` and are run in its place: what has no place in the
// product's own program, or links otherwise.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "command.h"

namespace warpseal::cli {

// Beside this program, as the build leaves it, or where it is installed. Throws Failure
// (unsupported).
std::filesystem::path find_companion(const std::string& name);

// What exec(3) takes: pointers into `arguments` and a null.
std::vector<char*> pointers_to(std::vector<std::string>& arguments);

// Registers a command of `program` whose arguments, --help among them, all belong to the command of
// that name of the companion.
void add_companion_command(CLI::App& program, Session& session, const char* name, const char* about,
                           const char* companion);

}  // namespace warpseal::cli
