// Memory for secrets that zeroizes itself, for keys, schedules and values derived from them.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace warpseal {

// Zeroizes memory. The compiler cannot remove the stores.
inline __attribute__((always_inline)) void wipe(void* memory, size_t bytes) {
    memset(memory, 0, bytes);
    __asm__ __volatile__("" : : "r"(memory) : "memory");
}

// N bytes, 64-byte aligned. Zero-initialized, zeroized on destruction, not copyable.
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

// A plain T, uninitialized until the owner writes it. Zeroized on destruction.
template <class T>
struct SecretOf {
    alignas(64) T value;
    __attribute__((always_inline)) SecretOf() {}
    SecretOf(const SecretOf&) = delete;
    SecretOf& operator=(const SecretOf&) = delete;
    __attribute__((always_inline)) ~SecretOf() { wipe(&value, sizeof value); }
};

// Word of the loop that zeroizes the stack: a vector of the target that the object is built for,
// at most 32 bytes. Stores of 64 bytes slow the instructions around them: short CCM messages took
// 10 % longer. nvcc has no vector types.
#if defined(__CUDACC__)
using StackWord = uint64_t;
#elif defined(__AVX__)
using StackWord = uint64_t __attribute__((vector_size(32), aligned(1), may_alias));
#else
using StackWord = uint64_t __attribute__((vector_size(16), aligned(1), may_alias));
#endif

// Zeroizes at least four words. Static, as clear_stack: each object has its own copy, built for its
// own target.
[[maybe_unused]] __attribute__((noinline)) static void clear_words(uint8_t* memory, size_t bytes) {
    constexpr size_t word = sizeof(StackWord);
    // Volatile, so that the compiler emits neither a byte loop nor a call.
    const auto clear = [](uint8_t * p) __attribute__((always_inline)) {
        *reinterpret_cast<volatile StackWord*>(p) = StackWord{};
    };
    uint8_t *const last = memory + bytes - 4 * word, *at = memory + word;
    at -= reinterpret_cast<uintptr_t>(at) % word;  // aligned stores cross no cache line
    clear(memory);
    for (; at < last; at += 4 * word) {
        clear(at), clear(at + word), clear(at + 2 * word), clear(at + 3 * word);
    }
    clear(last), clear(last + word), clear(last + 2 * word), clear(last + 3 * word);
}

// Zeroizes `bytes` bytes of stack below the caller's frame.
template <size_t bytes>
__attribute__((noinline)) static void clear_stack() {
    static_assert(bytes >= 4 * sizeof(StackWord) && bytes % sizeof(StackWord) == 0);
    uint8_t stack[bytes];
    if constexpr (bytes <= 1024) {
        // Aligning the stores would take longer than it saves.
#pragma GCC unroll 8
        for (size_t at = 0; at < bytes; at += sizeof(StackWord))
            *reinterpret_cast<volatile StackWord*>(stack + at) = StackWord{};
    } else if constexpr (sizeof(StackWord) < 32 && bytes > 4096) {
        wipe(stack, bytes);  // without AVX, the C library's stores are wider
    } else {
        clear_words(stack, bytes);
    }
}

// Compilers spill round keys and states to the stack. Functions that handle secrets are called
// through StackZeroizer, which then zeroizes the stack that their frames used. `stack_bytes` comes
// from gcc's -fstack-usage. `function` must have internal linkage, so that each object has its own
// copy of this code, built for its own target. nvcc needs the unary +: it takes the bare name for a
// reference.
template <auto function, size_t stack_bytes, class Type = decltype(+function)>
struct StackZeroizer;
template <auto function, size_t stack_bytes, class Result, class... Argument>
struct StackZeroizer<function, stack_bytes, Result (*)(Argument...)> {
    // Not inlined, so that a caller with a path that needs no zeroizing has no frame for it.
    __attribute__((noinline)) static Result call(Argument... argument) {
        Result (*work)(Argument...) = function;
        // Opaque to the compiler, so that the call is not inlined and has its own frame.
        __asm__ __volatile__("" : "+r"(work));
        if constexpr (__is_same(Result, void)) {
            work(argument...);
            clear_stack<stack_bytes>();
        } else {
            const Result result = work(argument...);
            clear_stack<stack_bytes>();
            return result;
        }
    }
};

// Returns zero if the buffers are equal. The time depends only on the length.
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
