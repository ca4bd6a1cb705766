// Secret memory that wipes itself: the one type that holds keys, schedules and what is derived from
// them.
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

// Compilers spill round keys and states to the stack. What deals in them is called through here,
// and the stack below is then cleared as far as the frames reach (gcc's -fstack-usage). A function
// of internal linkage keeps its copy of this to its object, and so to its target.
template <auto function, size_t stack_bytes,
          class Type = decltype(+function)>  // +: nvcc takes the name for a reference
struct StackZeroizer;
template <auto function, size_t stack_bytes, class Result, class... Argument>
struct StackZeroizer<function, stack_bytes, Result (*)(Argument...)> {
    static Result call(Argument... argument) {
        Result (*work)(Argument...) = function;
        __asm__ __volatile__("" : "+r"(work));  // so that it gets a frame of its own
        if constexpr (__is_same(Result, void)) {
            work(argument...);
            clear();
        } else {
            const Result result = work(argument...);
            clear();
            return result;
        }
    }

private:
    __attribute__((noinline)) static void clear() {
        uint8_t stack[stack_bytes];
        wipe(stack, sizeof stack);
    }
};

// Zero if they are equal, in time that depends on the length alone.
inline __attribute__((always_inline)) uint32_t difference_of(const uint8_t* a, const uint8_t* b,
                                                             size_t bytes) {
    uint32_t difference = 0;
    for (size_t i = 0; i < bytes; ++i) difference |= static_cast<uint32_t>(a[i] ^ b[i]);
    __asm__ __volatile__("" : "+r"(difference));
    return difference;
}

inline __attribute__((always_inline)) bool equal_secret(const uint8_t* a, const uint8_t* b,
                                                        size_t bytes) {
    return difference_of(a, b, bytes) == 0;
}

}  // namespace warpseal
