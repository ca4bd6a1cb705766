// Room on the stack. The engine's frames, and what they clear behind them, need up to 80 KiB on
// some targets; a fibre of libcrypto's has 32. What is called on such a stack goes to another one
// of the thread's meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpseal::provider {

constexpr size_t stack_wanted = 128 << 10;

// Where the thread may be: on its own stack, or on the one that is lent.
struct StackBounds {
    uintptr_t low, high, lent_low, lent_high;  // high 0: not looked at yet
};
// Not of the initial-exec model, which would save a call for each piece: all that the module has
// for a thread would then have to be in its first block, and what is left there is less than CUDA's
// runtime alone asks for.
extern constinit thread_local StackBounds stack_bounds;

// Calls work(argument) on the lent stack, or here if this thread was never looked at and has room.
// False if there is no memory for one.
bool call_with_stack(void (*work)(const void*), const void* argument) noexcept;

inline bool stack_here() {
    const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    const StackBounds& bounds = stack_bounds;
    return (here < bounds.high && here >= bounds.low + stack_wanted) ||
           (here < bounds.lent_high && here >= bounds.lent_low);
}

// Calls work(), which throws nothing and does not pause its fibre. False: there is no room to be
// had, and it was not called.
template <class Work>
bool with_stack(const Work& work) noexcept {
    if (!stack_here())
        return call_with_stack([](const void* given) { (*static_cast<const Work*>(given))(); },
                               &work);
    work();
    return true;
}

}  // namespace warpseal::provider
