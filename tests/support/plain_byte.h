// A cipher's bytes one at a time, with S-boxes as tables: the simplest byte representation.
#pragma once

#include <cstdint>
#include <vector>

#include "core/sbox.h"

namespace tests {

struct PlainByte {
    uint8_t v = 0;
    static PlainByte zero() { return {}; }
    friend PlainByte operator^(PlainByte a, PlainByte b) { return of(a.v ^ b.v); }
    friend PlainByte operator&(PlainByte a, PlainByte b) { return of(a.v & b.v); }
    friend PlainByte operator|(PlainByte a, PlainByte b) { return of(a.v | b.v); }
    friend PlainByte operator~(PlainByte a) { return of(~a.v); }
    friend PlainByte operator+(PlainByte a, PlainByte b) { return of(a.v + b.v); }
    PlainByte& operator^=(PlainByte b) { return *this = *this ^ b; }
    friend PlainByte add3(PlainByte a, PlainByte b, PlainByte c) { return a ^ b ^ c; }
    template <class S>
    friend PlainByte substitute(PlainByte a) {
        return of(table<S>()[a.v]);
    }
    template <int n>
    friend PlainByte shift_left(PlainByte a) {
        return of(a.v << n);
    }
    template <int n>
    friend PlainByte shift_right(PlainByte a) {
        return of(a.v >> n);
    }
    template <class S>
    static const std::vector<uint8_t>& table() {
        static const std::vector<uint8_t> entries = [] {
            std::vector<uint8_t> out;
            for (int x = 0; x < 256; ++x)
                out.push_back(warpseal::value<S>(static_cast<uint8_t>(x)));
            return out;
        }();
        return entries;
    }

private:
    static PlainByte of(int x) { return {static_cast<uint8_t>(x)}; }
};

// Substitutes the four bytes of a word by table, for key expansion.
struct TableSubstitution {
    template <class S>
    uint32_t substitute(uint32_t word) const {
        uint32_t out = 0;
        for (int i = 0; i < 32; i += 8)
            out |= uint32_t{PlainByte::table<S>()[word >> i & 255]} << i;
        return out;
    }
};

}  // namespace tests
