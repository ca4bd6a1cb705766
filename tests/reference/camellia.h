// Camellia as RFC 3713 specifies it: a Feistel network on two numbers of 64 bits.
#pragma once

#include "reference/cipher.h"

namespace reference {

class Camellia : public Cipher {
public:
    explicit Camellia(const Text& key);  // 16, 24 or 32 bytes
    size_t block_bytes() const override { return 16; }
    void encrypt(uint8_t* block) const override;
    void decrypt(uint8_t* block) const override;
    std::vector<Text> secrets() const override;

    struct Keys {
        uint64_t kw[4];
        std::vector<uint64_t> k, ke;
    };

private:
    Keys forward_, backward_;
};

}  // namespace reference
