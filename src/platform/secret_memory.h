// Memory for secrets: wiped when it goes, kept out of core dumps, and out of swap where the limit
// on locked memory allows.
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

    // What a forked child finds there: a copy (a child that enciphers under an all-zero schedule
    // gives its data away), or zeros.
    enum class AfterFork : uint8_t { copied, wiped };
    // Zeroed. Pages of its own, or, for what is small and copied, 64-byte-aligned memory on pages
    // that it shares. False: out of memory.
    bool allocate(size_t bytes, AfterFork after = AfterFork::copied);
    void reset();
    // Hands the memory to the caller, who gives it to adopt() with the bytes that were asked for.
    void* release();
    // Takes memory that release() returned; null is none.
    void adopt(void* memory, size_t bytes, AfterFork after = AfterFork::copied);
    void* data() { return memory_; }
    const void* data() const { return memory_; }

private:
    void measure(size_t bytes, AfterFork after);

    void* memory_ = nullptr;
    size_t bytes_ = 0;
    bool cell_ = false;
};

}  // namespace warpseal
