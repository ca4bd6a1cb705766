// Byte strings of age files, and a vector for secrets that is zeroized.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "warpseal/warpseal.h"

namespace warpseal::cli::age {

// Zeroizes memory before it is released, also when a vector grows.
template <class T>
struct WipingAllocator {
    using value_type = T;
    WipingAllocator() = default;
    template <class U>
    WipingAllocator(const WipingAllocator<U>&) {}
    T* allocate(size_t count) { return std::allocator<T>().allocate(count); }
    void deallocate(T* memory, size_t count) {
        warpseal_wipe(memory, count * sizeof(T));
        std::allocator<T>().deallocate(memory, count);
    }
    bool operator==(const WipingAllocator&) const { return true; }
};

using Octets = std::vector<uint8_t>;
using Secret = std::vector<uint8_t, WipingAllocator<uint8_t>>;
using View = std::span<const uint8_t>;

inline View view(std::string_view text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
inline std::string_view text_of(View bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
template <class Vector>
void append(Vector& to, View bytes) {
    to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace warpseal::cli::age
