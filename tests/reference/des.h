// DES and TDEA as FIPS 46-3 specifies them: the printed tables, one bit at a time.
#pragma once

#include <array>

#include "reference/cipher.h"

namespace reference {

class Des : public Cipher {
public:
    // 8 bytes: DES; 16: K1, K2 and K1 again; 24: K1, K2, K3 (TDEA: encrypt, decrypt, encrypt).
    explicit Des(const Text& key);
    size_t block_bytes() const override { return 8; }
    void encrypt(uint8_t* block) const override;
    void decrypt(uint8_t* block) const override;
    std::vector<Text> secrets() const override;

    using Bits = std::vector<uint8_t>;      // bit 1 of the standard first
    using Schedule = std::array<Bits, 16>;  // K1 to K16 of 48 bits each

private:
    std::vector<Schedule> keys_;  // one or three
};

}  // namespace reference
