// ARIA as RFC 5794 specifies it: a state of 16 bytes, substitution layers and the diffusion layer
// A.
#include "reference/aria.h"

#include <stdexcept>

namespace reference {

namespace {

using State = Aria::State;

uint8_t times(unsigned a, unsigned b) {  // in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1
    unsigned product = 0;
    for (; b != 0; b >>= 1, a = a & 0x80 ? a << 1 ^ 0x11b : a << 1)
        if (b & 1) product ^= a;
    return static_cast<uint8_t>(product);
}

uint8_t power(uint8_t x, int n) {
    uint8_t result = 1;
    for (int i = 0; i < n; ++i) result = times(result, x);
    return result;
}

// rows[i] as the paper prints row i of the matrix: its leftmost digit multiplies the least
// significant bit of x.
uint8_t affine(const char* const (&rows)[8], uint8_t x, uint8_t constant) {
    unsigned y = constant;
    for (unsigned i = 0; i < 8; ++i)
        for (unsigned j = 0; j < 8; ++j)
            if (rows[i][j] == '1') y ^= (x >> j & 1u) << i;
    return static_cast<uint8_t>(y);
}

// The definition of the S-boxes (Kwon et al., "New Block Cipher: ARIA", 2.2): S1 from the power
// 254, S2 from 247; SB3 and SB4 are their inverses.
struct SBoxes {
    uint8_t box[4][256];
    SBoxes() {
        static constexpr const char* b[8] = {"10001111", "11000111", "11100011", "11110001",
                                             "11111000", "01111100", "00111110", "00011111"};
        static constexpr const char* c[8] = {"01011110", "00111101", "11010111", "10011101",
                                             "00101100", "10000001", "01011101", "11010011"};
        for (unsigned x = 0; x < 256; ++x) {
            box[0][x] = affine(b, power(static_cast<uint8_t>(x), 254), 0x63);
            box[1][x] = affine(c, power(static_cast<uint8_t>(x), 247), 0xe2);
        }
        for (unsigned x = 0; x < 256; ++x) {
            box[2][box[0][x]] = static_cast<uint8_t>(x);
            box[3][box[1][x]] = static_cast<uint8_t>(x);
        }
    }
};

const SBoxes& sboxes() {
    static const SBoxes boxes;
    return boxes;
}

State xor_bytes(const State& a, const State& b) {
    State out;
    for (size_t i = 0; i < 16; ++i) out[i] = static_cast<uint8_t>(a[i] ^ b[i]);
    return out;
}

State substitute(const State& x, size_t first) {  // 2.4.2: SL1 begins with SB1, SL2 with SB3
    State y;
    for (size_t i = 0; i < 16; ++i) y[i] = sboxes().box[(i + first) % 4][x[i]];
    return y;
}

State diffuse(const State& x) {  // 2.4.3
    static constexpr uint8_t summands[16][7] = {
        {3, 4, 6, 8, 9, 13, 14},   {2, 5, 7, 8, 9, 12, 15},  {1, 4, 6, 10, 11, 12, 15},
        {0, 5, 7, 10, 11, 13, 14}, {0, 2, 5, 8, 11, 14, 15}, {1, 3, 4, 9, 10, 14, 15},
        {0, 2, 7, 9, 10, 12, 13},  {1, 3, 6, 8, 11, 12, 13}, {0, 1, 4, 7, 10, 13, 15},
        {0, 1, 5, 6, 11, 12, 14},  {2, 3, 5, 6, 8, 13, 15},  {2, 3, 4, 7, 9, 12, 14},
        {1, 2, 6, 7, 9, 11, 12},   {0, 3, 6, 7, 8, 10, 13},  {0, 3, 4, 5, 9, 11, 14},
        {1, 2, 4, 5, 8, 10, 15}};
    State y{};
    for (size_t i = 0; i < 16; ++i)
        for (const uint8_t j : summands[i]) y[i] = static_cast<uint8_t>(y[i] ^ x[j]);
    return y;
}

State odd(const State& d, const State& rk) {
    return diffuse(substitute(xor_bytes(d, rk), 0));
}  // FO
State even(const State& d, const State& rk) {
    return diffuse(substitute(xor_bytes(d, rk), 2));
}  // FE

State rotate_right(const State& x, int n) {
    State y{};
    for (int i = 0; i < 128; ++i) {  // bit 0: the most significant of byte 0
        const int to = (i + n) % 128;
        const unsigned bit = x[static_cast<size_t>(i / 8)] >> (7 - i % 8) & 1u;
        y[static_cast<size_t>(to / 8)] =
            static_cast<uint8_t>(y[static_cast<size_t>(to / 8)] | bit << (7 - to % 8));
    }
    return y;
}

State constant(size_t i) {  // C1, C2, C3 in turn, 2.2
    static constexpr State c[3] = {{0x51, 0x7c, 0xc1, 0xb7, 0x27, 0x22, 0x0a, 0x94, 0xfe, 0x13,
                                    0xab, 0xe8, 0xfa, 0x9a, 0x6e, 0xe0},
                                   {0x6d, 0xb1, 0x4a, 0xcc, 0x9e, 0x21, 0xc8, 0x20, 0xff, 0x28,
                                    0xb1, 0xd5, 0xef, 0x5d, 0xe2, 0xb0},
                                   {0xdb, 0x92, 0x37, 0x1d, 0x21, 0x26, 0xe9, 0x70, 0x03, 0x24,
                                    0x97, 0x75, 0x04, 0xe8, 0xc9, 0x0e}};
    return c[i % 3];
}

void run(const std::vector<State>& keys, uint8_t* block) {  // 2.3
    State p;
    for (size_t i = 0; i < 16; ++i) p[i] = block[i];
    const size_t rounds = keys.size() - 1;
    for (size_t r = 1; r < rounds; ++r) p = r % 2 == 1 ? odd(p, keys[r - 1]) : even(p, keys[r - 1]);
    p = xor_bytes(substitute(xor_bytes(p, keys[rounds - 1]), 2), keys[rounds]);
    for (size_t i = 0; i < 16; ++i) block[i] = p[i];
}

}  // namespace

Aria::Aria(const Text& key) {
    if (key.size() != 16 && key.size() != 24 && key.size() != 32)
        throw std::invalid_argument("ARIA key size");
    const size_t size = (key.size() - 16) / 8;  // 0, 1, 2
    State kl{}, kr{};
    for (size_t i = 0; i < 16; ++i) kl[i] = key[i];
    for (size_t i = 16; i < key.size(); ++i) kr[i - 16] = key[i];
    State w[4];
    w[0] = kl;
    w[1] = xor_bytes(odd(w[0], constant(size)), kr);
    w[2] = xor_bytes(even(w[1], constant(size + 1)), w[0]);
    w[3] = xor_bytes(odd(w[2], constant(size + 2)), w[1]);
    const size_t rounds = 12 + 2 * size;
    static constexpr int rotations[5] = {19, 31, 128 - 61, 128 - 31, 128 - 19};
    for (size_t i = 0; i <= rounds; ++i)
        ek_.push_back(xor_bytes(w[i % 4], rotate_right(w[(i + 1) % 4], rotations[i / 4])));
    for (size_t i = 0; i <= rounds; ++i)
        dk_.push_back(i == 0 || i == rounds ? ek_[rounds - i] : diffuse(ek_[rounds - i]));
}

void Aria::encrypt(uint8_t* block) const { run(ek_, block); }
void Aria::decrypt(uint8_t* block) const { run(dk_, block); }

std::vector<Text> Aria::secrets() const {
    std::vector<Text> out;
    for (const std::vector<State>* keys : {&ek_, &dk_})
        for (const State& key : *keys) out.emplace_back(key.begin(), key.end());
    return out;
}

}  // namespace reference
