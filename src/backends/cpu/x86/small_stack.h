// Zeroizes the stack of a short AES message with stores of 32 bytes. Stores of 64 bytes, as
// clear_words() has them with AVX-512, slow the AES instructions around them: a CCM message of 64
// bytes took 10 % longer.
#pragma once

#include "core/secret.h"

namespace warpseal {

// The stack of a message in x86/aes.h.
inline constexpr size_t aes_small_stack_bytes = 1024;

template <>
[[maybe_unused]] __attribute__((noinline)) void clear_stack<aes_small_stack_bytes>() {
    using Word = uint64_t __attribute__((vector_size(32), aligned(1), may_alias));
    uint8_t stack[aes_small_stack_bytes];
#pragma GCC unroll 8
    for (size_t at = 0; at < sizeof stack; at += sizeof(Word))
        *reinterpret_cast<volatile Word*>(stack + at) = Word{};
}

}  // namespace warpseal
