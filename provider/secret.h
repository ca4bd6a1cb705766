// Memory for secrets, allocated by the engine: locked if limits permit, excluded from core dumps
// and zeroized on release.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "c_api/internal.h"

namespace warpseal::provider {

class SecretBytes {
public:
    SecretBytes() = default;
    // Empty if memory is exhausted.
    explicit SecretBytes(size_t size) : memory_(warpseal_internal_secret_create(size)) {
        if (memory_ == nullptr) return;
        bytes_ = static_cast<uint8_t*>(warpseal_internal_secret_data(memory_.get()));
        size_ = size;
    }
    SecretBytes(SecretBytes&& other) noexcept { swap(other); }
    SecretBytes& operator=(SecretBytes&& other) noexcept {
        swap(other);
        return *this;
    }

    uint8_t* data() { return bytes_; }
    const uint8_t* data() const { return bytes_; }
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    operator std::span<const uint8_t>() const { return {bytes_, size_}; }
    operator std::span<uint8_t>() { return {bytes_, size_}; }

private:
    struct Free {
        void operator()(warpseal_internal_secret* memory) const {
            warpseal_internal_secret_destroy(memory);
        }
    };

    void swap(SecretBytes& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(bytes_, other.bytes_);
        std::swap(size_, other.size_);
    }

    std::unique_ptr<warpseal_internal_secret, Free> memory_;
    uint8_t* bytes_ = nullptr;
    size_t size_ = 0;
};

}  // namespace warpseal::provider
