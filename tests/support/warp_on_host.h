// A warp on the host: 32 fibres, each of which runs to the next collective, where the others catch
// up.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <vector>

#include "device_on_host.h"

#define __global__
#define __shared__
#define __constant__
#define __launch_bounds__(...)

using std::max, std::min;
inline ThreadNumber blockIdx{0}, gridDim{1};

namespace warp_on_host {

// Runs lanes in either order: work between two collectives must not depend on it.
enum class Order { forwards, backwards };

class Warp {
public:
    // Runs the kernel in a block of one warp.
    void run(const std::function<void()>& kernel, Order order) {
        kernel_ = kernel;
        blockDim.x = lanes;
        stacks_.resize(lanes * stack_bytes);
        for (uint32_t lane = 0; lane < lanes; ++lane) {
            Fibre& fibre = fibres_[lane];
            fibre.phase = 0;
            fibre.started = fibre.done = false;
            getcontext(&fibre.start);
            fibre.start.uc_stack.ss_sp = stacks_.data() + lane * stack_bytes;
            fibre.start.uc_stack.ss_size = stack_bytes;
            makecontext(&fibre.start, begin, 0);
        }
        uint32_t running = lanes;
        while (running > 0) {
            running = 0;
            for (uint32_t i = 0; i < lanes; ++i) {
                threadIdx.x = order == Order::forwards ? i : lanes - 1 - i;
                Fibre& fibre = fibres_[threadIdx.x];
                if (!fibre.done) resume(fibre);
                running += fibre.done ? 0 : 1;
            }
            if (running % lanes != 0) std::abort();  // a collective that some lanes did not reach
        }
        threadIdx.x = 0;
    }

    // The values that each lane passes to this collective. Valid until the lane's next but one.
    static constexpr uint32_t lanes = 32, most_words = 6;
    using Words = uint32_t[most_words];
    template <class... Word>
    const Words* exchange(Word... word) {
        Fibre& mine = fibres_[threadIdx.x];
        const uint32_t phase = mine.phase++ % 2,
                       words[most_words] = {static_cast<uint32_t>(word)...};
        std::copy(words, words + most_words, brought_[phase][threadIdx.x]);
        if (_setjmp(mine.at) == 0) _longjmp(scheduler_, 1);
        return brought_[phase];
    }

private:
    static constexpr size_t stack_bytes = size_t{1} << 18;
    struct Fibre {
        ucontext_t start;
        jmp_buf at;
        uint32_t phase;
        bool started, done;
    };
    static void begin();
    // Runs a fibre up to its next collective. swapcontext makes a system call for the signal
    // mask each time, which takes longer than the work between two collectives.
    void resume(Fibre& fibre) {
        if (_setjmp(scheduler_) != 0) return;
        if (fibre.started) _longjmp(fibre.at, 1);
        fibre.started = true;
        (void)setcontext(&fibre.start);
    }

    std::function<void()> kernel_;
    std::vector<char> stacks_;
    jmp_buf scheduler_;
    Fibre fibres_[lanes];
    Words brought_[2][lanes];
};
inline Warp warp;

inline void Warp::begin() {
    warp.kernel_();
    warp.fibres_[threadIdx.x].done = true;
    _longjmp(warp.scheduler_, 1);
}

}  // namespace warp_on_host

inline void __syncwarp() { warp_on_host::warp.exchange(); }
template <class T>
T __shfl_sync(uint32_t, T value, uint32_t lane) {
    return static_cast<T>(warp_on_host::warp.exchange(value)[lane % 32][0]);
}
template <class T>
T __shfl_xor_sync(uint32_t, T value, uint32_t mask) {
    return static_cast<T>(warp_on_host::warp.exchange(value)[threadIdx.x ^ mask][0]);
}
template <class T>
T __shfl_up_sync(uint32_t, T value, uint32_t apart) {
    return static_cast<T>(warp_on_host::warp.exchange(
        value)[threadIdx.x < apart ? threadIdx.x : threadIdx.x - apart][0]);
}
inline uint32_t __ballot_sync(uint32_t, bool value) {
    const auto* brought = warp_on_host::warp.exchange(value);
    uint32_t out = 0;
    for (uint32_t lane = 0; lane < 32; ++lane) out |= brought[lane][0] << lane;
    return out;
}

inline uint32_t __funnelshift_r(uint32_t low, uint32_t high, uint32_t by) {
    return static_cast<uint32_t>((uint64_t{high} << 32 | low) >> by % 32);
}
// Adds the four products of signed bytes to c.
inline int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 4; ++i)
        c += static_cast<int8_t>(a >> (8 * i)) * static_cast<int8_t>(b >> (8 * i));
    return c;
}
// Sums and differences of four bytes each.
inline uint32_t __vadd4(uint32_t a, uint32_t b) {
    return ((a & 0x7f7f7f7f) + (b & 0x7f7f7f7f)) ^ ((a ^ b) & 0x80808080);
}
inline uint32_t __vsub4(uint32_t a, uint32_t b) {
    return ((a | 0x80808080) - (b & 0x7f7f7f7f)) ^ ((a ^ ~b) & 0x80808080);
}
