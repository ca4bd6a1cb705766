// AES as FIPS 197 specifies it: a state of 4 x 4 bytes, one transformation after another.
#pragma once

#include <array>

#include "reference/cipher.h"

namespace reference {

class Aes : public Cipher {
public:
    explicit Aes(const Text& key);  // 16, 24 or 32 bytes
    size_t block_bytes() const override { return 16; }
    void encrypt(uint8_t* block) const override;
    void decrypt(uint8_t* block) const override;
    std::vector<Text> secrets() const override;

private:
    std::vector<std::array<uint8_t, 4>> w_;  // the key schedule, FIPS 197 5.2
    int rounds_;
};

}  // namespace reference
