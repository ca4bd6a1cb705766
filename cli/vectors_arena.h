// The buffers of one call under test: side by side in one block with poison between them, in this
// process or on the GPU.
#pragma once

#include "vectors.h"

namespace warpseal::cli {

class Arena {
public:
    // The place of `bytes` bytes, `skew` past a 64-byte boundary, poison before and after.
    size_t add(size_t bytes, size_t skew = 0);
    size_t add(const Octets& bytes, size_t skew = 0);
    template <class T>
    size_t add_words(const std::vector<T>& words) {
        const size_t at = add(words.size() * sizeof(T));
        std::copy(words.begin(), words.end(), reinterpret_cast<T*>(this->at(at)));
        return at;
    }
    uint8_t* at(size_t place) { return memory_.data() + place; }

    // Runs work(base, stream): place p is at base + p. With on_device, base is GPU memory: a copy
    // goes there before and comes back after. Fails the row if a byte outside the places was
    // written; bytes of a place that nothing wrote keep their poison.
    using Work = std::function<warpseal_status(uint8_t* base, void* stream)>;
    warpseal_status run(Subject& subject, bool on_device, const Work& work);

    static constexpr uint8_t poison = 0xa5;

private:
    Octets memory_;
    std::vector<std::pair<size_t, size_t>> places_;  // begin, end
};

}  // namespace warpseal::cli
