// Memory of secrets in the provider: on the heap, kept out of copies, wiped when it goes.
#pragma once

#include <openssl/crypto.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace warpseal::provider {

class SecretBytes {
public:
    SecretBytes() = default;
    // Empty if there is no memory.
    explicit SecretBytes(size_t size) : bytes_(static_cast<uint8_t*>(OPENSSL_zalloc(size))), size_(bytes_ == nullptr ? 0 : size) {}
    SecretBytes(SecretBytes&& other) noexcept : bytes_(std::exchange(other.bytes_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    SecretBytes& operator=(SecretBytes&& other) noexcept {
        std::swap(bytes_, other.bytes_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~SecretBytes() { OPENSSL_clear_free(bytes_, size_); }

    uint8_t* data() { return bytes_; }
    const uint8_t* data() const { return bytes_; }
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    operator std::span<const uint8_t>() const { return {bytes_, size_}; }
    operator std::span<uint8_t>() { return {bytes_, size_}; }

private:
    uint8_t* bytes_ = nullptr;
    size_t size_ = 0;
};

}  // namespace warpseal::provider
