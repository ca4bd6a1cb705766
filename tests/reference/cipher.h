// Interface of a block cipher for the slow reference implementations in tests/reference: one block
// at a time under one key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace reference {

using Text = std::vector<uint8_t>;

class Cipher {
public:
    virtual ~Cipher() = default;
    virtual size_t block_bytes() const = 0;
    virtual void encrypt(uint8_t* block) const = 0;
    virtual void decrypt(uint8_t* block) const = 0;
    virtual std::vector<Text> secrets()
        const = 0;  // an implementation's secrets under the key: round keys, as 16-byte texts
};

// Returns the cipher of that name ("aes-192") under that key, or null if there is no reference
// implementation.
std::unique_ptr<Cipher> cipher(const std::string& name, const Text& key);

}  // namespace reference
