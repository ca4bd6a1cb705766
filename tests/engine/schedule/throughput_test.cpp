// Throughput model: learning from measurements, and failed allocations without side effects.
#include "engine/schedule/throughput.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "engine/no_memory.h"

namespace {

using namespace warpseal;

const CallClass call_class{
    nullptr, WARPSEAL_CTR, Direction::encrypt, BackendEntry::sweep, MemoryKind::pinned, 4};
constexpr uint64_t gigabyte = 1'000'000'000;

// Records calls that result in this known rate.
void note(Throughput& throughput, int party, double rate, int times = 1,
          const CallClass& of = call_class, bool shared = false) {
    const double delay = party == Throughput::cores ? 0 : default_gpu_delay(of.memory_kind);
    for (int i = 0; i < times; ++i) throughput.note(of, party, shared, gigabyte, 1 / rate + delay);
}

TEST(Throughput, RiseAtOnceAndFallSlowly) {
    for (const int party : {Throughput::cores, 0, 3}) {
        Throughput throughput(4);
        const auto alone_after = [&](double rate) {
            note(throughput, party, rate);
            return throughput.of(call_class, party).alone;
        };
        EXPECT_EQ(alone_after(40), 0) << "the first pays for pinning";
        EXPECT_EQ(alone_after(10), 0) << "one may be an outlier";
        EXPECT_NEAR(alone_after(8), 9.5, 1e-9);
        EXPECT_NEAR(alone_after(20), 20, 1e-9);
        EXPECT_NEAR(alone_after(10), 17.5, 1e-9);
        throughput.note(call_class, party, false, min_measured_bytes - 1, 1e-6);
        EXPECT_NEAR(throughput.of(call_class, party).alone, 17.5, 1e-9) << "too little to measure";
        EXPECT_EQ(throughput.of(call_class, party).shared, 0);
        EXPECT_EQ(throughput.of(call_class, 5).alone, 0);
    }
}

// A call that ends about when a GPU usually starts is at most twice as fast as measured.
TEST(Throughput, AShortCallDoesNotRaiseAGpusRate) {
    Throughput throughput(4);
    const double seconds = default_gpu_delay(call_class.memory_kind) / 2;
    for (int i = 0; i < 3; ++i) throughput.note(call_class, 0, false, min_measured_bytes, seconds);
    EXPECT_NEAR(throughput.of(call_class, 0).alone,
                static_cast<double>(min_measured_bytes) * 1e-9 / (seconds / 2), 1e-9);
}

// Otherwise one bad measurement would exclude a target for good.
TEST(Throughput, MeasurementsUnderLoadAreUncertain) {
    Throughput throughput(4);
    note(throughput, 0, 10, 3);
    note(throughput, Throughput::cores, 20, 3);
    EXPECT_NEAR(throughput.of(call_class, 0).alone, 10 * (1 + 0.01 * 3), 1e-9);
    EXPECT_NEAR(throughput.of(call_class, Throughput::cores).alone, 20, 1e-9);
    note(throughput, Throughput::cores, 20, 1000);
    EXPECT_NEAR(throughput.of(call_class, 0).alone, 15, 1e-9) << "half the rate is beyond doubt";
    note(throughput, 0, 12);
    EXPECT_NEAR(throughput.of(call_class, 0).alone, 12, 1e-9);
}

TEST(Throughput, AreBySize) {
    EXPECT_EQ(scale_of(0), scale_of(min_measured_bytes));
    EXPECT_EQ(scale_of(uint64_t{16} << 20), scale_of((uint64_t{64} << 20) - 1));
    EXPECT_NE(scale_of(uint64_t{4} << 20), scale_of(uint64_t{32} << 20));
    EXPECT_EQ(scale_of(uint64_t{256} << 20), scale_of(UINT64_MAX));
    CallClass shorter = call_class;
    shorter.scale = 1;
    Throughput throughput(4);
    for (const int party : {0, Throughput::cores}) {
        note(throughput, party, 10, 3);
        EXPECT_EQ(throughput.of(shorter, party).alone, 0);
    }
}

// The cores' rate does not depend on the memory kind until a GPU shares the call.
TEST(Throughput, CoresAloneHaveOneRateForAllMemoryKinds) {
    Throughput throughput(4);
    CallClass pageable = call_class;
    pageable.memory_kind = MemoryKind::host;
    note(throughput, Throughput::cores, 20, 3);
    note(throughput, Throughput::cores, 10, 3, call_class, true);
    throughput.note(call_class, Throughput::cores, false, gigabyte, 0.05);
    EXPECT_NEAR(throughput.of(pageable, Throughput::cores).alone, 20, 1e-9);
    EXPECT_NEAR(throughput.of(call_class, Throughput::cores).alone, 20, 1e-9);
    EXPECT_EQ(throughput.of(pageable, Throughput::cores).shared, 0);
    EXPECT_GE(throughput.of(call_class, Throughput::cores).shared, 10);
}

TEST(Throughput, BehindALinkCiphersShareARateUntilOneIsMeasured) {
    const CpuCipher others[2] = {};
    CallClass first = call_class, second = call_class, elsewhere = call_class;
    first.cipher = &others[0];
    second.cipher = elsewhere.cipher = &others[1];
    second.mode = elsewhere.mode = WARPSEAL_CBC;
    elsewhere.memory_kind = MemoryKind::host;
    Throughput throughput(4);
    for (const int party : {0, Throughput::cores})
        for (const bool shared : {false, true}) note(throughput, party, 10, 3, first, shared);
    EXPECT_NEAR(throughput.of(second, 0).alone, 10, 1e-9);
    EXPECT_EQ(throughput.of(second, 0).shared, 0)
        << "with the cores, whose shard depends on the cipher";
    EXPECT_EQ(throughput.of(second, 1).alone, 0);
    EXPECT_EQ(throughput.of(elsewhere, 0).alone, 0);
    EXPECT_EQ(throughput.of(second, Throughput::cores).alone, 0);
    note(throughput, 0, 2, 3, second);
    EXPECT_NEAR(throughput.of(second, 0).alone, 2, 1e-9);
}

TEST(Throughput, CoresAreCalibratedOnceForAllThreads) {
    static int runs;
    runs = 0;
    CpuCipher cipher = {};
    cipher.sweep[WARPSEAL_CTR][0] = [](const void*, const uint8_t*, uint64_t, const uint8_t*,
                                       uint8_t*, size_t) { ++runs; };
    CallClass kind = call_class;
    kind.cipher = &cipher;
    Throughput throughput(4);
    EXPECT_EQ(throughput.of(kind, Throughput::cores).alone, 0);
    throughput.calibrate(kind, nullptr);
    const double found = throughput.of(kind, Throughput::cores).alone;
    const int first_runs = runs;
    EXPECT_GT(found, 0);
    EXPECT_GT(first_runs, 0);
    kind.memory_kind = MemoryKind::host;
    kind.scale = 1;
    throughput.calibrate(kind, nullptr);
    EXPECT_DOUBLE_EQ(throughput.of(kind, Throughput::cores).alone, found);
    EXPECT_EQ(runs, first_runs);
    kind.entry = BackendEntry::batch;
    throughput.calibrate(kind, nullptr);
    EXPECT_EQ(throughput.of(kind, Throughput::cores).alone, 0);
    EXPECT_EQ(runs, first_runs);
    kind.entry = BackendEntry::sweep;
    note(throughput, Throughput::cores, 20, 3, kind);
    EXPECT_NEAR(throughput.of(kind, Throughput::cores).alone, 20, 1e-9)
        << "the measured rate applies";
}

// A fork waits for this lock too, and a calibration would take longer than any other holder.
TEST(Throughput, OthersCallDuringACalibration) {
    static Throughput* throughput;
    static CallClass kind;
    static std::vector<std::thread> others;
    static std::atomic<int> answered;
    Throughput four(4);
    CpuCipher cipher = {};
    cipher.sweep[WARPSEAL_CTR][0] = [](const void*, const uint8_t*, uint64_t, const uint8_t*,
                                       uint8_t*, size_t) {
        const int before = answered;
        others.emplace_back([] {
            (void)throughput->of(kind, Throughput::cores);
            ++answered;
        });
        for (int i = 0; i < 2000 && answered == before; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        EXPECT_EQ(answered, before + 1) << "a call waits for the calibration";
    };
    answered = 0;
    kind = call_class;
    kind.cipher = &cipher;
    throughput = &four;
    throughput->calibrate(kind, nullptr);
    EXPECT_EQ(others.size(), 3);
    for (std::thread& one : others) one.join();
    others.clear();
}

// A core that takes ten milliseconds for 64 KiB when undisturbed; four of them reach 0.7 of four
// times that rate. The first and last of three runs are disturbed.
TEST(Throughput, CalibrationIsGigabytesASecondOfAllThreads) {
    static Throughput::Clock::time_point time;
    static int runs;
    time = {};
    runs = 0;
    CpuCipher cipher = {};
    cipher.sweep[WARPSEAL_CTR][0] = [](const void*, const uint8_t*, uint64_t, const uint8_t*,
                                       uint8_t*, size_t) {
        time += std::chrono::milliseconds(++runs == 2 ? 10 : 30);
    };
    CallClass kind = call_class;
    kind.cipher = &cipher;
    Throughput throughput(4);
    for (int again = 0; again < 2; ++again) {
        throughput.calibrate(kind, nullptr, [] { return time; });
        EXPECT_NEAR(throughput.of(kind, Throughput::cores).alone, 4 * 0.7 * 65536 / 0.010 * 1e-9,
                    1e-9);
    }
    EXPECT_EQ(runs, 3);
}

// On a thread of its own, as for a GPU's shard of a call: an exception there ends the process.
TEST(Throughput, WithoutMemoryNothingIsRecorded) {
    Throughput throughput(4);
    std::thread([&] {
        tests::requests_met = 0;
        note(throughput, 0, 10, 3);
        tests::requests_met = -1;
    }).join();
    EXPECT_EQ(throughput.of(call_class, 0).alone, 0);
    note(throughput, 0, 10, 3);
    EXPECT_NEAR(throughput.of(call_class, 0).alone, 10, 1e-9);
}

}  // namespace
