// Random choices for tests, from one seed: WARPSEAL_TEST_SEED or a fixed default, printed by
// tests/ciphers/matrix_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace tests {

inline uint64_t seed() {
    const char* given = std::getenv("WARPSEAL_TEST_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 0) : 20260705;
}

// splitmix64; each test gives its own number, so that tests draw the same values in any order and
// selection.
class Random {
public:
    explicit Random(uint64_t test) : state_(seed() * 0x9e3779b97f4a7c15u + test) {}
    uint64_t next() {
        uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return z ^ z >> 31;
    }
    uint64_t below(uint64_t bound) { return next() % bound; }
    bool one_in(uint64_t n) { return below(n) == 0; }
    void fill(uint8_t* out, size_t bytes) {
        for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
            const uint64_t z = next();
            std::memcpy(out + i, &z, std::min(sizeof z, bytes - i));
        }
    }
    std::vector<uint8_t> text(size_t bytes) {
        std::vector<uint8_t> out(bytes);
        fill(out.data(), bytes);
        return out;
    }
    // Returns a length up to bound, with small values as likely as large ones.
    size_t length(size_t bound) {
        return static_cast<size_t>(
            below((uint64_t{1} << below(64 - static_cast<uint64_t>(__builtin_clzll(bound)))) + 1));
    }
    // Returns a counter of a block; most carry out of their low 8, 32, 64 or 128 bits within the
    // next `blocks` blocks.
    std::vector<uint8_t> counter(uint64_t blocks, size_t bytes = 16) {
        static constexpr size_t ones[] = {0, 1, 4, 8,
                                          16};  // low bytes to set to 0xff before subtracting
        return counter_before(text(bytes), std::min(bytes, ones[below(5)]), below(blocks + 1));
    }
    // Returns the same block with its low `ones` bytes set to all ones minus `back`.
    static std::vector<uint8_t> counter_before(std::vector<uint8_t> out, size_t ones,
                                               uint64_t back) {
        for (size_t i = 1; i <= ones; ++i) out[out.size() - i] = 0xff;
        for (size_t i = 1; i <= ones && i <= 8; ++i, back >>= 8)
            out[out.size() - i] = static_cast<uint8_t>(0xff - (back & 0xff));
        return out;
    }

private:
    uint64_t state_;
};

}  // namespace tests
