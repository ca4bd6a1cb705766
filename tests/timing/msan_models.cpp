// Compares the models of msan_models.h with the instructions that they stand for.
#include <cstring>
#include <utility>

namespace {

__m512i numbers(uint64_t seed) {
    uint64_t of[8];
    for (uint64_t& x : of) x = seed = seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
    return _mm512_loadu_si512(of);
}
bool same(__m512i a, __m512i b) { return std::memcmp(&a, &b, sizeof a) == 0; }

template <int... table>
bool ternaries(std::integer_sequence<int, table...>) {
    const __m512i a = numbers(1), b = numbers(2), c = numbers(3);
    return (same(warpseal::msan::ternary<table>(a, b, c),
                 (__m512i)__builtin_ia32_pternlogq512_mask((__v8di)a, (__v8di)b, (__v8di)c, table,
                                                           0xff)) &&
            ...);
}

bool inverses() {
    const __m512i matrix = numbers(4);
    for (int first = 0; first < 256; first += 64) {
        uint8_t bytes[64];
        for (int i = 0; i < 64; ++i) bytes[i] = static_cast<uint8_t>(first + i);
        const __m512i x = _mm512_loadu_si512(bytes);
        if (!same(
                warpseal::msan::affine_inverse<0x63>(x, matrix),
                (__m512i)__builtin_ia32_vgf2p8affineinvqb_v64qi((__v64qi)x, (__v64qi)matrix, 0x63)))
            return false;
    }
    return true;
}

bool lookups() {
    const __m512i low = numbers(5), high = numbers(6);
    for (int i = 0; i < 8; ++i) {
        const __m512i index = numbers(7 + i);
        if (!same(warpseal::msan::lookup(low, index, high),
                  (__m512i)__builtin_ia32_vpermi2varqi512((__v64qi)low, (__v64qi)index,
                                                          (__v64qi)high)) ||
            !same(warpseal::msan::lookup(low, index, low), _mm512_permutexvar_epi8(index, low)))
            return false;
    }
    return true;
}

}  // namespace

namespace tests {

bool models_are_right();
bool models_are_right() {
    return ternaries(std::make_integer_sequence<int, 256>{}) && inverses() && lookups();
}

}  // namespace tests
