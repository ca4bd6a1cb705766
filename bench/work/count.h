// Counts the minimum operations of a GPU for one block of each cipher by running the cipher's
// source on counting types.
#pragma once

#include "bench/work/work.h"
#include "core/bit_planes.h"
#include "core/lut.h"

namespace warpseal::work {

inline thread_local unsigned counted;

// Value that only counts operations on it. It has every operator of docs/adding-a-cipher.md, with a
// uint32_t for either operand. A rotation is two shifts, which are free, and one `|`.
struct Counted {
    Counted() = default;
    Counted(uint32_t) {}
    static Counted one() {
        ++counted;
        return {};
    }
    friend Counted operator^(Counted, Counted) { return one(); }
    friend Counted operator&(Counted, Counted) { return one(); }
    friend Counted operator|(Counted, Counted) { return one(); }
    friend Counted operator~(Counted) { return one(); }
    friend Counted operator+(Counted, Counted) { return {}; }
    friend Counted operator-(Counted, Counted) { return {}; }
    friend Counted operator<<(Counted, int) { return {}; }
    friend Counted operator>>(Counted, int) { return {}; }
    friend Counted swap_bytes(Counted) { return one(); }
    Counted& operator^=(Counted other) { return *this = *this ^ other; }
    Counted& operator&=(Counted other) { return *this = *this & other; }
    Counted& operator|=(Counted other) { return *this = *this | other; }
    Counted& operator+=(Counted other) { return *this = *this + other; }
    Counted& operator-=(Counted other) { return *this = *this - other; }
    Counted& operator<<=(int n) { return *this = *this << n; }
    Counted& operator>>=(int n) { return *this = *this >> n; }
};

}  // namespace warpseal::work

template <>
struct warpseal::Ternary<warpseal::work::Counted> {
    static constexpr bool one_instruction = true;
    template <int table>
    static work::Counted of(const work::Counted&, const work::Counted&, const work::Counted&) {
        return work::Counted::one();
    }
};

namespace warpseal::work {

// Key additions count as free, because the GPU does them on a separate unit.
struct CountedKey {
    Counted operator()(int) const { return {}; }
    Counted add(Counted, int) const { return {}; }
};

struct CountingLookup {
    static constexpr bool uses_tables = true;
    template <int table, int byte>
    uint32_t lookup(uint32_t) const {
        ++counted;
        return 0;
    }
};

template <class Run>
unsigned count(const Run& run) {
    counted = 0;
    run();
    return counted;
}

template <class Cipher>
void count_lookups(bench::CipherWork& work) {
    const uint32_t schedule[Cipher::schedule_words] = {};
    uint32_t block[Cipher::block_bytes / 4] = {}, other[Cipher::block_bytes / 4] = {};
    const CountingLookup tables;
    work.lookups = count([&] { Cipher::encrypt(block, schedule, tables); });
    work.pair_lookups = work.lookups;
    if constexpr (requires { Cipher::encrypt(block, other, schedule, tables); })
        work.pair_lookups = count([&] { Cipher::encrypt(block, other, schedule, tables); }) / 2;
    work.counting_lookups = work.pair_lookups;
    if constexpr (requires { Cipher::counting_words; }) {
        uint32_t sum[Cipher::counting_words] = {}, next[Cipher::counting_words] = {};
        if constexpr (requires { Cipher::encrypt_counting(sum, next, schedule, tables); })
            work.counting_lookups =
                count([&] { Cipher::encrypt_counting(sum, next, schedule, tables); }) / 2;
        else
            work.counting_lookups = count([&] { Cipher::encrypt_counting(sum, schedule, tables); });
    }
}

template <class Cipher>
bench::CipherWork count() {
    bench::CipherWork work = {Cipher::name, Cipher::block_bytes, 0, 0, 0, 0, 0};
    if constexpr (requires { typename Cipher::EncryptTables; }) count_lookups<Cipher>(work);
    if constexpr (Cipher::block_bytes == 8 &&
                  requires(Counted(&p)[64]) { Cipher::encrypt_bitsliced(p, CountedKey{}); }) {
        Counted planes[64];
        work.plane_gates = count([&] { Cipher::encrypt_bitsliced(planes, CountedKey{}); });
    }
    if constexpr (requires(Counted(&s)[Cipher::block_bytes / 4]) {
                      Cipher::encrypt_words(s, CountedKey{});
                  }) {
        Counted words[Cipher::block_bytes / 4];
        work.logic = count([&] { Cipher::encrypt_words(words, CountedKey{}); });
    }
    return work;
}

}  // namespace warpseal::work
