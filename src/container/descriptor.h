// Reading and writing of the file descriptors that a call is given: by position where both ends
// can, in order elsewhere.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <ctime>

#include "container/fault.h"
#include "container/progress.h"

namespace warpseal::container {

// The input from its current position to its end. A regular file has a known length and is read by
// position, from any thread; anything else, and a regular file that claims to be empty (as those of
// /proc do), is a stream, read in order by one thread at a time.
class Source {
public:
    Source(int descriptor, Progress& progress);

    bool positional() const { return positional_; }
    uint64_t bytes() const { return bytes_; }  // UINT64_MAX: unknown

    // Reads until the buffers are full or the input ends; `got` bytes at `offset` from the start (a
    // stream's own place, for a stream). The buffers' descriptions are used up.
    warpseal_status read(uint64_t offset, iovec* buffers, size_t count, size_t& got, Fault& fault);
    warpseal_status read(uint64_t offset, void* out, size_t bytes, size_t& got, Fault& fault);

    // After the last byte was read: that a positional input still has the length that it had; moves
    // its position to the end.
    warpseal_status finish(Fault& fault);
    // That nobody wrote to a positional input meanwhile, as its times of modification and change
    // say. A change that keeps the length shows nowhere else where the input is sealed.
    warpseal_status check_unchanged(Fault& fault) const;
    bool is_same_file(int descriptor) const;

private:
    const int descriptor_;
    Progress& progress_;
    bool positional_ = false;
    uint64_t base_ = 0;
    uint64_t bytes_ = UINT64_MAX;
    timespec modified_ = {}, changed_ = {};
};

// In order: what is written is always a prefix of the whole. Any: by position, from any thread,
// which may leave holes.
enum class Order : uint8_t { strict, any };

// The output from its current position. Order::any counts for a regular file alone; anything else,
// and a file in append mode, where the kernel ignores positions, is written in order.
class Sink {
public:
    Sink(int descriptor, Order order, Progress& progress);  // -1: nothing is written

    bool ordered() const { return ordered_; }
    bool discards() const { return descriptor_ < 0; }
    // So far, also by a call that failed.
    uint64_t bytes() const { return bytes_; }

    // The buffers' descriptions are used up.
    warpseal_status write(uint64_t offset, iovec* buffers, size_t count, Fault& fault);
    warpseal_status write(uint64_t offset, const void* bytes, size_t count, Fault& fault);

    // Moves the position of a positional output behind what was written.
    warpseal_status finish(uint64_t bytes, Fault& fault);

private:
    const int descriptor_;
    Progress& progress_;
    bool ordered_ = true;
    uint64_t base_ = 0;
    std::atomic<uint64_t> bytes_{0};
};

}  // namespace warpseal::container
