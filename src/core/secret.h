// Secret memory that wipes itself: the one type that holds keys, schedules and what is derived from them.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace warpseal {

// Overwrites in a way that the compiler keeps.
inline __attribute__((always_inline)) void wipe(void* memory, size_t bytes) {
    memset(memory, 0, bytes);
    __asm__ __volatile__("" : : "r"(memory) : "memory");
}

// N bytes, 64-byte aligned, zero at birth, wiped at death, never copied by accident.
template <size_t N>
struct Secret {
    alignas(64) uint8_t bytes[N];
    __attribute__((always_inline)) Secret() : bytes{} {}
    Secret(const Secret&) = delete;
    Secret& operator=(const Secret&) = delete;
    __attribute__((always_inline)) ~Secret() { wipe(bytes, N); }
    __attribute__((always_inline)) uint8_t* data() { return bytes; }
    __attribute__((always_inline)) const uint8_t* data() const { return bytes; }
    static constexpr size_t size() { return N; }
};

// A plain T, without contents until the owner writes them, wiped at death.
template <class T>
struct SecretOf {
    alignas(64) T value;
    __attribute__((always_inline)) SecretOf() {}
    SecretOf(const SecretOf&) = delete;
    SecretOf& operator=(const SecretOf&) = delete;
    __attribute__((always_inline)) ~SecretOf() { wipe(&value, sizeof value); }
};

// Zero if they are equal, in time that depends on the length alone.
inline __attribute__((always_inline)) uint32_t difference_of(const uint8_t* a, const uint8_t* b, size_t bytes) {
    uint32_t difference = 0;
    for (size_t i = 0; i < bytes; ++i) difference |= static_cast<uint32_t>(a[i] ^ b[i]);
    __asm__ __volatile__("" : "+r"(difference));
    return difference;
}

inline __attribute__((always_inline)) bool equal_secret(const uint8_t* a, const uint8_t* b, size_t bytes) {
    return difference_of(a, b, bytes) == 0;
}

}  // namespace warpseal
