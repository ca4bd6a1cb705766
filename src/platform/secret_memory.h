// Memory for secrets: zeroized when freed, excluded from core dumps, and locked in RAM as far as
// the limit on locked memory allows.
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

    // Contents in a forked child: a copy, or zeros. Key schedules need `copied`: a child that
    // encrypts under an all-zero schedule leaks its data.
    enum class AfterFork : uint8_t { copied, wiped };
    // Allocates zeroed memory: pages of its own, or 64-byte-aligned memory on shared pages if it is
    // small and `copied`. Returns false if out of memory.
    bool allocate(size_t bytes, AfterFork after = AfterFork::copied);
    void reset();
    // Transfers ownership to the caller, who passes the pointer to adopt() with the size given to
    // allocate().
    void* release();
    // Takes ownership of memory that release() returned. Null is allowed.
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
