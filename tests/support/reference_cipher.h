// The slow reference of a cipher: that of tests/reference or, if there is none, the block function
// of the portable target, which the vectors check. Modes are always those of tests/reference.
// Computed blocks are cached, as tests request the same ones again.
#pragma once

#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "backends/cipher_backend.h"
#include "reference/cipher.h"

namespace tests {

class PortableBlocks : public reference::Cipher {
public:
    PortableBlocks(const warpseal::CpuCipher& cpu, const reference::Text& key)
        : cpu_(cpu), memory_(cpu.state_bytes + 64) {
        state_ =
            reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory_.data()) + 63) / 64 * 64);
        cpu.expand(state_, key.data());
    }
    size_t block_bytes() const override { return cpu_.block_bytes; }
    void encrypt(uint8_t* block) const override {
        cpu_.sweep[WARPSEAL_ECB][0](state_, nullptr, 0, block, block, cpu_.block_bytes);
    }
    void decrypt(uint8_t* block) const override {
        cpu_.sweep[WARPSEAL_ECB][1](state_, nullptr, 0, block, block, cpu_.block_bytes);
    }
    std::vector<reference::Text> secrets() const override { return {}; }

private:
    const warpseal::CpuCipher& cpu_;
    std::vector<uint8_t> memory_;
    void* state_;
};

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
                "NOTE %s: no reference implementation; its blocks are compared with the portable "
                "target and the vectors alone\n",
                name.c_str());
        const warpseal::CpuCipher* portable =
            warpseal::cpu_cipher(warpseal::Target::portable, name.c_str());
        if (portable == nullptr) return nullptr;
        cipher = std::make_unique<PortableBlocks>(*portable, key);
    }
    return std::make_unique<Caching>(std::move(cipher));
}

}  // namespace tests
