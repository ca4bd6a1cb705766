// Big-endian integers of the file format, and labels as byte spans.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace warpseal::container {

inline uint16_t get16(const uint8_t* p) { return static_cast<uint16_t>(p[0] << 8 | p[1]); }
inline uint32_t get32(const uint8_t* p) { return uint32_t{get16(p)} << 16 | get16(p + 2); }
inline uint64_t get64(const uint8_t* p) { return uint64_t{get32(p)} << 32 | get32(p + 4); }
inline void put16(uint8_t* p, uint64_t x) {
    p[0] = static_cast<uint8_t>(x >> 8);
    p[1] = static_cast<uint8_t>(x);
}
inline void put32(uint8_t* p, uint64_t x) {
    put16(p, x >> 16);
    put16(p + 2, x);
}
inline void put64(uint8_t* p, uint64_t x) {
    put32(p, x >> 32);
    put32(p + 4, x);
}

// Returns a label without its terminating zero.
template <size_t N>
Bytes text_bytes(const char (&label)[N]) {
    return {reinterpret_cast<const uint8_t*>(label), N - 1};
}

}  // namespace warpseal::container
