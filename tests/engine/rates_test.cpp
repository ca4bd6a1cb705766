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
