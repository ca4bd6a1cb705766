// Pages for secrets: wiped when they go, kept out of core dumps, and out of swap where the limit on locked memory allows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpseal {

class SecretMemory {
public:
    SecretMemory() = default;
    ~SecretMemory() { reset(); }
    SecretMemory(const SecretMemory&) = delete;
    SecretMemory& operator=(const SecretMemory&) = delete;

    // What a forked child finds there: a copy (a child that enciphers under an all-zero schedule gives its data away), or zeros.
    enum class AfterFork : uint8_t { copied, wiped };
    bool allocate(size_t bytes, AfterFork after = AfterFork::copied);  // zeroed, page-aligned; false: out of memory
    void reset();
    void* data() { return pages_; }
    const void* data() const { return pages_; }

private:
    void* pages_ = nullptr;
    size_t bytes_ = 0;
};

}  // namespace warpseal
