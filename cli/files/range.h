// `warpseal decrypt --range`: a part of the plaintext, without reading the rest of the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/files/file_command.h"

namespace warpseal::cli {

struct Range {
    uint64_t offset = 0;
    uint64_t length = UINT64_MAX;  // to the end of the plaintext
};
// Parses OFFSET:LENGTH and OFFSET: with sizes such as 4096 and 64KiB. Returns the error, or "".
std::string parse_range(const std::string& text, Range& range);

// Writes the range of the plaintext to a committed output. Throws Failure.
ExitCode run_range(const FileChoice& choice, int input, const Range& range,
                   const OutputChoice& output, Session& session);

}  // namespace warpseal::cli
