// What the tests of files whose GPU is lost share.
#pragma once

#include "children.h"
#include "container/tampered_samples.h"
#include "support/targets.h"

namespace lost_gpu {

using tests::Data;
using tests::MemoryFile;
using tests::Random;

// Segments have 1024, 1024 and 256 chunks, and as many are in work at once as there are threads.
inline constexpr unsigned thread_counts[] = {1, 3, 20};

inline constexpr const char* gpu = "cuda:0";

// Begins to count anew. The GPU is lost as it gets chunk `lose_at`, or a while after that.
inline void arm(Watch& watch, uint64_t lose_at, bool at_once, Random& random) {
    constexpr uint64_t most_microseconds = 600, most_chunks = 600;
    const uint64_t later = random.below(is_real() ? most_microseconds : most_chunks);
    watch.given = watch.done = watch.cut_calls = watch.cut_after_forgery = 0;
    watch.later = at_once ? 0 : later;
    watch.lose_at = lose_at;
}

inline std::string joined(const std::vector<std::string>& lines) {
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    return all;
}

}  // namespace lost_gpu
