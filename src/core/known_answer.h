// Known-answer vector of one block from a standard. Each cipher header has one for the self-test.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace warpseal {

struct KnownAnswer {
    uint8_t key[32];
    uint8_t plaintext[16];
    uint8_t ciphertext[16];
};

constexpr uint8_t hex_digit(char c) {
    return static_cast<uint8_t>(c <= '9' ? c - '0' : c - 'a' + 10);
}

// Parses lower-case hexadecimal as printed in standards: key_bytes bytes of `key`, and blocks of at
// most 16 bytes.
constexpr KnownAnswer known_answer(const char* key, size_t key_bytes, const char* plaintext,
                                   const char* ciphertext) {
    KnownAnswer known = {};
    for (size_t i = 0; i < key_bytes; ++i)
        known.key[i] = static_cast<uint8_t>(hex_digit(key[2 * i]) << 4 | hex_digit(key[2 * i + 1]));
    for (size_t i = 0; i < 16 && plaintext[2 * i] != 0; ++i) {
        known.plaintext[i] = static_cast<uint8_t>(hex_digit(plaintext[2 * i]) << 4 |
                                                  hex_digit(plaintext[2 * i + 1]));
        known.ciphertext[i] = static_cast<uint8_t>(hex_digit(ciphertext[2 * i]) << 4 |
                                                   hex_digit(ciphertext[2 * i + 1]));
    }
    return known;
}

}  // namespace warpseal
