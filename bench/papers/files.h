// P5's text file: written once, and encrypted from file to file by any way, with the time of it and
// of the cipher alone.
#pragma once

#include <string>
#include <vector>

#include "papers/study.h"
#include "papers/ways.h"

namespace warpseal::papers {

// With PKCS#7 to whole blocks of 16 bytes.
std::vector<uint8_t> padded(std::vector<uint8_t> bytes);

struct FileTimes {
    double whole = 0, cipher = 0;  // seconds: reading, encrypting and writing; of it the cipher
};

class TextFile {
public:
    // In files of that folder, which are gone with this.
    TextFile(const std::string& directory, uint64_t bytes);
    ~TextFile();
    TextFile(const TextFile&) = delete;
    TextFile& operator=(const TextFile&) = delete;

    uint64_t bytes() const { return bytes_; }
    // Medians, as Study::seconds_of repeats. Backwards it takes any bytes for ciphertext.
    FileTimes time(const Way& way, bool encrypts, const Study& study) const;

private:
    const uint64_t bytes_;
    int in_ = -1, out_ = -1;
};

}  // namespace warpseal::papers
