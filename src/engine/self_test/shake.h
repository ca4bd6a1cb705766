// SHAKE256 (FIPS 202) over a stream. The self-tests draw their inputs from it and compare digests
// of their outputs. Not for secrets: it leaves its state in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace warpseal {

class Shake256 {
public:
    // Not after squeeze().
    void absorb(const void* bytes, size_t count);
    // Writes the next `count` bytes of output.
    void squeeze(uint8_t* out, size_t count);

private:
    uint64_t state_[25] = {};
    size_t at_ = 0;  // position in the rate
    bool squeezing_ = false;
};

using TestText = std::vector<uint8_t>;

// Returns SHAKE256(label): an input of a self-test. Each input has a label of its own.
TestText test_bytes(std::string_view label, size_t count);

}  // namespace warpseal
