// Host memory for calls on it.
#pragma once

#include <cstdlib>

#include "gpu.h"

namespace gpu {

// Host memory, pinned or pageable, like that of warpseal_host_alloc or of a caller.
class Host {
public:
    Host(size_t bytes, bool pinned) : bytes_(bytes), pinned_(pinned) {
        if (pinned_)
            EXPECT_EQ(backend().host_alloc(device, bytes, &data_), WARPSEAL_OK);
        else
            data_ = std::aligned_alloc(64, (bytes + 127) / 64 * 64);
    }
    ~Host() {
        if (pinned_)
            backend().host_free(device, data_, bytes_);
        else
            std::free(data_);
    }
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;
    uint8_t* data() const { return static_cast<uint8_t*>(data_); }
    void clear() const { std::memset(data_, 0, bytes_); }
    bool holds(const Text& text, size_t at = 0) const {
        return text.empty() || std::memcmp(data() + at, text.data(), text.size()) == 0;
    }

private:
    void* data_ = nullptr;
    size_t bytes_;
    bool pinned_;
};

}  // namespace gpu
