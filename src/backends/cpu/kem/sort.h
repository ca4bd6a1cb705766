// Constant-time sorting: Batcher's merge exchange (Knuth, The Art of Computer Programming 3, 5.2.2,
// algorithm M).
#pragma once

#include <stdint.h>

namespace warpseal::cpu {
namespace {

// Sorts keys[0, count) in ascending order. The positions compared depend on count alone.
__attribute__((noinline)) void sort(int32_t* keys, int count) {
    int top = 1;
    while (2 * top < count) top *= 2;
    for (int p = top; p > 0; p /= 2)
        for (int q = top, r = 0, d = p; d > 0; d = q - p, q /= 2, r = p) {
            for (int first = r; first + d < count; first += 2 * p) {
                const int end = first + p < count - d ? first + p : count - d;
                for (int i = first; i < end; ++i) {
                    const int32_t low = keys[i], high = keys[i + d];
                    const int32_t swap = -static_cast<int32_t>(high < low) & (low ^ high);
                    keys[i] = low ^ swap;
                    keys[i + d] = high ^ swap;
                }
            }
            if (q == p) break;
        }
}

}  // namespace
}  // namespace warpseal::cpu
