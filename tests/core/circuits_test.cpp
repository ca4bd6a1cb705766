// Circuits of three-input gates: a machine with three-input instructions runs them and nothing
// else, and the check of a circuit detects each wrong value. `circuit_is` applies that check
// wherever an S-box's circuit is compiled.
#include <gtest/gtest.h>

#include "ciphers/aes.h"
#include "ciphers/aria.h"
#include "ciphers/camellia.h"
#include "ciphers/des.h"
#include "ciphers/seed.h"
#include "ciphers/sm4.h"
#include "core/sbox4.h"

namespace {

// A word of a machine with three-input instructions, which counts instructions.
struct Counted {
    uint64_t bits = 0;
    static inline int instructions = 0;
    static Counted of(uint64_t bits) {
        ++instructions;
        return {bits};
    }
    [[maybe_unused]] friend Counted operator^(Counted a, Counted b) { return of(a.bits ^ b.bits); }
    [[maybe_unused]] friend Counted operator&(Counted a, Counted b) { return of(a.bits & b.bits); }
    [[maybe_unused]] friend Counted operator~(Counted a) { return of(~a.bits); }
};

}  // namespace

template <>
struct warpseal::Ternary<Counted> {
    static constexpr bool one_instruction = true;
    template <int table>
    static Counted of(Counted a, Counted b, Counted c) {
        return Counted::of(lut<table>(a.bits, b.bits, c.bits));
    }
};

namespace {

using namespace warpseal;

template <class S>
struct SBoxGates : testing::Test {};
using SBoxes =
    testing::Types<ciphers::aes::SBox, ciphers::aes::InverseSBox, ciphers::aria::SB1,
                   ciphers::aria::SB2, ciphers::aria::SB3, ciphers::aria::SB4,
                   ciphers::camellia::S1, ciphers::seed::S1, ciphers::seed::S2, ciphers::sm4::SBox>;
TYPED_TEST_SUITE(SBoxGates, SBoxes);

TYPED_TEST(SBoxGates, AreAllThatAThreeInputMachineRuns) {
    for (int base = 0; base < 256; base += 64) {
        Counted p[8];
        for (int i = 0; i < 8; ++i)
            for (int lane = 0; lane < 64; ++lane)
                p[i].bits |= uint64_t{((base + lane) >> i & 1) != 0} << lane;
        Counted::instructions = 0;
        substitute_bitsliced<TypeParam>(p);
        EXPECT_EQ(Counted::instructions, TypeParam::Gates::gates);
        for (int lane = 0; lane < 64; ++lane) {
            unsigned y = 0;
            for (int i = 0; i < 8; ++i) y |= (p[i].bits >> lane & 1) << i;
            EXPECT_EQ(y, value<TypeParam>(static_cast<uint8_t>(base + lane)));
        }
    }
}

// Every target runs the circuits of DES. A gate is several operators without such instructions.
template <class... Circuit>
constexpr int operators(List<Circuit...>) {
    int sum = 0;
    const auto add = [&sum](const auto& gates) {
        for (const Gate& gate : gates) sum += circuit4::operators.of[gate.table];
    };
    (add(Circuit::gate), ...);
    return sum;
}

TEST(Circuits, DesTakesFewOperatorsOnOtherMachines) {
    using namespace circuits;
    EXPECT_LE((operators(List<Des1, Des2, Des3, Des4, Des5, Des6, Des7, Des8>{})), 609);
}

TEST(Circuits, AWrongFunctionIsDetected) {
    for (int wrong = 0; wrong < 256; ++wrong) {
        const auto function = [wrong](int x) {
            return value<ciphers::sm4::SBox>(static_cast<uint8_t>(x)) ^
                   (x == wrong ? 1 << (x & 7) : 0);
        };
        EXPECT_FALSE(gates_compute<ciphers::sm4::SBox::Gates>(function)) << wrong;
    }
}

}  // namespace
