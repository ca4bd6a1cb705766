// Reading and writing of whole buffers, which stop signals interrupt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cli/support/output.h"

namespace warpseal::cli {

// Output that records if bytes have left the program, because a stream cannot take them back.
class RawOutput {
public:
    explicit RawOutput(Output& output) : output_(output) {}
    // Writes all bytes. Throws Failure.
    void write(const uint8_t* data, size_t bytes);
    // Like write, but returns false if the reader closed its end of the pipe.
    bool write_until_closed(const uint8_t* data, size_t bytes);
    // Throws Failure if a signal asked the program to stop. The text says if output was already
    // written.
    void throw_if_interrupted() const;
    uint64_t written_bytes() const { return written_; }

private:
    Output& output_;
    uint64_t written_ = 0;
    bool gone_ = false;
};

// Reads at most `most` bytes and returns their number; 0 means end of input. Throws Failure, also
// after a stop signal.
size_t read_some(int input, uint8_t* to, size_t most, const std::string& shown,
                 const RawOutput& output);

}  // namespace warpseal::cli
