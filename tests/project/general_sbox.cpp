// Compares lookups of an S-box without structure with its definition, for the vectors of the
// instruction set that this file is compiled for. Exit status 77 where the CPU lacks it.
#include <cstdio>
#include <cstring>

#include "backends/cpu/x86/bytes_lookup.h"

namespace {

using namespace warpseal;

struct Scrambled {
    static constexpr uint8_t substitute(uint8_t x) {
        uint32_t z = (x + 1) * 0x9e3779b9u;
        z = (z ^ z >> 15) * 0x85ebca6bu;
        return static_cast<uint8_t>(z >> 21);
    }
};

template <class V>
int wrong_lanes() {
    int wrong = 0;
    for (int first = 0; first < 256; ++first) {
        uint8_t in[sizeof(V)], out[sizeof(V)];
        for (size_t i = 0; i < sizeof in; ++i)
            in[i] = static_cast<uint8_t>(first + 37 * static_cast<int>(i));
        V v;
        std::memcpy(&v, in, sizeof v);
        v = cpu::lookup<Scrambled>(v);
        std::memcpy(out, &v, sizeof v);
        for (size_t i = 0; i < sizeof in; ++i) wrong += out[i] != Scrambled::substitute(in[i]);
    }
    return wrong;
}

}  // namespace

int main() {
    int wrong = 0;
#if defined(__AVX512VBMI__)
    if (!__builtin_cpu_supports("avx512vbmi")) return 77;
    wrong += wrong_lanes<__m512i>();
#elif defined(__AVX2__)
    if (!__builtin_cpu_supports("avx2")) return 77;
    wrong += wrong_lanes<__m256i>();
#else
    if (!__builtin_cpu_supports("ssse3")) return 77;
    wrong += wrong_lanes<__m128i>();
#endif
    if (wrong != 0) std::printf("%d lanes differ\n", wrong);
    return wrong != 0;
}
