// Explains words of the command line that no command or option has.
#pragma once

#include "cli/support/command.h"

namespace warpseal::cli {

// Returns the command that was parsed, as users type it: "warpseal key list".
std::string parsed_command(const CLI::App& program);

// Returns the text of an error of CLI11 without the value of the option: it may be a secret.
std::string without_value(std::string text);

// Throws Failure (usage), which names the first unknown word and the nearest known one, if the
// program parsed one. `options` says if unknown options count too.
void refuse_unknown_words(const CLI::App& program, bool options);

}  // namespace warpseal::cli
