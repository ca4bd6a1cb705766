// Rates: what is learnt of a measurement, and that one which there is no memory for hurts nobody.
#include "engine/rates.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <thread>

namespace {
thread_local bool out_of_memory = false;

__attribute__((noinline)) void* allocated(size_t bytes) {
    void* memory = out_of_memory ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
// Apart, so that the compiler does not take a free here for the partner of a new elsewhere.
__attribute__((noinline)) void give_back(void* memory) { std::free(memory); }
}  // namespace

void* operator new(size_t bytes) { return allocated(bytes); }
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, size_t) noexcept { give_back(memory); }

namespace {

using namespace warpseal;

const Pace pace{nullptr, WARPSEAL_CTR, Direction::encrypt, Shape::sweep, Place::host};
constexpr double gigabyte = 1e9;

TEST(Rates, RiseAtOnceAndFallSlowly) {
    Rates rates;
    const auto alone_after = [&](double seconds) {
        rates.note(pace, 0, false, static_cast<uint64_t>(gigabyte), seconds);
        return rates.of(pace, 0).alone;
    };
    EXPECT_EQ(alone_after(1), 0) << "the first pays for pinning";
    EXPECT_DOUBLE_EQ(alone_after(0.1), 10);
    EXPECT_DOUBLE_EQ(alone_after(0.05), 20);
    EXPECT_DOUBLE_EQ(alone_after(0.1), 17.5);
    rates.note(pace, 0, false, telling_bytes - 1, 1e-6);
    EXPECT_DOUBLE_EQ(rates.of(pace, 0).alone, 17.5) << "too little says nothing";
    EXPECT_EQ(rates.of(pace, 0).shared, 0);
    EXPECT_EQ(rates.of(pace, 1).alone, 0);
}

// Cores do not care where the data lies, until a GPU works beside them.
TEST(Rates, CoresAloneHaveOneFigureForAllPlaces) {
    Rates rates;
    Pace pinned = pace;
    pinned.place = Place::pinned;
    for (const bool shared : {false, true})
        for (int i = 0; i < 2; ++i) rates.note(pinned, Rates::cores, shared, static_cast<uint64_t>(gigabyte), shared ? 0.1 : 0.05);
    EXPECT_DOUBLE_EQ(rates.of(pace, Rates::cores).alone, 20);
    EXPECT_DOUBLE_EQ(rates.of(pinned, Rates::cores).alone, 20);
    EXPECT_EQ(rates.of(pace, Rates::cores).shared, 0);
    EXPECT_DOUBLE_EQ(rates.of(pinned, Rates::cores).shared, 10);
}

TEST(Rates, BehindALinkCiphersAreAlikeUntilOneIsMeasured) {
    const CpuCipher others[2] = {};
    const Pace first = {&others[0], WARPSEAL_CTR, Direction::encrypt, Shape::sweep, Place::host};
    const Pace second = {&others[1], WARPSEAL_CBC, Direction::decrypt, Shape::sweep, Place::host};
    Pace elsewhere = second;
    elsewhere.place = Place::pinned;
    Rates rates;
    for (const int party : {0, Rates::cores})
        for (const bool shared : {false, true})
            for (int i = 0; i < 2; ++i) rates.note(first, party, shared, static_cast<uint64_t>(gigabyte), 0.1);
    EXPECT_DOUBLE_EQ(rates.of(second, 0).alone, 10);
    EXPECT_EQ(rates.of(second, 0).shared, 0) << "with the cores, whose share hangs on the cipher";
    EXPECT_EQ(rates.of(second, 1).alone, 0);
    EXPECT_EQ(rates.of(elsewhere, 0).alone, 0);
    EXPECT_EQ(rates.of(second, Rates::cores).alone, 0);
    for (int i = 0; i < 2; ++i) rates.note(second, 0, false, static_cast<uint64_t>(gigabyte), 0.5);
    EXPECT_DOUBLE_EQ(rates.of(second, 0).alone, 2);
}

TEST(Rates, CoresAreCalibratedOnceForAllThreads) {
    static int runs;
    runs = 0;
    CpuCipher cipher = {};
    cipher.sweep[WARPSEAL_CTR][0] = [](const void*, const uint8_t*, uint64_t, const uint8_t*, uint8_t*, size_t) { ++runs; };
    Pace kind = {&cipher, WARPSEAL_CTR, Direction::encrypt, Shape::sweep, Place::host};
    Rates rates;
    const double one = rates.calibrated(kind, nullptr, 1);
    const int first_runs = runs;
    EXPECT_GT(one, 0);
    EXPECT_GT(first_runs, 0);
    kind.place = Place::pinned;
    EXPECT_DOUBLE_EQ(rates.calibrated(kind, nullptr, 16), 16 * one);
    EXPECT_EQ(runs, first_runs);
    kind.shape = Shape::batch;
    EXPECT_EQ(rates.calibrated(kind, nullptr, 16), 0);
    EXPECT_EQ(runs, first_runs);
}

// In a thread of its own, as a GPU's part of a call is: what it throws ends the process.
TEST(Rates, WithoutMemoryNothingIsLearnt) {
    Rates rates;
    std::thread([&] {
        out_of_memory = true;
        for (int i = 0; i < 3; ++i) rates.note(pace, 0, false, static_cast<uint64_t>(gigabyte), 0.1);
        out_of_memory = false;
    }).join();
    EXPECT_EQ(rates.of(pace, 0).alone, 0);
    for (int i = 0; i < 2; ++i) rates.note(pace, 0, false, static_cast<uint64_t>(gigabyte), 0.1);
    EXPECT_DOUBLE_EQ(rates.of(pace, 0).alone, 10);
}

}  // namespace
