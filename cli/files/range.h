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

// Returns the bytes of the range that a plaintext of `size` bytes has. Throws Failure (usage).
uint64_t bytes_within(const Range& range, uint64_t size, const FileChoice& choice);
// Throws Failure (usage) unless the input is a file.
void refuse_streams(int input, const FileChoice& choice);
void say_if_shortened(const Range& range, uint64_t bytes, const Session& session);

// Writes the range of the plaintext to a committed output. Throws Failure.
ExitCode run_range(const FileChoice& choice, int input, const Range& range,
                   const OutputChoice& output, Session& session);

}  // namespace warpseal::cli
