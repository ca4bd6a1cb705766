// Functions and circuits from the cipher headers. The circuits are run over recorded words.
#include "boxes.h"

#include "ciphers/aes.h"
#include "ciphers/aria.h"
#include "ciphers/camellia.h"
#include "ciphers/des.h"
#include "ciphers/seed.h"
#include "ciphers/sm4.h"
#include "core/inversion.h"

namespace circuits {

namespace {

Network* recording;

// A word whose operators append gates to a network. Signal -1 is the constant 0.
struct Recorded {
    int signal = -1;
    bool complement = false;
};

int table_of_signals(const Recorded& a, const Recorded& b, const Recorded& c, int table,
                     int (&in)[3]) {
    const Recorded* word[3] = {&a, &b, &c};
    int result = 0;
    for (int k = 0; k < 8; ++k) {
        int index = 0;
        for (int i = 0; i < 3; ++i) {
            const bool set = word[i]->signal < 0 ? word[i]->complement
                                                 : (k >> (2 - i) & 1) != word[i]->complement;
            index |= set << (2 - i);
        }
        result |= (table >> index & 1) << k;
    }
    for (int i = 0; i < 3; ++i) in[i] = word[i]->signal < 0 ? 0 : word[i]->signal;
    return result;
}

Recorded append(int table, const Recorded& a, const Recorded& b, const Recorded& c) {
    Gate g{};
    g.table = table_of_signals(a, b, c, table, g.in);
    if (g.table == 0 || g.table == 255) return {-1, g.table == 255};
    recording->gates.push_back(g);
    return {recording->signals() - 1, false};
}

[[maybe_unused]] Recorded operator&(const Recorded& a, const Recorded& b) {
    return append(0xc0, a, b, b);
}
[[maybe_unused]] Recorded operator^(const Recorded& a, const Recorded& b) {
    return append(0x3c, a, b, b);
}
[[maybe_unused]] Recorded operator~(const Recorded& a) { return {a.signal, !a.complement}; }

}  // namespace

}  // namespace circuits

namespace warpseal {
template <>
struct Ternary<::circuits::Recorded> {
    static constexpr bool one_instruction = true;
    template <int table>
    static ::circuits::Recorded of(const ::circuits::Recorded& a, const ::circuits::Recorded& b,
                                   const ::circuits::Recorded& c) {
        return ::circuits::append(table, a, b, c);
    }
};
}  // namespace warpseal

namespace circuits {

namespace {

// The circuit is that of S::Gates, or of core/inversion.h if S names none.
template <class S>
Box byte_box(const char* name) {
    Box box;
    box.function.name = name;
    box.function.inputs = 8;
    box.inversion = true;
    box.in = S::in, box.out = S::out;
    box.function.outputs.assign(8, Truth{});
    for (int x = 0; x < 256; ++x)
        for (int i = 0; i < 8; ++i)
            if (warpseal::value<S>(static_cast<uint8_t>(x)) >> i & 1)
                flip(box.function.outputs[i], x);
    box.circuit.inputs = 8;
    recording = &box.circuit;
    Recorded p[8];
    for (int i = 0; i < 8; ++i) p[i].signal = i;
    warpseal::substitute_bitsliced<S>(p);
    for (const Recorded& word : p)
        box.circuit.outputs.push_back(
            (word.complement ? append(0x0f, word, word, word) : word).signal);
    return box;
}

template <int i>
Box des_box() {
    Box box;
    box.function.name = "des" + std::to_string(i + 1);
    box.function.inputs = 6;
    box.function.outputs.assign(4, Truth{});
    // Input 0 is the first of the standard, which is the highest bit of the index.
    for (int x = 0; x < 64; ++x) {
        int index = 0;
        for (int k = 0; k < 6; ++k) index |= (x >> k & 1) << (5 - k);
        for (int k = 0; k < 4; ++k)
            if (warpseal::ciphers::des::SBoxes{}(i, index) >> (3 - k) & 1)
                flip(box.function.outputs[k], x);
    }
    box.circuit.inputs = 6;
    recording = &box.circuit;
    Recorded x[6], y[4];
    for (int k = 0; k < 6; ++k) x[k].signal = k;
    warpseal::ciphers::des::substitute<i>(x, y);
    for (const Recorded& word : y) box.circuit.outputs.push_back(word.signal);
    return box;
}

}  // namespace

std::vector<Box> all_boxes() {
    using namespace warpseal::ciphers;
    return {byte_box<aes::SBox>("aes"),
            byte_box<aes::InverseSBox>("aes-inverse"),
            byte_box<sm4::SBox>("sm4"),
            byte_box<camellia::S1>("camellia"),
            byte_box<aria::SB2>("aria2"),
            byte_box<aria::SB4>("aria4"),
            byte_box<seed::S1>("seed1"),
            byte_box<seed::S2>("seed2"),
            des_box<0>(),
            des_box<1>(),
            des_box<2>(),
            des_box<3>(),
            des_box<4>(),
            des_box<5>(),
            des_box<6>(),
            des_box<7>()};
}

}  // namespace circuits
