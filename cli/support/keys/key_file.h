// Content of key files: raw bytes, hexadecimal or base64.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/support/secrets.h"

namespace warpseal::cli {

// Returns the key of a file's content. `lengths` are the lengths that a key may have. Content of
// one of these lengths is a raw key. Text is hexadecimal, or base64 with or without padding, and
// may end with a newline. `shown` names the source in messages. Throws Failure (usage), which names
// files of other kinds, such as public keys. Keys are decoded without table lookups and branches
// on their bytes.
SecretBytes decode_key(SecretBytes content, const std::vector<size_t>& lengths,
                       const std::string& shown);

// Runs a command with /bin/sh and returns what it wrote to standard output, up to a page. It reads
// from /dev/null. Throws Failure: input_output if the command fails, or after a stop signal.
SecretBytes output_of_command(const std::string& command);

}  // namespace warpseal::cli
