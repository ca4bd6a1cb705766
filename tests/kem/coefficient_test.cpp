// NTRU's functions on single coefficients, over all possible values.
#include <gtest/gtest.h>

#include <algorithm>

#include "backends/cpu/kem/sort.h"
#include "kem/pack.h"
#include "support/random.h"

namespace {

namespace kem = warpseal::kem;

TEST(Coefficient, Modulo3IsExactOverItsReach) {
    const int reach = static_cast<int>(kem::mod3_reach);
    for (int v = -reach; v <= reach; ++v) {
        const int residue = ((v % 3) + 3) % 3;
        ASSERT_EQ(static_cast<int16_t>(kem::mod3(static_cast<uint16_t>(v))),
                  residue == 2 ? -1 : residue)
            << v;
        ASSERT_EQ(kem::digit(kem::mod3(static_cast<uint16_t>(v))), static_cast<uint32_t>(residue))
            << v;
    }
}

TEST(Coefficient, DigitsOfAnythingPackBelow256) {
    for (uint32_t v = 0; v < 65536; ++v) ASSERT_LE(kem::digit(static_cast<uint16_t>(v)), 3u);
    for (uint32_t digit = 0; digit < 3; ++digit) EXPECT_EQ(kem::digit(kem::trit(digit)), digit);
}

template <const kem::Params& set>
void centred() {
    const int q = set.q();
    for (int v = 0; v < 65536; ++v) {
        const int residue = v % q;
        ASSERT_EQ(static_cast<int16_t>(kem::centred<set>(static_cast<uint16_t>(v))),
                  residue >= q / 2 ? residue - q : residue)
            << v;
    }
}
TEST(Coefficient, CentredIsTheSmallestRepresentative) {
    centred<kem::ntruhps2048509>();
    centred<kem::ntruhps4096821>();
    centred<kem::ntruhrss701>();
    centred<kem::ntruhrss1373>();
}

// One coefficient that is not ternary, of every value and at every position, is detected.
template <const kem::Params& set>
void ternary() {
    kem::Poly<set> r{};
    for (int v = 0; v < set.q(); ++v) {
        r.at[v % set.n] = static_cast<uint16_t>(v);
        const bool is = v <= 1 || v == set.q() - 1;
        ASSERT_EQ(kem::to_ternary<set>(r), is ? 1u : 0u) << v;
        if (is) {
            ASSERT_EQ(static_cast<int16_t>(r.at[v % set.n]), v <= 1 ? v : -1);
        }
        r.at[v % set.n] = 0;
    }
    for (int i = 0; i < set.n; ++i) {
        r.at[i] = 2;
        ASSERT_EQ(kem::to_ternary<set>(r), 0u) << i;
        r.at[i] = 0;
    }
}
TEST(Coefficient, TernaryIsDetected) {
    ternary<kem::ntruhps2048677>();
    ternary<kem::ntruhps40961229>();
    ternary<kem::ntruhrss701>();
    ternary<kem::ntruhrss1373>();
}

// One nonzero coefficient at any position makes a polynomial nonzero: random coins rarely give such
// a key.
template <const kem::Params& set>
void zero() {
    kem::Poly<set> a{};
    ASSERT_EQ(kem::is_zero<set>(a), 1u);
    for (int i = 0; i < set.n; ++i)
        for (const uint16_t v : {uint16_t{1}, uint16_t{0xffff}}) {
            a.at[i] = v;
            ASSERT_EQ(kem::is_zero<set>(a), 0u) << i;
            a.at[i] = 0;
        }
}
TEST(Coefficient, ZeroDiffersFromASingleCoefficient) {
    zero<kem::ntruhps2048509>();
    zero<kem::ntruhps40961229>();
    zero<kem::ntruhrss1373>();
}

// Every byte, also those that no ternary coefficients pack to.
TEST(Coefficient, EveryByteOfTernaryCoefficientsUnpacks) {
    using kem::ntruhps4096821;
    kem::Poly<ntruhps4096821> a{};
    static constexpr int power[] = {1, 3, 9, 27, 81};
    for (int byte = 0; byte < 256; ++byte) {
        kem::unpack_ternary_group<ntruhps4096821>(a, 0, static_cast<uint8_t>(byte));
        for (int j = 0; j < 5; ++j)
            ASSERT_EQ(kem::digit(a.at[j]), static_cast<uint32_t>(byte / power[j] % 3)) << byte;
        if (byte < 243) {
            ASSERT_EQ(kem::pack_ternary_group<ntruhps4096821>(a, 0), byte);
        }
    }
}

TEST(Sort, EveryLengthAndTies) {
    tests::Random random(5002);
    for (int count = 1; count <= 300; ++count) {
        std::vector<int32_t> keys(static_cast<size_t>(count));
        for (int32_t& key : keys)
            key = static_cast<int32_t>(random.next() >> (count % 3 == 0 ? 62 : 32));
        std::vector<int32_t> expected = keys;
        std::sort(expected.begin(), expected.end());
        warpseal::cpu::sort(keys.data(), count);
        ASSERT_EQ(keys, expected) << count;
    }
}

}  // namespace
