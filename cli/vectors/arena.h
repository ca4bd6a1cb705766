// Buffers of one call under test, side by side in one block with poison between them, in host or
// GPU memory.
#pragma once

#include "cli/vectors/vectors.h"

namespace warpseal::cli {

class Arena {
public:
    // Adds a buffer that starts `skew` bytes past a 64-byte boundary, with poison around it.
    // Returns its offset.
    size_t add(size_t bytes, size_t skew = 0);
    size_t add(const Octets& bytes, size_t skew = 0);
    template <class T>
    size_t add_words(const std::vector<T>& words) {
        const size_t at = add(words.size() * sizeof(T));
        std::copy(words.begin(), words.end(), reinterpret_cast<T*>(this->at(at)));
        return at;
    }
    uint8_t* at(size_t offset) { return memory_.data() + offset; }

    // Runs work(base, stream); the buffer at offset p starts at base + p. With on_device, base is
    // GPU memory, copied there before and back after. Fails the row if a byte outside the buffers
    // was written. Bytes that nothing wrote keep their poison.
    using Work = std::function<warpseal_status(uint8_t* base, void* stream)>;
    warpseal_status run(Tested& tested, bool on_device, const Work& work);

    static constexpr uint8_t poison = 0xa5;

private:
    Octets memory_;
    std::vector<std::pair<size_t, size_t>> ranges_;  // begin and end offsets
};

}  // namespace warpseal::cli
