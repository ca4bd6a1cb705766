// A range of the plaintext of an age file, without reading the rest of the file.
#pragma once

#include "cli/age/task.h"
#include "cli/files/range.h"

namespace warpseal::cli::age {

// The payload of a regular file: its chunks from `begin` to the end of the file.
struct PayloadPlace {
    int input;
    uint64_t begin, bytes;
};

// Checks that the payload ends where the file does, writes the range, and returns the number of its
// bytes. Without the last chunk, a cut file would look like a shorter one. Throws Failure.
uint64_t open_range(const PayloadPlace& place, View key, const Range& range,
                    const FileChoice& choice, Sink& sink, unsigned threads,
                    const std::function<std::function<void(uint64_t)>(uint64_t)>& progress);

}  // namespace warpseal::cli::age
