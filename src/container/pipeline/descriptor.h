// Reads and writes the file descriptors of a call: by position where both ends support it,
// otherwise sequentially.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <ctime>

#include "container/fault.h"
#include "container/pipeline/progress.h"

namespace warpseal::container {

// How a regular file will be read, as advice for the kernel.
enum class Access : uint8_t { sequential, random };

// The input, from its current position to its end. A regular file has a known length and is read by
// position, on any thread.
// Anything else is a stream, read sequentially by one thread at a time. So is a regular file with
// length 0, like those of /proc.
class Source {
public:
    Source(int descriptor, Progress& progress, Access access = Access::sequential);

    bool positional() const { return positional_; }
    bool regular() const { return regular_; }  // also one whose length is unknown or 0
    uint64_t bytes() const { return bytes_; }  // UINT64_MAX if unknown

    // Reads at `offset` from the start until the buffers are full or the input ends. A stream
    // ignores `offset`.
    // got: receives the number of bytes read. Modifies the array `buffers`.
    warpseal_status read(uint64_t offset, iovec* buffers, size_t count, size_t& got, Fault& fault);
    warpseal_status read(uint64_t offset, void* out, size_t bytes, size_t& got, Fault& fault);

    // Call after the last byte was read. Checks that a positional input kept its length, and moves
    // its position to the end.
    warpseal_status finish(Fault& fault);
    // Checks by modification and change times that a positional input was not written to meanwhile.
    // Sealing cannot detect a change of equal length otherwise.
    warpseal_status check_unchanged(Fault& fault) const;
    bool is_same_file(int descriptor) const;

private:
    const int descriptor_;
    Progress& progress_;
    bool regular_ = false;
    bool positional_ = false;
    uint64_t base_ = 0;
    uint64_t bytes_ = UINT64_MAX;
    timespec modified_ = {}, changed_ = {};
};

// strict: the output is always a prefix of the complete output. any: writes by position on any
// thread, which may leave holes.
enum class Order : uint8_t { strict, any };

// The output, from its current position. Order::any applies to regular files only.
// Anything else is written sequentially, and so is a file in append mode, where the kernel ignores
// positions.
class Sink {
public:
    Sink(int descriptor, Order order, Progress& progress);  // descriptor -1: discards everything

    bool ordered() const { return ordered_; }
    bool discards() const { return descriptor_ < 0; }
    // Bytes written so far, including those of a failed call.
    uint64_t bytes() const { return bytes_; }

    // Modifies the array `buffers`.
    warpseal_status write(uint64_t offset, iovec* buffers, size_t count, Fault& fault);
    warpseal_status write(uint64_t offset, const void* bytes, size_t count, Fault& fault);

    // Moves the position of a positional output to the end of what was written.
    warpseal_status finish(uint64_t bytes, Fault& fault);

private:
    const int descriptor_;
    Progress& progress_;
    bool ordered_ = true;
    uint64_t base_ = 0;
    std::atomic<uint64_t> bytes_{0};
};

}  // namespace warpseal::container
