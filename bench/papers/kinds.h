// Input files of P5 by file type, from a user's folder or generated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpseal::papers {

struct KindOfFile {
    // File type as in P5's table 4; for a user's file, its name.
    std::string kind;
    std::vector<uint8_t> bytes;
};

// Generates one file of each type with about `bytes` bytes. They are a valid DOCX, MPEG audio
// frames of noise, and MP4 and HWP container headers with noise. This avoids distributing
// copyrighted files with the program.
std::vector<KindOfFile> made_files(uint64_t bytes);

// Returns the regular files in a folder, by name. Throws cli::Failure if it is unreadable or has
// none.
std::vector<KindOfFile> files_in(const std::string& folder);

// Throws cli::Failure if the folder cannot be read or has no regular files.
void require_files_in(const std::string& folder);

// Returns exactly `bytes` bytes of ASCII text.
std::vector<uint8_t> made_text(uint64_t bytes);

}  // namespace warpseal::papers
