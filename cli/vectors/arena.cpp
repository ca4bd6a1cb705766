// Buffers of one call under test.
#include "cli/vectors/arena.h"

#include <algorithm>

namespace warpseal::cli {
namespace {

constexpr size_t boundary = 64;

}  // namespace

size_t Arena::add(size_t bytes, size_t skew) {
    const size_t offset = (memory_.size() / boundary + 2) * boundary + skew;
    memory_.resize(offset + bytes + boundary, poison);
    ranges_.emplace_back(offset, offset + bytes);
    return offset;
}

size_t Arena::add(const Octets& bytes, size_t skew) {
    const size_t offset = add(bytes.size(), skew);
    std::copy(bytes.begin(), bytes.end(), at(offset));
    return offset;
}

warpseal_status Arena::run(Tested& tested, bool on_device, const Work& work) {
    warpseal_status status = WARPSEAL_OK;
    if (on_device) {
        uint8_t* base = tested.device_memory(memory_.size());
        require_status(
            warpseal_device_upload(tested.engine(), base, memory_.data(), memory_.size()),
            WARPSEAL_OK, "copying to the GPU");
        status = work(base, nullptr);
        require_status(warpseal_device_synchronize(tested.engine(), nullptr), WARPSEAL_OK,
                       "waiting for the GPU");
        require_status(
            warpseal_device_download(tested.engine(), memory_.data(), base, memory_.size()),
            WARPSEAL_OK, "copying from the GPU");
    } else {
        Octets copy(memory_.size() + boundary);
        uint8_t* base =
            copy.data() + (boundary - reinterpret_cast<uintptr_t>(copy.data()) % boundary);
        std::copy(memory_.begin(), memory_.end(), base);
        status = work(base, nullptr);
        std::copy(base, base + memory_.size(), memory_.begin());
    }
    size_t from = 0;
    for (const auto& [begin, end] : ranges_) {
        require(std::all_of(memory_.begin() + static_cast<ptrdiff_t>(from),
                            memory_.begin() + static_cast<ptrdiff_t>(begin),
                            [](uint8_t byte) { return byte == poison; }),
                "a byte outside the buffers was written");
        from = end;
    }
    require(std::all_of(memory_.begin() + static_cast<ptrdiff_t>(from), memory_.end(),
                        [](uint8_t byte) { return byte == poison; }),
            "a byte behind the buffers was written");
    return status;
}

}  // namespace warpseal::cli
