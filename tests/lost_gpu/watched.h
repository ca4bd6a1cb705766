// A GPU backend that counts the chunks of sealed files given to it, and loses its GPU at one of
// them. The linker gives it to the library in place of the build's own.
#pragma once

#include <atomic>
#include <cstdint>

#include "lose.h"

namespace lost_gpu {

inline constexpr uint64_t never = UINT64_MAX;

// Faults of a library that does not notice the loss. The tests must find them.
enum class Flaw : uint64_t { none, a_cut_call_succeeds };

// Memory of several processes: the one that runs, and the one that watches. cli_test.py has this
// layout too.
struct Watch {
    // Set before the work: the GPU is lost in the call with chunk lose_at of those given to it.
    std::atomic<uint64_t> lose_at{never}, later{0}, flaw{0};
    // Chunks given to the GPU, and chunks that it has done.
    std::atomic<uint64_t> given{0}, done{0};
    // Calls that ended before all of their chunks were done, and those of them in which the GPU had
    // done a chunk that is not authentic.
    std::atomic<uint64_t> cut_calls{0}, cut_after_forgery{0};
    // 1 once the backend has told the engine of the loss.
    std::atomic<uint64_t> lost{0};
};
static_assert(std::atomic<uint64_t>::is_always_lock_free && sizeof(Watch) == 8 * sizeof(uint64_t));

// Counts in `watch` from now on. Without it, in the file that WARPSEAL_TEST_LOST_GPU names, if any.
void watch_in(Watch& watch);

}  // namespace lost_gpu
