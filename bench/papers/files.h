// Text file of P5: written once, then encrypted from file to file by any method, with total time
// and cipher time.
#pragma once

#include <string>
#include <vector>

#include "bench/papers/methods.h"
#include "bench/papers/study.h"

namespace warpseal::papers {

// Adds PKCS#7 padding to whole blocks of 16 bytes.
std::vector<uint8_t> padded(std::vector<uint8_t> bytes);

struct FileTimes {
    Timed whole, cipher;  // reading, encrypting and writing; the cipher alone
};

// Throws cli::Failure if files cannot be made in `directory` (--directory).
void require_file_directory(const std::string& directory);

class TextFile {
public:
    // Uses files in `directory` that are removed with this object.
    TextFile(const std::string& directory, uint64_t bytes);
    ~TextFile();
    TextFile(const TextFile&) = delete;
    TextFile& operator=(const TextFile&) = delete;

    uint64_t bytes() const { return bytes_; }
    // Returns medians over the repetitions of Study::seconds_of. Decryption accepts any bytes as
    // ciphertext.
    FileTimes time(const Method& method, bool encrypts, const Study& study) const;

private:
    const uint64_t bytes_;
    int in_ = -1, out_ = -1;
};

}  // namespace warpseal::papers
