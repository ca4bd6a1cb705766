// Pages for key schedules: wiped when they go, kept out of core dumps, and out of swap where the limit on locked memory allows.
#pragma once

#include <cstddef>

namespace warpseal {

class SecretMemory {
public:
    SecretMemory() = default;
    ~SecretMemory() { reset(); }
    SecretMemory(const SecretMemory&) = delete;
    SecretMemory& operator=(const SecretMemory&) = delete;

    bool allocate(size_t bytes);  // zeroed, page-aligned; false: out of memory
    void reset();
    void* data() { return pages_; }
    const void* data() const { return pages_; }

private:
    void* pages_ = nullptr;
    size_t bytes_ = 0;
};

}  // namespace warpseal
