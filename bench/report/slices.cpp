// Work on all processors.
#include "bench/report/slices.h"

#include <algorithm>
#include <thread>
#include <vector>

namespace warpseal::bench {

void in_slices(uint64_t count, const std::function<void(uint64_t begin, uint64_t end)>& work) {
    const uint64_t slices =
        std::min<uint64_t>(count, std::max(1u, std::thread::hardware_concurrency()));
    std::vector<std::thread> threads;
    for (uint64_t s = 0; s < slices; ++s)
        threads.emplace_back([&, s] { work(count * s / slices, count * (s + 1) / slices); });
    for (std::thread& thread : threads) thread.join();
}

void in_chunks(uint64_t bytes, const std::function<void(uint64_t begin, uint64_t end)>& work) {
    constexpr uint64_t mebibyte = uint64_t{1} << 20;
    in_slices((bytes + mebibyte - 1) / mebibyte, [&](uint64_t first, uint64_t last) {
        work(first * mebibyte, std::min(last * mebibyte, bytes));
    });
}

}  // namespace warpseal::bench
