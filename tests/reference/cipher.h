// What a block cipher is to the slow, obvious twins of tests/reference: one block at a time under
// one key.
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
        const = 0;  // what an implementation holds under the key: round keys, as 16-byte texts
};

// The cipher of that name ("aes-192") under that key; null if there is no twin of it here.
std::unique_ptr<Cipher> cipher(const std::string& name, const Text& key);

}  // namespace reference
