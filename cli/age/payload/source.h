// Input of the age commands: bytes of a descriptor or of an armor, with one byte of lookahead.
#pragma once

#include "cli/age/format/bytes.h"

namespace warpseal::cli::age {

class Source {
public:
    virtual ~Source() = default;
    // Reads at most `most` bytes and returns their number; 0 means end of input. Throws Failure.
    virtual size_t read(uint8_t* to, size_t most) = 0;
};

// Throws Failure if a signal asked the program to stop.
void throw_if_interrupted();

class DescriptorSource final : public Source {
public:
    explicit DescriptorSource(int descriptor) : descriptor_(descriptor) {}
    size_t read(uint8_t* to, size_t most) override;

private:
    int descriptor_;
};

class BufferedSource {
public:
    explicit BufferedSource(Source& source) : source_(source), buffer_(buffer_bytes) {}
    // The next byte, or -1 at the end of input.
    int peek() { return begin_ < end_ || fill() ? buffer_[begin_] : -1; }
    int get();
    // Reads `bytes` bytes, fewer only at the end of input.
    size_t read(uint8_t* to, size_t bytes);
    uint64_t taken() const { return taken_; }  // bytes that get and read returned

private:
    static constexpr size_t buffer_bytes = 65536;
    bool fill();
    Source& source_;
    Secret buffer_;
    size_t begin_ = 0, end_ = 0;
    uint64_t taken_ = 0;
};

}  // namespace warpseal::cli::age
