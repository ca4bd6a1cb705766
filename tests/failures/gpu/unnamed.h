// A regular file without a name.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

#include "../handles.h"

namespace works {

class Unnamed {
public:
    explicit Unnamed(const void* bytes = nullptr, size_t count = 0)
        : descriptor_(memfd_create("", MFD_CLOEXEC)) {
        if (count != 0 && pwrite(descriptor_, bytes, count, 0) != static_cast<ssize_t>(count))
            complain("the test", "cannot write its input");
    }
    ~Unnamed() { (void)close(descriptor_); }
    Unnamed(const Unnamed&) = delete;
    Unnamed& operator=(const Unnamed&) = delete;

    int get() const { return descriptor_; }
    void rewind() const { (void)lseek(descriptor_, 0, SEEK_SET); }
    // Reads from its start. Returns the number of bytes, at most `most`.
    size_t read(void* out, size_t most) const {
        const ssize_t got = pread(descriptor_, out, most, 0);
        if (got < 0) complain("the test", "cannot read an output");
        return static_cast<size_t>(got);
    }

private:
    const int descriptor_;
};

}  // namespace works
