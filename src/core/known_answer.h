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

// Not defined: the compiler names the one that a known answer would call.
uint8_t not_a_hexadecimal_digit();
void plaintext_and_ciphertext_must_be_blocks_of_8_or_16_bytes();

consteval uint8_t hex_digit(char c) {
    if (c >= '0' && c <= '9') return static_cast<uint8_t>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<uint8_t>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return static_cast<uint8_t>(c - 'A' + 10);
    return not_a_hexadecimal_digit();
}

consteval uint8_t hex_byte(const char* digits) {
    return static_cast<uint8_t>(hex_digit(digits[0]) << 4 | hex_digit(digits[1]));
}

// Parses hexadecimal as printed in standards: the first key_bytes bytes of `key`, and one block. A
// fault in it does not compile.
consteval KnownAnswer known_answer(const char* key, size_t key_bytes, const char* plaintext,
                                   const char* ciphertext) {
    KnownAnswer known = {};
    for (size_t i = 0; i < key_bytes; ++i) known.key[i] = hex_byte(key + 2 * i);
    size_t block_bytes = 0;
    for (; block_bytes < 16 && plaintext[2 * block_bytes] != 0; ++block_bytes) {
        known.plaintext[block_bytes] = hex_byte(plaintext + 2 * block_bytes);
        known.ciphertext[block_bytes] = hex_byte(ciphertext + 2 * block_bytes);
    }
    if (block_bytes % 8 != 0 || block_bytes == 0 || plaintext[2 * block_bytes] != 0 ||
        ciphertext[2 * block_bytes] != 0)
        plaintext_and_ciphertext_must_be_blocks_of_8_or_16_bytes();
    return known;
}

}  // namespace warpseal
