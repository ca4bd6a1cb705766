// Answers a plugin's messages to a person, and its questions.
#pragma once

#include "cli/age/plugin/connection.h"

namespace warpseal::cli::age::plugin {

// Answers a message that is part of the dialogue, and a message that is not known. Throws Failure.
void answer(Connection& plugin, const Stanza& message);

// Text of a plugin as one line, without control characters.
std::string shown_text(View text);

}  // namespace warpseal::cli::age::plugin
