// ARIA as RFC 5794 specifies it: a state of 16 bytes, substitution layers and the diffusion layer
// A.
#pragma once

#include <array>

#include "reference/cipher.h"

namespace reference {

class Aria : public Cipher {
public:
    explicit Aria(const Text& key);  // 16, 24 or 32 bytes
    size_t block_bytes() const override { return 16; }
    void encrypt(uint8_t* block) const override;
    void decrypt(uint8_t* block) const override;
    std::vector<Text> secrets() const override;

    using State = std::array<uint8_t, 16>;

private:
    std::vector<State> ek_, dk_;  // 2.2: ek1 first
};

}  // namespace reference
