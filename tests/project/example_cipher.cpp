// Runs a word-sliced cipher header on rows of ECB vectors, over uint32_t and over the words of
// cores. Reads lines `cipher key plaintext ciphertext`; prints how many blocks agreed.
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

// A vector word without its instruction set is passed in memory; nothing here crosses a binary
// interface.
#pragma GCC diagnostic ignored "-Wpsabi"

#include "backends/cpu/representations/word_sliced.h"
#include WARPSEAL_CIPHER_HEADER

namespace {

using namespace warpseal;
using Text = std::vector<uint8_t>;

Text from_hex(const std::string& hex) {
    Text out;
    for (size_t i = 0; i + 1 < hex.size(); i += 2)
        out.push_back(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    return out;
}

// One block by the header alone: lane 0 of every word is the block, and the others are zero.
template <class Cipher, class Word>
Text run(const uint32_t* schedule, bool encrypt, const uint8_t* in) {
    Word s[Cipher::block_bytes / 4];
    for (uint32_t i = 0; i < Cipher::block_bytes / 4; ++i) {
        uint32_t lane[sizeof(Word) / 4] = {load_le32(in + 4 * i)};
        std::memcpy(static_cast<void*>(&s[i]), lane, sizeof lane);
    }
    const auto key = [&](int i) { return Word(schedule[i]); };
    encrypt ? Cipher::encrypt_words(s, key) : Cipher::decrypt_words(s, key);
    Text out(Cipher::block_bytes);
    for (uint32_t i = 0; i < Cipher::block_bytes / 4; ++i) std::memcpy(&out[4 * i], &s[i], 4);
    return out;
}

template <class Cipher>
bool agrees(const Text& key, const Text& pt, const Text& ct) {
    uint32_t schedule[2][Cipher::schedule_words];
    Cipher::expand(schedule[0], key.data(), WordSubstitution{});
    Cipher::invert(schedule[1], schedule[0]);
    const auto both = [&]<class Word>(Word, size_t at) {
        const Text p(pt.begin() + static_cast<long>(at),
                     pt.begin() + static_cast<long>(at + Cipher::block_bytes)),
            c(ct.begin() + static_cast<long>(at),
              ct.begin() + static_cast<long>(at + Cipher::block_bytes));
        return run<Cipher, Word>(schedule[0], true, p.data()) == c &&
               run<Cipher, Word>(schedule[1], false, c.data()) == p;
    };
    for (size_t at = 0; at < pt.size(); at += Cipher::block_bytes)
        if (!both(uint32_t{}, at) || !both(cpu::Words<16, 1>{}, at) ||
            !both(cpu::Words<32, 2>{}, at))
            return false;
    return true;
}

template <class... Cipher>
bool row_agrees(List<Cipher...>, const std::string& name, const Text& key, const Text& pt,
                const Text& ct) {
    return (
        (name == Cipher::name && key.size() == Cipher::key_bytes && agrees<Cipher>(key, pt, ct)) ||
        ...);
}

}  // namespace

int main() {
    std::string name, key, pt, ct;
    int rows = 0;
    while (std::cin >> name >> key >> pt >> ct) {
        if (!row_agrees(ciphers::WARPSEAL_CIPHER::Ciphers{}, name, from_hex(key), from_hex(pt),
                        from_hex(ct))) {
            std::printf("wrong: %s, key %s, plaintext %s\n", name.c_str(), key.c_str(), pt.c_str());
            return 1;
        }
        ++rows;
    }
    std::printf("%d rows agree\n", rows);
    return rows == 0;
}
