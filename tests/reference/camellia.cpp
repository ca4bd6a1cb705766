// Camellia as RFC 3713 specifies it: a Feistel network on two numbers of 64 bits.
#include "reference/camellia.h"

#include <algorithm>
#include <stdexcept>

namespace reference {

namespace {

// The S-box by its definition in the specification (Aoki et al., 2001, 5.2): s1(x) = h(g(f(0xc5 xor
// x))) xor 0x6e. g inverts in GF(2^8) modulo b^8 + b^6 + b^5 + b^3 + 1, represented as pairs over
// GF(2^4) = { polynomials in a = b^238 }. Bits a1 (most significant) to a8.
struct SBox {
    uint8_t s1[256];
    SBox() {
        for (unsigned x = 0; x < 256; ++x) s1[x] = static_cast<uint8_t>(h(g(f(x ^ 0xc5))) ^ 0x6e);
    }
    static unsigned bit(unsigned a, unsigned i) { return a >> (8 - i) & 1; }  // a_i
    static unsigned sums(unsigned a, const char* const (&rows)[8]) {
        unsigned out = 0;
        for (const char* row : rows) {
            unsigned sum = 0;
            for (const char* i = row; *i != 0; ++i) sum ^= bit(a, static_cast<unsigned>(*i - '0'));
            out = out << 1 | sum;
        }
        return out;
    }
    static unsigned f(unsigned a) {
        static constexpr const char* rows[8] = {"62", "71", "853", "83", "74", "52", "81", "64"};
        return sums(a, rows);
    }
    static unsigned h(unsigned a) {
        static constexpr const char* rows[8] = {"562", "62", "74", "82", "73", "81", "51", "63"};
        return sums(a, rows);
    }
    static unsigned times(unsigned x, unsigned y) {
        unsigned product = 0;
        for (; y != 0; y >>= 1, x = x & 0x80 ? x << 1 ^ 0x169 : x << 1)
            if (y & 1) product ^= x;
        return product;
    }
    static unsigned power(unsigned x, int n) {
        unsigned out = 1;
        for (int i = 0; i < n; ++i) out = times(out, x);
        return out;
    }
    // (a8 + a7 a + a6 a^2 + a5 a^3) + (a4 + a3 a + a2 a^2 + a1 a^3) b as a polynomial in b
    static unsigned element(unsigned a) {
        unsigned out = 0;
        for (unsigned i = 1; i <= 8; ++i)
            if (bit(a, i))
                out ^= i > 4 ? power(power(2, 238), static_cast<int>(8 - i))
                             : times(power(power(2, 238), static_cast<int>(4 - i)), 2);
        return out;
    }
    static unsigned g(unsigned a) {
        const unsigned wanted = power(element(a), 254);
        unsigned b = 0;
        while (element(b) != wanted) ++b;
        return b;
    }
};

uint8_t rotate8(uint8_t x, int n) { return static_cast<uint8_t>(x << n | x >> (8 - n)); }

uint8_t substitute(int number, uint8_t x) {  // 2.4.1: SBOX1 to SBOX4
    static const SBox box;
    switch (number) {
        case 1: return box.s1[x];
        case 2: return rotate8(box.s1[x], 1);
        case 3: return rotate8(box.s1[x], 7);
        default: return box.s1[rotate8(x, 1)];
    }
}

uint64_t f(uint64_t in, uint64_t key) {  // 2.4.1
    static constexpr int boxes[8] = {1, 2, 3, 4, 2, 3, 4, 1};
    static constexpr const char* summands[8] = {"134678", "124578", "123568", "234567",
                                                "12678",  "23578",  "34568",  "14567"};
    const uint64_t x = in ^ key;
    uint8_t t[9];
    for (int i = 1; i <= 8; ++i)
        t[i] = substitute(boxes[i - 1], static_cast<uint8_t>(x >> (64 - 8 * i)));
    uint64_t out = 0;
    for (const char* sum : summands) {
        uint8_t y = 0;
        for (; *sum != 0; ++sum) y = static_cast<uint8_t>(y ^ t[*sum - '0']);
        out = out << 8 | y;
    }
    return out;
}

uint32_t rotate32(uint32_t x) { return x << 1 | x >> 31; }

uint64_t fl(uint64_t in, uint64_t ke) {  // 2.4.2
    auto x1 = static_cast<uint32_t>(in >> 32), x2 = static_cast<uint32_t>(in);
    const auto k1 = static_cast<uint32_t>(ke >> 32), k2 = static_cast<uint32_t>(ke);
    x2 ^= rotate32(x1 & k1);
    x1 ^= x2 | k2;
    return uint64_t{x1} << 32 | x2;
}

uint64_t fl_inverse(uint64_t in, uint64_t ke) {  // 2.4.3
    auto y1 = static_cast<uint32_t>(in >> 32), y2 = static_cast<uint32_t>(in);
    const auto k1 = static_cast<uint32_t>(ke >> 32), k2 = static_cast<uint32_t>(ke);
    y1 ^= y2 | k2;
    y2 ^= rotate32(y1 & k1);
    return uint64_t{y1} << 32 | y2;
}

struct Wide {  // a number of 128 bits
    uint64_t high = 0, low = 0;
    Wide rotated(unsigned n) const {
        Wide x = *this;
        for (; n >= 64; n -= 64) std::swap(x.high, x.low);
        return n == 0 ? x : Wide{x.high << n | x.low >> (64 - n), x.low << n | x.high >> (64 - n)};
    }
};

uint64_t load(const uint8_t* p) {
    uint64_t x = 0;
    for (int i = 0; i < 8; ++i) x = x << 8 | p[i];
    return x;
}

void store(uint8_t* p, uint64_t x) {
    for (int i = 0; i < 8; ++i) p[i] = static_cast<uint8_t>(x >> (56 - 8 * i));
}

void run(const Camellia::Keys& keys, uint8_t* block) {  // 2.3
    uint64_t d1 = load(block) ^ keys.kw[0], d2 = load(block + 8) ^ keys.kw[1];
    for (size_t r = 0; r < keys.k.size(); r += 2) {
        if (r != 0 && r % 6 == 0) {
            d1 = fl(d1, keys.ke[r / 3 - 2]);
            d2 = fl_inverse(d2, keys.ke[r / 3 - 1]);
        }
        d2 ^= f(d1, keys.k[r]);
        d1 ^= f(d2, keys.k[r + 1]);
    }
    store(block, d2 ^ keys.kw[2]);
    store(block + 8, d1 ^ keys.kw[3]);
}

}  // namespace

Camellia::Camellia(const Text& key) {  // 2.2
    if (key.size() != 16 && key.size() != 24 && key.size() != 32)
        throw std::invalid_argument("Camellia key size");
    static constexpr uint64_t sigma[6] = {0xa09e667f3bcc908b, 0xb67ae8584caa73b2,
                                          0xc6ef372fe94f82be, 0x54ff53a5f1d36f1c,
                                          0x10e527fade682d1d, 0xb05688c2b3e6c1fd};
    const Wide kl{load(key.data()), load(key.data() + 8)};
    Wide kr;
    if (key.size() >= 24) kr.high = load(key.data() + 16);
    if (key.size() == 24) kr.low = ~kr.high;
    if (key.size() == 32) kr.low = load(key.data() + 24);
    uint64_t d1 = kl.high ^ kr.high, d2 = kl.low ^ kr.low;
    d2 ^= f(d1, sigma[0]);
    d1 ^= f(d2, sigma[1]);
    d1 ^= kl.high;
    d2 ^= kl.low;
    d2 ^= f(d1, sigma[2]);
    d1 ^= f(d2, sigma[3]);
    const Wide ka{d1, d2};
    d1 = ka.high ^ kr.high;
    d2 = ka.low ^ kr.low;
    d2 ^= f(d1, sigma[4]);
    d1 ^= f(d2, sigma[5]);
    const Wide kb{d1, d2};
    const auto both = [](std::vector<uint64_t>& to, const Wide& from, unsigned n) {
        to.push_back(from.rotated(n).high);
        to.push_back(from.rotated(n).low);
    };
    std::vector<uint64_t> kw;
    auto &k = forward_.k, &ke = forward_.ke;
    both(kw, kl, 0);
    if (key.size() == 16) {
        both(k, ka, 0), both(k, kl, 15), both(k, ka, 15), both(ke, ka, 30), both(k, kl, 45);
        k.push_back(ka.rotated(45).high);
        k.push_back(kl.rotated(60).low);
        both(k, ka, 60), both(ke, kl, 77), both(k, kl, 94), both(k, ka, 94), both(k, kl, 111),
            both(kw, ka, 111);
    } else {
        both(k, kb, 0), both(k, kr, 15), both(k, ka, 15), both(ke, kr, 30), both(k, kb, 30),
            both(k, kl, 45), both(k, ka, 45);
        both(ke, kl, 60), both(k, kr, 60), both(k, kb, 60), both(k, kl, 77), both(ke, ka, 77),
            both(k, kr, 94), both(k, ka, 94);
        both(k, kl, 111), both(kw, kb, 111);
    }
    std::copy(kw.begin(), kw.end(), forward_.kw);
    backward_ = forward_;  // 2.3.3: decryption takes the subkeys in reverse order
    std::swap(backward_.kw[0], backward_.kw[2]);
    std::swap(backward_.kw[1], backward_.kw[3]);
    std::reverse(backward_.k.begin(), backward_.k.end());
    std::reverse(backward_.ke.begin(), backward_.ke.end());
}

void Camellia::encrypt(uint8_t* block) const { run(forward_, block); }
void Camellia::decrypt(uint8_t* block) const { run(backward_, block); }

std::vector<Text> Camellia::secrets() const {
    std::vector<Text> out;
    for (const std::vector<uint64_t>* keys : {&forward_.k, &forward_.ke})
        for (size_t i = 0; i < keys->size(); i += 2) {
            out.emplace_back(16);
            store(out.back().data(), (*keys)[i]);
            store(out.back().data() + 8, (*keys)[i + 1]);
        }
    return out;
}

}  // namespace reference
