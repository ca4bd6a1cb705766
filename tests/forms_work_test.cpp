// What the bounds of `warpseal bench --html` rest on: look-ups, gates and operations of each cipher, counted by running its text.
#include <gtest/gtest.h>

#include <cstring>

#include "../cli/bench_work.h"
#include "core/lut.h"
#include "every_cipher.h"

namespace {

thread_local unsigned counted;

// A value of which nothing is known but how often it was computed with. A rotation is two shifts, which are free, and the `|` of them.
struct Counted {
    Counted() = default;
    explicit Counted(uint32_t) {}
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
    Counted& operator^=(Counted other) { return *this = *this ^ other; }
};

}  // namespace

namespace warpseal {

template <>
struct Ternary<Counted> {
    template <int table>
    static Counted of(const Counted&, const Counted&, const Counted&) {
        return Counted::one();
    }
};

}  // namespace warpseal

namespace {

// A GPU adds a key that is all that is added on a unit of its own.
struct CountedKey {
    Counted operator()(int) const { return {}; }
    Counted add(Counted, int) const { return {}; }
};

struct CountingLook {
    static constexpr bool looks_up = true;
    template <int table, int byte>
    uint32_t look(uint32_t) const {
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
void check(const warpseal::cli::CipherWork& work) {
    SCOPED_TRACE(Cipher::name);
    EXPECT_EQ(work.block_bytes, Cipher::block_bytes);
    const uint32_t schedule[Cipher::schedule_words] = {};
    uint32_t block[Cipher::block_bytes / 4] = {};
    if constexpr (requires { typename Cipher::EncryptTables; }) {
        EXPECT_EQ(work.look_ups, count([&] { Cipher::encrypt(block, schedule, CountingLook{}); }));
        uint32_t other[Cipher::block_bytes / 4] = {};
        const CountingLook look;
        if constexpr (requires { Cipher::encrypt(block, other, schedule, look); })
            EXPECT_EQ(2 * work.pair_look_ups, count([&] { Cipher::encrypt(block, other, schedule, look); }));
        else
            EXPECT_EQ(work.pair_look_ups, work.look_ups);
        if constexpr (requires { Cipher::counting_words; }) {
            uint32_t sum[Cipher::counting_words] = {}, next[Cipher::counting_words] = {};
            if constexpr (requires { Cipher::encrypt_counting(sum, next, schedule, look); })
                EXPECT_EQ(2 * work.counting_look_ups, count([&] { Cipher::encrypt_counting(sum, next, schedule, look); }));
            else
                EXPECT_EQ(work.counting_look_ups, count([&] { Cipher::encrypt_counting(sum, schedule, look); }));
        } else {
            EXPECT_EQ(work.counting_look_ups, work.pair_look_ups);
        }
        if constexpr (requires { typename Cipher::DecryptTables; }) {
            EXPECT_EQ(work.look_ups, count([&] { Cipher::decrypt(block, schedule, CountingLook{}); }));
        }
    } else {
        EXPECT_EQ(work.look_ups, 0u);
    }
    if constexpr (Cipher::block_bytes == 8 && requires(Counted(&p)[64]) { Cipher::encrypt_planes(p, CountedKey{}); }) {
        Counted planes[64];
        EXPECT_EQ(work.plane_gates, count([&] { Cipher::encrypt_planes(planes, CountedKey{}); }));
    } else {
        EXPECT_EQ(work.plane_gates, 0u);
    }
    if constexpr (requires(Counted(&s)[Cipher::block_bytes / 4]) { Cipher::encrypt_words(s, CountedKey{}); }) {
        Counted words[Cipher::block_bytes / 4];
        EXPECT_EQ(work.logic, count([&] { Cipher::encrypt_words(words, CountedKey{}); }));
    } else {
        EXPECT_EQ(work.logic, 0u);
    }
}

TEST(Work, IsWhatTheBoundsSay) {
    unsigned found = 0;
    tests::for_each_cipher([&]<class Cipher>(tests::Type<Cipher>) {
        for (const warpseal::cli::CipherWork& work : warpseal::cli::cipher_work) {
            if (std::strcmp(work.cipher, Cipher::name) != 0) continue;
            ++found;
            check<Cipher>(work);
        }
    });
    EXPECT_EQ(found, std::size(warpseal::cli::cipher_work)) << "an entry names no cipher";
}

}  // namespace
