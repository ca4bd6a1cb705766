// The file that a command with --resume writes until its output is whole.
#pragma once

#include <sys/types.h>

#include <string>

#include "cli/support/descriptor.h"

namespace warpseal::cli {

// Ending of its name, after that of the output.
constexpr char unfinished_ending[] = ".unfinished";
bool is_unfinished_name(const std::string& name);

// Opens the unfinished file for reading and writing, creates it if it does not exist, and locks it
// until the descriptor is closed. `mode` holds the permissions before the umask. An existing file
// must be a regular file of the caller's, with one name and no other permissions than those.
// Throws Failure: output_exists for other files, input_output if another run has locked it.
// `shown` is its name for messages.
Descriptor open_unfinished(int directory, const std::string& name, mode_t mode,
                           const std::string& shown);

}  // namespace warpseal::cli
