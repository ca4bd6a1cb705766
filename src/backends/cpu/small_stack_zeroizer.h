// Variant of StackZeroizer (core/secret.h) for calls that may take no longer than its zeroizing. It
// clears the stack with vector stores.
#pragma once

#include "core/secret.h"

namespace warpseal::cpu {
namespace {

template <auto function, size_t stack_bytes, class Type = decltype(+function)>
struct SmallStackZeroizer;
template <auto function, size_t stack_bytes, class Result, class... Argument>
struct SmallStackZeroizer<function, stack_bytes, Result (*)(Argument...)> {
    static Result call(Argument... argument) {
        Result (*work)(Argument...) = function;
        __asm__ __volatile__("" : "+r"(work));  // prevents inlining: the call gets its own frame
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
    using Vector = uint64_t __attribute__((vector_size(32), aligned(1), may_alias));
    static_assert(stack_bytes % sizeof(Vector) == 0);
    __attribute__((noinline)) static void clear() {
        uint8_t stack[stack_bytes];
#pragma GCC unroll 8
        for (size_t at = 0; at < stack_bytes; at += sizeof(Vector))
            // Volatile, so that the compiler emits neither a byte loop nor a call.
            *reinterpret_cast<volatile Vector*>(stack + at) = Vector{};
    }
};

}  // namespace
}  // namespace warpseal::cpu
