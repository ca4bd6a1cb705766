// A stack painted before each call on it, to read its contents after the call and its depth.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

namespace tests {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool stacks_are_sanitized = true;  // which lay stacks out themselves
#else
constexpr bool stacks_are_sanitized = false;
#endif

class Stack {
public:
    const std::vector<uint8_t>& after(const std::function<void()>& call) {
        work_ = &call;
        std::memset(memory_.data(), paint, memory_.size());
        getcontext(&there_);
        there_.uc_stack.ss_sp = memory_.data();
        there_.uc_stack.ss_size = memory_.size();
        there_.uc_link = &here_;
        for (const int kept : {REG_RBX, REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15})
            there_.uc_mcontext.gregs[kept] = 0;  // callees push them
        self() = this;
        makecontext(
            &there_, [] { (*self()->work_)(); }, 0);
        swapcontext(&here_, &there_);
        self() = nullptr;
        return memory_;
    }
    // Depth of the last call.
    size_t deepest_bytes() const {
        return static_cast<size_t>(
            memory_.end() -
            std::find_if(memory_.begin(), memory_.end(), [](uint8_t x) { return x != paint; }));
    }

private:
    static constexpr uint8_t paint = 0xa5;
    static Stack*& self() {
        static Stack* stack = nullptr;
        return stack;
    }
    std::vector<uint8_t> memory_ = std::vector<uint8_t>(size_t{256} << 10);
    const std::function<void()>* work_ = nullptr;
    ucontext_t here_ = {}, there_ = {};
};

}  // namespace tests
