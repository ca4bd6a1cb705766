// As Cleared of core/secret.h, for calls that may be over in the time that it takes: what they
// leave on the stack is cleared by vectors.
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
    using Vector = uint64_t __attribute__((vector_size(32), aligned(1), may_alias));
    static_assert(stack_bytes % sizeof(Vector) == 0);
    __attribute__((noinline)) static void clear() {
        uint8_t stack[stack_bytes];
#pragma GCC unroll 8
        for (size_t at = 0; at < stack_bytes; at += sizeof(Vector))
            *reinterpret_cast<volatile Vector*>(stack + at) =
                Vector{};  // volatile: no loop of bytes, nor a call
    }
};

}  // namespace
}  // namespace warpseal::cpu
