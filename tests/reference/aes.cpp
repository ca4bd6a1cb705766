// AES as FIPS 197 specifies it: SubBytes, ShiftRows, MixColumns and AddRoundKey on bytes, and their
// inverses in reverse order.
#include "reference/aes.h"

#include <stdexcept>

namespace reference {

namespace {

uint8_t times(uint8_t a, uint8_t b) {  // 4.2: in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1
    unsigned product = 0;
    unsigned shifted = a;
    for (; b != 0; b = static_cast<uint8_t>(b >> 1)) {
        if (b & 1) product ^= shifted;
        shifted <<= 1;
        if (shifted & 0x100) shifted ^= 0x11b;
    }
    return static_cast<uint8_t>(product);
}

struct SBox {
    uint8_t forward[256];
    uint8_t inverse[256];
    SBox() {
        for (int x = 0; x < 256; ++x) {
            int b = 0;  // the multiplicative inverse of x, by exhaustive search; 0 has none and
                        // maps to 0
            if (x != 0)
                while (times(static_cast<uint8_t>(x), static_cast<uint8_t>(b)) != 1) ++b;
            unsigned s = 0;
            for (int i = 0; i < 8; ++i) {  // 5.1.1, equation 5.1
                const int bit = (b >> i) ^ (b >> ((i + 4) % 8)) ^ (b >> ((i + 5) % 8)) ^
                                (b >> ((i + 6) % 8)) ^ (b >> ((i + 7) % 8)) ^ (0x63 >> i);
                s |= static_cast<unsigned>(bit & 1) << i;
            }
            forward[x] = static_cast<uint8_t>(s);
            inverse[s] = static_cast<uint8_t>(x);
        }
    }
};

const SBox& sbox() {
    static const SBox box;
    return box;
}

// Returns products by the coefficients of MixColumns and its inverse (all under 16), computed once.
uint8_t product(uint8_t x, uint8_t coefficient) {
    static const std::vector<uint8_t> products = [] {
        std::vector<uint8_t> all;
        for (int a = 0; a < 16; ++a)
            for (int b = 0; b < 256; ++b)
                all.push_back(times(static_cast<uint8_t>(b), static_cast<uint8_t>(a)));
        return all;
    }();
    return products[256u * coefficient + x];
}

// A block fills the state column by column (3.4): s[r][c] = in[r + 4c].
struct State {
    uint8_t s[4][4];
    explicit State(const uint8_t* in) {
        for (int i = 0; i < 16; ++i) s[i % 4][i / 4] = in[i];
    }
    void store(uint8_t* out) const {
        for (int i = 0; i < 16; ++i) out[i] = s[i % 4][i / 4];
    }
    void substitute(const uint8_t (&box)[256]) {
        for (auto& row : s)
            for (uint8_t& x : row) x = box[x];
    }
    void shift_rows(int step) {  // row r moves by r * step columns to the left
        for (int r = 1; r < 4; ++r) {
            uint8_t old[4];
            for (int c = 0; c < 4; ++c) old[c] = s[r][c];
            for (int c = 0; c < 4; ++c) s[r][c] = old[(c + r * step) & 3];
        }
    }
    void mix_columns(uint8_t a0, uint8_t a1, uint8_t a2,
                     uint8_t a3) {  // each column times the circulant matrix with that first row
        const uint8_t a[4] = {a0, a1, a2, a3};
        for (int c = 0; c < 4; ++c) {
            uint8_t old[4];
            for (int r = 0; r < 4; ++r) old[r] = s[r][c];
            for (int r = 0; r < 4; ++r) {
                uint8_t sum = 0;
                for (int k = 0; k < 4; ++k)
                    sum = static_cast<uint8_t>(sum ^ product(old[k], a[(k - r + 4) % 4]));
                s[r][c] = sum;
            }
        }
    }
    void add_round_key(const std::array<uint8_t, 4>* w) {
        for (int c = 0; c < 4; ++c)
            for (int r = 0; r < 4; ++r)
                s[r][c] = static_cast<uint8_t>(s[r][c] ^ w[c][static_cast<size_t>(r)]);
    }
};

}  // namespace

Aes::Aes(const Text& key) {
    const size_t nk = key.size() / 4;
    if (key.size() != 16 && key.size() != 24 && key.size() != 32)
        throw std::invalid_argument("AES key size");
    rounds_ = static_cast<int>(nk) + 6;
    w_.resize(4 * static_cast<size_t>(rounds_ + 1));
    uint8_t rcon = 1;
    for (size_t i = 0; i < w_.size(); ++i) {
        if (i < nk) {
            for (size_t r = 0; r < 4; ++r) w_[i][r] = key[4 * i + r];
            continue;
        }
        std::array<uint8_t, 4> temp = w_[i - 1];
        if (i % nk == 0) {
            const uint8_t first = temp[0];  // RotWord
            for (size_t r = 0; r < 3; ++r) temp[r] = temp[r + 1];
            temp[3] = first;
            for (uint8_t& x : temp) x = sbox().forward[x];
            temp[0] = static_cast<uint8_t>(temp[0] ^ rcon);
            rcon = times(rcon, 2);
        } else if (nk > 6 && i % nk == 4) {
            for (uint8_t& x : temp) x = sbox().forward[x];
        }
        for (size_t r = 0; r < 4; ++r) w_[i][r] = static_cast<uint8_t>(w_[i - nk][r] ^ temp[r]);
    }
}

std::vector<Text> Aes::secrets() const {
    std::vector<Text> round_keys;
    for (size_t i = 0; i < w_.size(); i += 4) {
        round_keys.emplace_back();
        for (size_t c = 0; c < 4; ++c)
            round_keys.back().insert(round_keys.back().end(), w_[i + c].begin(), w_[i + c].end());
    }
    return round_keys;
}

void Aes::encrypt(uint8_t* block) const {  // 5.1
    State state(block);
    state.add_round_key(&w_[0]);
    for (int round = 1; round <= rounds_; ++round) {
        state.substitute(sbox().forward);
        state.shift_rows(1);
        if (round < rounds_) state.mix_columns(2, 3, 1, 1);
        state.add_round_key(&w_[4 * static_cast<size_t>(round)]);
    }
    state.store(block);
}

void Aes::decrypt(uint8_t* block) const {  // 5.3
    State state(block);
    state.add_round_key(&w_[4 * static_cast<size_t>(rounds_)]);
    for (int round = rounds_ - 1; round >= 0; --round) {
        state.shift_rows(-1);
        state.substitute(sbox().inverse);
        state.add_round_key(&w_[4 * static_cast<size_t>(round)]);
        if (round > 0) state.mix_columns(14, 11, 13, 9);
    }
    state.store(block);
}

}  // namespace reference
