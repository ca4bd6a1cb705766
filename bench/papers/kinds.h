// Files of the kinds that P5 encrypts: somebody's own from a folder, or made on the spot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpseal::papers {

struct KindOfFile {
    std::string
        kind;  // as in P5's table 4 for what is made here; the file's name for somebody's own
    std::vector<uint8_t> bytes;
};

// One of each kind, about `bytes` long: a DOCX that a word processor opens, MPEG audio frames of
// noise, and for MP4 and HWP the containers' own headers with noise in them. Nobody's films and
// documents travel with this program.
std::vector<KindOfFile> made_files(uint64_t bytes);

// The regular files in a folder, by name. Throws cli::Failure if it cannot be read or has none.
std::vector<KindOfFile> files_in(const std::string& folder);

// ASCII, as a text file has it: exactly that many bytes.
std::vector<uint8_t> made_text(uint64_t bytes);

}  // namespace warpseal::papers
