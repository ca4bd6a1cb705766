// The circuits of three-input gates against the S-boxes' standards, for every input.
#include <gtest/gtest.h>

#include "ciphers/aria.h"
#include "ciphers/camellia.h"
#include "ciphers/des.h"
#include "ciphers/seed.h"
#include "ciphers/sm4.h"
#include "core/circuits/aes.h"
#include "core/circuits/aria.h"
#include "core/circuits/camellia.h"
#include "core/circuits/des.h"
#include "core/circuits/seed.h"
#include "core/circuits/sm4.h"

namespace {

using namespace warpseal;

template <class S>
struct Values {
    constexpr uint8_t operator()(int x) const { return value<S>(static_cast<uint8_t>(x)); }
};

static_assert(gates_compute<circuits::Aes>(Values<ciphers::aria::SB1>()));
static_assert(gates_compute<circuits::AesInverse>(Values<ciphers::aria::SB3>()));
static_assert(gates_compute<circuits::AriaSB2>(Values<ciphers::aria::SB2>()));
static_assert(gates_compute<circuits::AriaSB4>(Values<ciphers::aria::SB4>()));
static_assert(gates_compute<circuits::Camellia>(Values<ciphers::camellia::S1>()));
static_assert(gates_compute<circuits::Seed1>(Values<ciphers::seed::S1>()));
static_assert(gates_compute<circuits::Seed2>(Values<ciphers::seed::S2>()));
static_assert(gates_compute<circuits::Sm4>(Values<ciphers::sm4::SBox>()));

// Input 0 is the first bit of the standard, the highest of the index; output 0 likewise.
constexpr int reversed(int x, int bits) {
    int y = 0;
    for (int i = 0; i < bits; ++i) y |= (x >> i & 1) << (bits - 1 - i);
    return y;
}
template <int box>
struct DesValues {
    constexpr int operator()(int x) const {
        return reversed(ciphers::des::SBoxes()(box, reversed(x, 6)), 4);
    }
};
static_assert(gates_compute<circuits::Des1>(DesValues<0>()));
static_assert(gates_compute<circuits::Des2>(DesValues<1>()));
static_assert(gates_compute<circuits::Des3>(DesValues<2>()));
static_assert(gates_compute<circuits::Des4>(DesValues<3>()));
static_assert(gates_compute<circuits::Des5>(DesValues<4>()));
static_assert(gates_compute<circuits::Des6>(DesValues<5>()));
static_assert(gates_compute<circuits::Des7>(DesValues<6>()));
static_assert(gates_compute<circuits::Des8>(DesValues<7>()));

// A check that cannot fail would pass above.
TEST(Circuits, AWrongFunctionIsDetected) {
    for (int wrong = 0; wrong < 256; ++wrong) {
        const auto function = [wrong](int x) {
            return Values<ciphers::sm4::SBox>()(x) ^ (x == wrong ? 1 << (x & 7) : 0);
        };
        EXPECT_FALSE(gates_compute<circuits::Sm4>(function)) << wrong;
    }
}

}  // namespace
