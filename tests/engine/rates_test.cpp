// Rates: what is learnt of a measurement, and that one which there is no memory for hurts nobody.
#include "engine/rates.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "engine/no_memory.h"

namespace {

using namespace warpseal;

const Pace pace{nullptr, WARPSEAL_CTR, Direction::encrypt, Shape::sweep, Place::pinned, 4};
constexpr uint64_t gigabyte = 1'000'000'000;

// So that a rate comes of it which is known.
void note(Rates& rates, int party, double rate, int times = 1, const Pace& of = pace,
          bool shared = false) {
    const double delay = party == Rates::cores ? 0 : usual_gpu_delay(of.place);
    for (int i = 0; i < times; ++i) rates.note(of, party, shared, gigabyte, 1 / rate + delay);
}

TEST(Rates, RiseAtOnceAndFallSlowly) {
    for (const int party : {Rates::cores, 0, 3}) {
        Rates rates(4);
        const auto alone_after = [&](double rate) {
            note(rates, party, rate);
            return rates.of(pace, party).alone;
        };
        EXPECT_EQ(alone_after(40), 0) << "the first pays for pinning";
        EXPECT_EQ(alone_after(10), 0) << "one may be bad luck";
        EXPECT_NEAR(alone_after(8), 9.5, 1e-9);
        EXPECT_NEAR(alone_after(20), 20, 1e-9);
        EXPECT_NEAR(alone_after(10), 17.5, 1e-9);
        rates.note(pace, party, false, telling_bytes - 1, 1e-6);
        EXPECT_NEAR(rates.of(pace, party).alone, 17.5, 1e-9) << "too little says nothing";
        EXPECT_EQ(rates.of(pace, party).shared, 0);
        EXPECT_EQ(rates.of(pace, 5).alone, 0);
    }
}

// What is over about when a GPU usually begins was no slower than twice as fast as the clock says.
TEST(Rates, AShortCallDoesNotMakeAGpuFast) {
    Rates rates(4);
    const double seconds = usual_gpu_delay(pace.place) / 2;
    for (int i = 0; i < 3; ++i) rates.note(pace, 0, false, telling_bytes, seconds);
    EXPECT_NEAR(rates.of(pace, 0).alone, static_cast<double>(telling_bytes) * 1e-9 / (seconds / 2),
                1e-9);
}

// Else one bad measurement would keep a target out for good.
TEST(Rates, WhatOthersDoMeanwhileLeavesDoubts) {
    Rates rates(4);
    note(rates, 0, 10, 3);
    note(rates, Rates::cores, 20, 3);
    EXPECT_NEAR(rates.of(pace, 0).alone, 10 * (1 + 0.01 * 3), 1e-9);
    EXPECT_NEAR(rates.of(pace, Rates::cores).alone, 20, 1e-9);
    note(rates, Rates::cores, 20, 1000);
    EXPECT_NEAR(rates.of(pace, 0).alone, 15, 1e-9) << "half as fast is out of doubt";
    note(rates, 0, 12);
    EXPECT_NEAR(rates.of(pace, 0).alone, 12, 1e-9);
}

TEST(Rates, AreBySize) {
    EXPECT_EQ(scale_of(0), scale_of(telling_bytes));
    EXPECT_EQ(scale_of(uint64_t{16} << 20), scale_of((uint64_t{64} << 20) - 1));
    EXPECT_NE(scale_of(uint64_t{4} << 20), scale_of(uint64_t{32} << 20));
    EXPECT_EQ(scale_of(uint64_t{256} << 20), scale_of(UINT64_MAX));
    Pace shorter = pace;
    shorter.scale = 1;
    Rates rates(4);
    for (const int party : {0, Rates::cores}) {
        note(rates, party, 10, 3);
        EXPECT_EQ(rates.of(shorter, party).alone, 0);
    }
}

// Cores do not care where the data lies, until a GPU works beside them.
TEST(Rates, CoresAloneHaveOneFigureForAllPlaces) {
    Rates rates(4);
    Pace pageable = pace;
    pageable.place = Place::host;
    note(rates, Rates::cores, 20, 3);
    note(rates, Rates::cores, 10, 3, pace, true);
    rates.note(pace, Rates::cores, false, gigabyte, 0.05);
    EXPECT_NEAR(rates.of(pageable, Rates::cores).alone, 20, 1e-9);
    EXPECT_NEAR(rates.of(pace, Rates::cores).alone, 20, 1e-9);
    EXPECT_EQ(rates.of(pageable, Rates::cores).shared, 0);
    EXPECT_GE(rates.of(pace, Rates::cores).shared, 10);
}

TEST(Rates, BehindALinkCiphersAreAlikeUntilOneIsMeasured) {
    const CpuCipher others[2] = {};
    Pace first = pace, second = pace, elsewhere = pace;
    first.cipher = &others[0];
    second.cipher = elsewhere.cipher = &others[1];
    second.mode = elsewhere.mode = WARPSEAL_CBC;
    elsewhere.place = Place::host;
    Rates rates(4);
    for (const int party : {0, Rates::cores})
        for (const bool shared : {false, true}) note(rates, party, 10, 3, first, shared);
    EXPECT_NEAR(rates.of(second, 0).alone, 10, 1e-9);
    EXPECT_EQ(rates.of(second, 0).shared, 0) << "with the cores, whose share hangs on the cipher";
    EXPECT_EQ(rates.of(second, 1).alone, 0);
    EXPECT_EQ(rates.of(elsewhere, 0).alone, 0);
    EXPECT_EQ(rates.of(second, Rates::cores).alone, 0);
    note(rates, 0, 2, 3, second);
    EXPECT_NEAR(rates.of(second, 0).alone, 2, 1e-9);
}

TEST(Rates, CoresAreCalibratedOnceForAllThreads) {
    static int runs;
    runs = 0;
    CpuCipher cipher = {};
    cipher.sweep[WARPSEAL_CTR][0] = [](const void*, const uint8_t*, uint64_t, const uint8_t*,
                                       uint8_t*, size_t) { ++runs; };
    Pace kind = pace;
    kind.cipher = &cipher;
    Rates rates(4);
    EXPECT_EQ(rates.of(kind, Rates::cores).alone, 0);
    rates.calibrate(kind, nullptr);
    const double found = rates.of(kind, Rates::cores).alone;
    const int first_runs = runs;
    EXPECT_GT(found, 0);
    EXPECT_GT(first_runs, 0);
    kind.place = Place::host;
    kind.scale = 1;
    rates.calibrate(kind, nullptr);
    EXPECT_DOUBLE_EQ(rates.of(kind, Rates::cores).alone, found);
    EXPECT_EQ(runs, first_runs);
    kind.shape = Shape::batch;
    rates.calibrate(kind, nullptr);
    EXPECT_EQ(rates.of(kind, Rates::cores).alone, 0);
    EXPECT_EQ(runs, first_runs);
    kind.shape = Shape::sweep;
    note(rates, Rates::cores, 20, 3, kind);
    EXPECT_NEAR(rates.of(kind, Rates::cores).alone, 20, 1e-9) << "what was measured counts";
}

// A core that takes ten milliseconds for 64 KiB when nothing holds it up; four of them are 0.7 of
// four times as fast.
TEST(Rates, CalibrationIsGigabytesASecondOfAllThreads) {
    CpuCipher cipher = {};
    cipher.sweep[WARPSEAL_CTR][0] = [](const void*, const uint8_t*, uint64_t, const uint8_t*,
                                       uint8_t*, size_t) {
        static int runs = 0;
        std::this_thread::sleep_for(std::chrono::milliseconds(++runs == 3 ? 30 : 10));
    };
    Pace kind = pace;
    kind.cipher = &cipher;
    Rates rates(4);
    rates.calibrate(kind, nullptr);
    const double most = 4 * 0.7 * 65536 / 0.010 * 1e-9;
    EXPECT_LE(rates.of(kind, Rates::cores).alone, most);
    EXPECT_GE(rates.of(kind, Rates::cores).alone, most / 2);
}

// In a thread of its own, as a GPU's part of a call is: what it throws ends the process.
TEST(Rates, WithoutMemoryNothingIsLearnt) {
    Rates rates(4);
    std::thread([&] {
        tests::requests_met = 0;
        note(rates, 0, 10, 3);
        tests::requests_met = -1;
    }).join();
    EXPECT_EQ(rates.of(pace, 0).alone, 0);
    note(rates, 0, 10, 3);
    EXPECT_NEAR(rates.of(pace, 0).alone, 10, 1e-9);
}

}  // namespace
