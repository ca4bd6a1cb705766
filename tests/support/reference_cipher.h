// The slow reference of a cipher: that of tests/reference or, if there is none, its own header on
// single blocks, which the vectors check. Modes are always those of tests/reference.
// Computed blocks are cached, as tests request the same ones again.
#pragma once

#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "reference/cipher.h"
#include "support/scalar_cipher.h"

namespace tests {

class Caching : public reference::Cipher {
public:
    explicit Caching(std::unique_ptr<reference::Cipher> cipher) : cipher_(std::move(cipher)) {}
    size_t block_bytes() const override { return cipher_->block_bytes(); }
    void encrypt(uint8_t* block) const override { lookup(encrypted_, block, true); }
    void decrypt(uint8_t* block) const override { lookup(decrypted_, block, false); }
    std::vector<reference::Text> secrets() const override { return cipher_->secrets(); }

private:
    using Block = std::array<uint64_t, 2>;
    struct Hash {
        size_t operator()(const Block& b) const {
            return (b[0] * 0x9e3779b97f4a7c15u) ^ (b[1] * 0xbf58476d1ce4e5b9u >> 7) ^ b[1];
        }
    };
    using Memory = std::unordered_map<Block, Block, Hash>;
    void lookup(Memory& memory, uint8_t* block, bool forward) const {
        Block key{};
        std::memcpy(key.data(), block, block_bytes());
        const auto [found, is_new] = memory.try_emplace(key);
        if (is_new) {
            forward ? cipher_->encrypt(block) : cipher_->decrypt(block);
            std::memcpy(found->second.data(), block, block_bytes());
        } else {
            std::memcpy(block, found->second.data(), block_bytes());
        }
    }
    std::unique_ptr<reference::Cipher> cipher_;
    mutable Memory encrypted_, decrypted_;
};

inline std::unique_ptr<reference::Cipher> make_reference_cipher(const std::string& name,
                                                                const reference::Text& key) {
    std::unique_ptr<reference::Cipher> cipher = reference::cipher(name, key);
    if (cipher == nullptr) {
        static std::set<std::string> reported;
        if (reported.insert(name).second)
            std::fprintf(
                stderr,
                "NOTE %s: no reference implementation; its blocks are compared with its own header "
                "on single blocks and with the vectors\n",
                name.c_str());
        cipher = scalar_cipher(name, key);
        if (cipher == nullptr) return nullptr;
    }
    return std::make_unique<Caching>(std::move(cipher));
}

}  // namespace tests
