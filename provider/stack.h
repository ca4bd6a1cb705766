// Ensures stack space. The engine's frames and their zeroization need up to 80 KiB on some targets,
// but a libcrypto fibre has 32 KiB. Calls from such a stack run on a second stack of the thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpseal::provider {

constexpr size_t stack_wanted = 128 << 10;

// Bounds of the thread's own stack and of its second stack.
struct StackBounds {
    uintptr_t low, high, second_low, second_high;  // `high` is 0 until the thread is examined.
};
// The initial-exec TLS model would save a call per update. It would need all of the module's
// thread-local data in the static TLS block, whose free space is smaller than the CUDA runtime
// alone needs.
extern constinit thread_local StackBounds stack_bounds;

// Calls work(argument) on the second stack, or directly if the thread was not examined before and
// has space. Returns false if there is no memory for the second stack.
bool call_with_stack(void (*work)(const void*), const void* argument) noexcept;

// Returns true if the current stack has enough space or is already the second stack.
inline bool has_stack() {
    const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    const StackBounds& bounds = stack_bounds;
    return (here < bounds.high && here >= bounds.low + stack_wanted) ||
           (here < bounds.second_high && here >= bounds.second_low);
}

// Calls work(), which must not throw or pause its fibre. Returns false, without calling it, if no
// stack space is available.
template <class Work>
bool with_stack(const Work& work) noexcept {
    if (!has_stack())
        return call_with_stack([](const void* given) { (*static_cast<const Work*>(given))(); },
                               &work);
    work();
    return true;
}

}  // namespace warpseal::provider
