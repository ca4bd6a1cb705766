#include "provider/shares.h"

#include <algorithm>
#include <array>

namespace warpseal::provider {
namespace {

constexpr size_t point_bytes = 32, hash_bytes = 32;
using Point = std::array<uint8_t, point_bytes>;

// FIPS 203, section 7.2: every coefficient of 12 bits is below q.
bool coefficients_are_below_q(const Set& set, std::span<const uint8_t> public_key) {
    constexpr unsigned q = 3329;
    for (size_t i = 0; i < size_t{384} * set.rank; i += 3) {
        const unsigned a = public_key[i], b = public_key[i + 1], c = public_key[i + 2];
        if ((a | (b & 15) << 8) >= q || (b >> 4 | c << 4) >= q) return false;
    }
    return true;
}

constexpr Point point(uint8_t first, uint8_t others, uint8_t last) {
    Point out{};
    out.fill(others);
    out.front() = first;
    out.back() = last;
    return out;
}
// The coordinates of points of order 1, 2, 4 and 8 on the curve and its twist, below 2^255: 0, 1,
// p - 1, p, p + 1, and two of order 8 (Bernstein, "Curve25519", section 3). tests/provider compares
// them with X25519's results.
constexpr Point low_order[] = {
    point(0, 0, 0),
    point(1, 0, 0),
    point(0xec, 0xff, 0x7f),
    point(0xed, 0xff, 0x7f),
    point(0xee, 0xff, 0x7f),
    {0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3,
     0xfa, 0xf1, 0x9f, 0xc4, 0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32,
     0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00},
    {0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1,
     0x55, 0x9c, 0x83, 0xef, 0x5b, 0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c,
     0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57},
};

bool has_low_order(std::span<const uint8_t> coordinate) {
    Point clear{};
    std::ranges::copy(coordinate, clear.begin());
    clear.back() &= 0x7f;  // X25519 ignores the highest bit (RFC 7748, section 5)
    return std::ranges::find(low_order, clear) != std::end(low_order);
}

}  // namespace

const char* public_key_fault(const Set& set, std::span<const uint8_t> public_key) {
    if (set.spare_bits != 0 && public_key.back() >> (8 - set.spare_bits) != 0)
        return "spare bits are set";
    if (set.rank != 0 && !coefficients_are_below_q(set, public_key))
        return "a coefficient of ML-KEM is out of range";
    if (set.with_x25519 && has_low_order(public_key.last(point_bytes)))
        return "the X25519 point has a low order";
    return nullptr;
}

std::span<const uint8_t> mlkem_public_key(const Set& set, std::span<const uint8_t> secret_key) {
    return secret_key.subspan(size_t{384} * set.rank, size_t{384} * set.rank + 32);
}

std::span<const uint8_t> mlkem_public_key_hash(const Set& set,
                                               std::span<const uint8_t> secret_key) {
    return secret_key.subspan(size_t{768} * set.rank + 32, hash_bytes);
}

}  // namespace warpseal::provider
