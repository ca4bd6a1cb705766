// Work on all processors.
#pragma once

#include <cstdint>
#include <functional>

namespace warpseal::bench {

// Calls work(begin, end) on slices of [0, count), one for each processor.
void in_slices(uint64_t count, const std::function<void(uint64_t begin, uint64_t end)>& work);
// Same as in_slices for [0, bytes), with one chunk of whole mebibytes for each processor.
void in_chunks(uint64_t bytes, const std::function<void(uint64_t begin, uint64_t end)>& work);

}  // namespace warpseal::bench
