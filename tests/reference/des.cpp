// DES and TDEA as FIPS 46-3 specifies them: the printed tables, one bit at a time.
#include "reference/des.h"

#include <stdexcept>

namespace reference {

namespace {

using Bits = Des::Bits;

constexpr uint8_t initial[64] = {58, 50, 42, 34, 26, 18, 10, 2, 60, 52, 44, 36, 28, 20, 12, 4,
                                 62, 54, 46, 38, 30, 22, 14, 6, 64, 56, 48, 40, 32, 24, 16, 8,
                                 57, 49, 41, 33, 25, 17, 9,  1, 59, 51, 43, 35, 27, 19, 11, 3,
                                 61, 53, 45, 37, 29, 21, 13, 5, 63, 55, 47, 39, 31, 23, 15, 7};
constexpr uint8_t expansion[48] = {32, 1,  2,  3,  4,  5,  4,  5,  6,  7,  8,  9,  8,  9,  10, 11,
                                   12, 13, 12, 13, 14, 15, 16, 17, 16, 17, 18, 19, 20, 21, 20, 21,
                                   22, 23, 24, 25, 24, 25, 26, 27, 28, 29, 28, 29, 30, 31, 32, 1};
constexpr uint8_t permutation[32] = {16, 7, 20, 21, 29, 12, 28, 17, 1,  15, 23, 26, 5,  18, 31, 10,
                                     2,  8, 24, 14, 32, 27, 3,  9,  19, 13, 30, 6,  22, 11, 4,  25};
constexpr uint8_t choice1[56] = {57, 49, 41, 33, 25, 17, 9,  1,  58, 50, 42, 34, 26, 18,
                                 10, 2,  59, 51, 43, 35, 27, 19, 11, 3,  60, 52, 44, 36,
                                 63, 55, 47, 39, 31, 23, 15, 7,  62, 54, 46, 38, 30, 22,
                                 14, 6,  61, 53, 45, 37, 29, 21, 13, 5,  28, 20, 12, 4};
constexpr uint8_t choice2[48] = {14, 17, 11, 24, 1,  5,  3,  28, 15, 6,  21, 10, 23, 19, 12, 4,
                                 26, 8,  16, 7,  27, 20, 13, 2,  41, 52, 31, 37, 47, 55, 30, 40,
                                 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32};
constexpr int shifts[16] = {1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1};
constexpr uint8_t boxes[8][4][16] = {{{14, 4, 13, 1, 2, 15, 11, 8, 3, 10, 6, 12, 5, 9, 0, 7},
                                      {0, 15, 7, 4, 14, 2, 13, 1, 10, 6, 12, 11, 9, 5, 3, 8},
                                      {4, 1, 14, 8, 13, 6, 2, 11, 15, 12, 9, 7, 3, 10, 5, 0},
                                      {15, 12, 8, 2, 4, 9, 1, 7, 5, 11, 3, 14, 10, 0, 6, 13}},
                                     {{15, 1, 8, 14, 6, 11, 3, 4, 9, 7, 2, 13, 12, 0, 5, 10},
                                      {3, 13, 4, 7, 15, 2, 8, 14, 12, 0, 1, 10, 6, 9, 11, 5},
                                      {0, 14, 7, 11, 10, 4, 13, 1, 5, 8, 12, 6, 9, 3, 2, 15},
                                      {13, 8, 10, 1, 3, 15, 4, 2, 11, 6, 7, 12, 0, 5, 14, 9}},
                                     {{10, 0, 9, 14, 6, 3, 15, 5, 1, 13, 12, 7, 11, 4, 2, 8},
                                      {13, 7, 0, 9, 3, 4, 6, 10, 2, 8, 5, 14, 12, 11, 15, 1},
                                      {13, 6, 4, 9, 8, 15, 3, 0, 11, 1, 2, 12, 5, 10, 14, 7},
                                      {1, 10, 13, 0, 6, 9, 8, 7, 4, 15, 14, 3, 11, 5, 2, 12}},
                                     {{7, 13, 14, 3, 0, 6, 9, 10, 1, 2, 8, 5, 11, 12, 4, 15},
                                      {13, 8, 11, 5, 6, 15, 0, 3, 4, 7, 2, 12, 1, 10, 14, 9},
                                      {10, 6, 9, 0, 12, 11, 7, 13, 15, 1, 3, 14, 5, 2, 8, 4},
                                      {3, 15, 0, 6, 10, 1, 13, 8, 9, 4, 5, 11, 12, 7, 2, 14}},
                                     {{2, 12, 4, 1, 7, 10, 11, 6, 8, 5, 3, 15, 13, 0, 14, 9},
                                      {14, 11, 2, 12, 4, 7, 13, 1, 5, 0, 15, 10, 3, 9, 8, 6},
                                      {4, 2, 1, 11, 10, 13, 7, 8, 15, 9, 12, 5, 6, 3, 0, 14},
                                      {11, 8, 12, 7, 1, 14, 2, 13, 6, 15, 0, 9, 10, 4, 5, 3}},
                                     {{12, 1, 10, 15, 9, 2, 6, 8, 0, 13, 3, 4, 14, 7, 5, 11},
                                      {10, 15, 4, 2, 7, 12, 9, 5, 6, 1, 13, 14, 0, 11, 3, 8},
                                      {9, 14, 15, 5, 2, 8, 12, 3, 7, 0, 4, 10, 1, 13, 11, 6},
                                      {4, 3, 2, 12, 9, 5, 15, 10, 11, 14, 1, 7, 6, 0, 8, 13}},
                                     {{4, 11, 2, 14, 15, 0, 8, 13, 3, 12, 9, 7, 5, 10, 6, 1},
                                      {13, 0, 11, 7, 4, 9, 1, 10, 14, 3, 5, 12, 2, 15, 8, 6},
                                      {1, 4, 11, 13, 12, 3, 7, 14, 10, 15, 6, 8, 0, 5, 9, 2},
                                      {6, 11, 13, 8, 1, 4, 10, 7, 9, 5, 0, 15, 14, 2, 3, 12}},
                                     {{13, 2, 8, 4, 6, 15, 11, 1, 10, 9, 3, 14, 5, 0, 12, 7},
                                      {1, 15, 13, 8, 10, 3, 7, 4, 12, 5, 6, 11, 0, 14, 9, 2},
                                      {7, 11, 4, 1, 9, 12, 14, 2, 0, 6, 10, 13, 15, 3, 5, 8},
                                      {2, 1, 14, 7, 4, 10, 8, 13, 15, 12, 9, 0, 3, 5, 6, 11}}};

Bits bits(const uint8_t* bytes, size_t count) {
    Bits out(count);
    for (size_t i = 0; i < count; ++i) out[i] = bytes[i / 8] >> (7 - i % 8) & 1;
    return out;
}

template <size_t n>
Bits chosen(const Bits& from, const uint8_t (&table)[n]) {
    Bits out(n);
    for (size_t i = 0; i < n; ++i) out[i] = from[table[i] - 1u];
    return out;
}

Bits f(const Bits& r, const Bits& k) {  // figure 2
    const Bits expanded = chosen(r, expansion);
    Bits out(32);
    for (size_t box = 0; box < 8; ++box) {
        unsigned b[6];
        for (size_t i = 0; i < 6; ++i)
            b[i] = static_cast<unsigned>(expanded[6 * box + i] ^ k[6 * box + i]);
        const uint8_t s = boxes[box][2 * b[0] + b[5]][8 * b[1] + 4 * b[2] + 2 * b[3] + b[4]];
        for (size_t i = 0; i < 4; ++i) out[4 * box + i] = s >> (3 - i) & 1;
    }
    return chosen(out, permutation);
}

Des::Schedule schedule(const uint8_t* key) {  // figure 3
    Bits cd = chosen(bits(key, 64), choice1);
    Des::Schedule out;
    for (size_t round = 0; round < 16; ++round) {
        for (int i = 0; i < shifts[round]; ++i)
            for (const size_t half : {size_t{0}, size_t{28}}) {
                const uint8_t first = cd[half];
                for (size_t j = 0; j < 27; ++j) cd[half + j] = cd[half + j + 1];
                cd[half + 27] = first;
            }
        out[round] = chosen(cd, choice2);
    }
    return out;
}

void des(const Des::Schedule& keys, bool forward, uint8_t* block) {  // figure 1
    const Bits permuted = chosen(bits(block, 64), initial);
    Bits l(permuted.begin(), permuted.begin() + 32), r(permuted.begin() + 32, permuted.end());
    for (size_t round = 0; round < 16; ++round) {
        Bits next = f(r, keys[forward ? round : 15 - round]);
        for (size_t i = 0; i < 32; ++i) next[i] = static_cast<uint8_t>(next[i] ^ l[i]);
        l = r;
        r = next;
    }
    r.insert(r.end(), l.begin(), l.end());  // R16 L16
    for (size_t i = 0; i < 8; ++i) block[i] = 0;
    for (size_t i = 0; i < 64; ++i) {  // the inverse of the initial permutation restores each bit i
        const size_t to = initial[i] - 1u;
        block[to / 8] = static_cast<uint8_t>(block[to / 8] | r[i] << (7 - to % 8));
    }
}

}  // namespace

Des::Des(const Text& key) {
    if (key.size() != 8 && key.size() != 16 && key.size() != 24)
        throw std::invalid_argument("DES key size");
    for (size_t i = 0; i < key.size(); i += 8) keys_.push_back(schedule(&key[i]));
    if (keys_.size() == 2) keys_.push_back(keys_[0]);
}

void Des::encrypt(uint8_t* block) const {
    for (size_t i = 0; i < keys_.size(); ++i) des(keys_[i], i != 1, block);
}

void Des::decrypt(uint8_t* block) const {
    for (size_t i = keys_.size(); i-- > 0;) des(keys_[i], i == 1, block);
}

std::vector<Text> Des::secrets() const {
    std::vector<Text> out;
    for (const Schedule& schedule : keys_)
        for (const Bits& key : schedule) {
            out.emplace_back(6, 0);
            for (size_t i = 0; i < 48; ++i)
                out.back()[i / 8] = static_cast<uint8_t>(out.back()[i / 8] | key[i] << (7 - i % 8));
        }
    return out;
}

}  // namespace reference
