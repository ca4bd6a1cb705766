// Every operator of a Word in docs/adding-a-cipher.md, in one function that each word type must
// compile.
#pragma once

#include <cstdint>

#include "core/word.h"

namespace tests {

// Each step changes the next one's input, so that no error goes undetected. key(i) is a word too.
template <class Word, class Key>
void every_operator(Word& a, Word& b, const Key& key) {
    using warpseal::swap_bytes;
    constexpr uint32_t number = 0x9e3779b9;
    const Word start = a;
    a = (a ^ b) + (a & ~b) - (a | b);
    b = (b << 7) | (b >> 25);
    a = number + (a ^ number) - (number ^ b);
    b = (b & number) + (number - a);
    a = (number & a) | (b | 5u);
    b = (number | b) - 1;
    a ^= b, b += a, a -= b, b |= a >> 3, a &= b << 1;
    a ^= number, b += number, a -= 77u, b |= 1u, a &= ~number;
    a += b;
    b <<= 3, a >>= 1;
    b ^= a + (b << 5);
    a = (a ^ key(0)) + (key(1) & b) - (key(0) | a);
    b = (key(0) + b) ^ (a - key(1)) ^ ~key(1);
    a = (key(1) << 3) + (key(0) >> 5) + (key(0) ^ number) + (a & key(1)) + (number | key(0));
    b += key(0), b ^= key(1), a -= key(1), a |= key(0), b &= ~key(0);
    a ^= start + number, b += start;
    a = swap_bytes(a) ^ swap_bytes(key(1));
}

}  // namespace tests
