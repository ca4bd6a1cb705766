// Measures the stack use of a call, which runs on a painted stack.
#pragma once

#include <ucontext.h>

#include <functional>
#include <vector>

#include "stack.h"

namespace tests {

// Returns the bytes from the top of the stack to the deepest one written by `call`.
inline size_t stack_reach(const std::function<void()>& call) {
    static const std::function<void()>* work = nullptr;
    static ucontext_t back, there;
    std::vector<uint8_t> stack(1 << 20, 0xa5);
    work = &call;
    getcontext(&there);
    there.uc_stack.ss_sp = stack.data();
    there.uc_stack.ss_size = stack.size();
    there.uc_link = &back;
    makecontext(
        &there, [] { (*work)(); }, 0);
    swapcontext(&back, &there);
    size_t untouched = 0;
    while (untouched < stack.size() && stack[untouched] == 0xa5) ++untouched;
    return stack.size() - untouched;
}

}  // namespace tests
