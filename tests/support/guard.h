// Memory between two inaccessible pages: an access one byte outside a buffer that touches them
// faults.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace tests {

class Guarded {
public:
    explicit Guarded(size_t bytes)
        : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))),
          size_((bytes + page_ - 1) / page_ * page_) {
        void* memory =
            mmap(nullptr, size_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        base_ = static_cast<uint8_t*>(memory);
        if (mprotect(begin(), size_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    }
    ~Guarded() { munmap(base_, size_ + 2 * page_); }
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;

    uint8_t* begin() const { return base_ + page_; }
    uint8_t* end() const { return begin() + size_; }
    size_t size() const { return size_; }
    // Returns the start of the last `bytes` bytes of the memory.
    uint8_t* at_end(size_t bytes) const { return end() - bytes; }
    uint8_t* at(bool flush_end, size_t bytes) const { return flush_end ? at_end(bytes) : begin(); }
    uint8_t* put(bool flush_end, const uint8_t* data, size_t bytes) const {
        uint8_t* to = at(flush_end, bytes);
        if (bytes != 0) std::memcpy(to, data, bytes);
        return to;
    }
    void read_only() const {
        if (mprotect(begin(), size_, PROT_READ) != 0) throw std::bad_alloc();
    }

private:
    size_t page_;
    size_t size_;
    uint8_t* base_ = nullptr;
};

// An output of `bytes` bytes inside guarded memory, poisoned together with up to 64 bytes on each
// side, which must not change.
class Output {
public:
    Output(const Guarded& memory, uint8_t* data, size_t bytes, uint8_t poison)
        : data_(data), bytes_(bytes), poison_(poison) {
        before_ = static_cast<size_t>(data - memory.begin()) < 64
                      ? static_cast<size_t>(data - memory.begin())
                      : 64;
        const size_t room = static_cast<size_t>(memory.end() - data) - bytes;
        after_ = room < 64 ? room : 64;
        std::memset(data_ - before_, poison, before_ + bytes + after_);
    }
    uint8_t* data() const { return data_; }
    // For in-place calls: copies the input into the output.
    void load(const uint8_t* in) const {
        if (bytes_ != 0) std::memcpy(data_, in, bytes_);
    }
    bool equals(const uint8_t* expected) const {
        if (bytes_ != 0 && std::memcmp(data_, expected, bytes_) != 0) return false;
        return poisoned(data_ - before_, before_) && poisoned(data_ + bytes_, after_);
    }

private:
    bool poisoned(const uint8_t* from, size_t n) const {
        for (size_t i = 0; i < n; ++i)
            if (from[i] != poison_) return false;
        return true;
    }
    uint8_t* data_;
    size_t bytes_;
    uint8_t poison_;
    size_t before_;
    size_t after_;
};

}  // namespace tests
