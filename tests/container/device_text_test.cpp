// Files whose text lies in device memory, on the fake GPU: every range, damage, any failing step,
// and what is left in the memory after a failure.
#include <array>

#include "device_machine.h"

namespace tests {
namespace {

TEST_F(DeviceText, EveryRange) {
    const MemoryFile file(file_);
    Machine machine;
    ASSERT_EQ(machine.open(file, options_), WARPSEAL_OK) << machine.fault.message;
    const size_t all = text().size();
    const struct {
        size_t offset, bytes;
    } ranges[] = {{0, all},
                  {0, 1},
                  {0, chunk},
                  {1, chunk},
                  {chunk - 1, 2},
                  {chunk, 3 * chunk},
                  {5, all - 5},
                  {all - 1, 1},
                  {all - 777, 777},
                  {all - 778, 778},
                  {128 * chunk - 3, 7},
                  {256 * chunk - 3, 7},
                  {100, 256 * chunk},
                  {all - 10, 4 * chunk},
                  {all, 5},
                  {all + chunk, 5},
                  {7, 0}};
    for (const auto& range : ranges) {
        SCOPED_TRACE(testing::Message() << range.offset << " " << range.bytes);
        uint8_t* const out = machine.allocate(range.bytes);
        ASSERT_EQ(machine.read(range.offset, out, range.bytes), WARPSEAL_OK)
            << machine.fault.message;
        const size_t begin = std::min(range.offset, all),
                     right = std::min(range.bytes, all - begin);
        ASSERT_EQ(machine.got, right);
        EXPECT_TRUE(std::equal(out, out + right, text().begin() + static_cast<ptrdiff_t>(begin)));
        for (size_t i = right; i <= range.bytes; ++i) ASSERT_EQ(out[i], untouched) << i;
        if (right != 0) {
            EXPECT_EQ(script().last_stream, &machine.stream);
        }
    }
    EXPECT_GT(script().resident_calls, 10u);
}

// Pinned memory is used again, and freed with the engine.
TEST_F(DeviceText, PinnedMemoryIsKept) {
    const MemoryFile file(file_);
    {
        Machine machine({}, 1);
        ASSERT_EQ(machine.open(file, options_), WARPSEAL_OK);
        uint8_t* const out = machine.allocate(100);
        ASSERT_EQ(machine.read(50, out, 100), WARPSEAL_OK);
        const uint64_t pinned = script().live_host_allocations;
        for (int i = 0; i < 5; ++i) ASSERT_EQ(machine.read(50, out, 100), WARPSEAL_OK);
        EXPECT_EQ(script().live_host_allocations, pinned);
        EXPECT_GE(pinned, 1u);
    }
    EXPECT_EQ(script().live_host_allocations, 0u);
    EXPECT_EQ(script().live_device_allocations, 0u);
}

// The first changed chunk is named, and nothing of the range stays in the memory.
TEST_F(DeviceText, ADamagedChunk) {
    for (const size_t number : {size_t{0}, size_t{3}, size_t{300}}) {
        Data damaged = file_;
        damaged[chunks_at + number * sealed_chunk + 44] ^= 1;
        const MemoryFile file(damaged);
        Machine machine;
        ASSERT_EQ(machine.open(file, options_), WARPSEAL_OK) << machine.fault.message;
        // The range has the whole chunk, its start and its end.
        for (const std::array<size_t, 2> range : {std::array<size_t, 2>{number * chunk, 2 * chunk},
                                                  {number * chunk, 5},
                                                  {number * chunk + 9, chunk}}) {
            uint8_t* const out = machine.allocate(range[1]);
            ASSERT_EQ(machine.read(range[0], out, range[1]), WARPSEAL_NOT_AUTHENTIC);
            EXPECT_EQ(machine.got, 0u);
            EXPECT_NE(
                std::string(machine.fault.message).find("chunk " + std::to_string(number) + ","),
                std::string::npos)
                << machine.fault.message;
            EXPECT_EQ(Data(out, out + range[1]), Data(range[1]));
            EXPECT_EQ(out[range[1]], untouched);
        }
        // Other chunks can be read.
        uint8_t* const out = machine.allocate(chunk);
        EXPECT_EQ(machine.read((number + 1) * chunk, out, chunk), WARPSEAL_OK);
    }
}

// A GPU that refuses any step: no text that was not verified stays.
TEST_F(DeviceText, OpeningFailsAtAnyStep) {
    const MemoryFile file(file_);
    uint64_t steps = 1;
    for (uint64_t n = 0; n < steps; n += 1 + n / 20)
        for (const warpseal_status failure : {WARPSEAL_OUT_OF_MEMORY, WARPSEAL_NO_DEVICE}) {
            SCOPED_TRACE(n);
            Machine machine({}, 1);
            ASSERT_EQ(machine.open(file, options_), WARPSEAL_OK) << machine.fault.message;
            const size_t bytes = 20 * chunk;
            uint8_t* const out = machine.allocate(bytes);
            // The first read tests the path.
            ASSERT_EQ(machine.read(0, out, 1), WARPSEAL_OK);
            std::memset(out, untouched, bytes);
            const uint64_t before = script().steps;
            script().failure = failure;
            if (n != 0) script().fail_at = before + n;
            const warpseal_status status = machine.read(9, out, bytes);
            EXPECT_EQ(status, n == 0 ? WARPSEAL_OK : failure) << machine.fault.message;
            if (n == 0) steps = script().steps - before + 1;
            if (n == 0) break;
            EXPECT_EQ(machine.got, 0u);
            const bool began = n > 1;  // the first step waits for the stream
            if (failure == WARPSEAL_OUT_OF_MEMORY && began) {
                EXPECT_EQ(Data(out, out + bytes), Data(bytes));
            }
            EXPECT_EQ(script().lost, failure == WARPSEAL_NO_DEVICE);
        }
    EXPECT_GE(steps, 20u);
}

TEST_F(DeviceText, SealsWhatItReads) {
    for (const size_t bytes :
         {size_t{0}, size_t{1}, chunk - 1, chunk, chunk + 1, 300 * chunk, text().size()}) {
        SCOPED_TRACE(bytes);
        Machine machine;
        uint8_t* const in = machine.allocate(bytes);
        std::copy(text().begin(), text().begin() + static_cast<ptrdiff_t>(bytes), in);
        const Outcome outcome = machine.seal(bytes == 0 ? nullptr : in, bytes, options_);
        ASSERT_EQ(outcome.status, WARPSEAL_OK) << outcome.result.message;
        EXPECT_EQ(outcome.result.plaintext_bytes, bytes);
        EXPECT_EQ(outcome.result.file_bytes, outcome.out.size());
        EXPECT_STREQ(outcome.result.target, "cuda");
        EXPECT_EQ(script().last_stream, &machine.stream);
        const Outcome opened = run(Operation::open, outcome.out, options_);
        ASSERT_EQ(opened.status, WARPSEAL_OK) << opened.result.message;
        EXPECT_TRUE(std::equal(in, in + bytes, opened.out.begin(), opened.out.end()));
    }
}

TEST_F(DeviceText, SealingFailsAtAnyStep) {
    uint64_t steps = 1;
    for (uint64_t n = 0; n < steps; ++n) {
        SCOPED_TRACE(n);
        Machine machine({}, 1);
        const size_t bytes = 20 * chunk + 5;
        uint8_t* const in = machine.allocate(bytes);
        std::copy(text().begin(), text().begin() + static_cast<ptrdiff_t>(bytes), in);
        ASSERT_EQ(machine.seal(in, bytes, options_).status, WARPSEAL_OK);
        const uint64_t before = script().steps;
        if (n != 0) script().fail_at = before + n;
        const Outcome outcome = machine.seal(in, bytes, options_);
        if (n == 0) steps = script().steps - before + 1;
        EXPECT_EQ(outcome.status == WARPSEAL_OK, n == 0) << outcome.result.message;
        if (outcome.status == WARPSEAL_OK) continue;
        EXPECT_NE(run(Operation::open, outcome.out, options_).status, WARPSEAL_OK);
        EXPECT_TRUE(std::equal(in, in + bytes, text().begin()));
    }
    EXPECT_GE(steps, 20u);
}

TEST_F(DeviceText, MemoryElsewhereIsRefused) {
    const MemoryFile file(file_);
    Machine machine;
    ASSERT_EQ(machine.open(file, options_), WARPSEAL_OK);
    Data host(chunk, untouched);
    EXPECT_EQ(machine.read(0, host.data(), chunk), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_NE(std::string(machine.fault.message).find("out is not in the memory of one GPU"),
              std::string::npos);
    EXPECT_EQ(host, Data(chunk, untouched)) << "host memory is not the GPU's to wipe";
    // A range that begins in device memory and ends past it.
    uint8_t* const out = machine.allocate(100);
    EXPECT_EQ(machine.read(0, out, 200), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(machine.seal(host.data(), chunk, options_).status, WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(machine.seal(out, 200, options_).status, WARPSEAL_INVALID_ARGUMENT);

    Machine cores({}, 1, "cpu");
    ASSERT_EQ(cores.open(file, options_), WARPSEAL_OK);
    EXPECT_EQ(cores.read(0, host.data(), chunk), WARPSEAL_NO_DEVICE);
    EXPECT_NE(std::string(cores.fault.message).find("the engine has no GPU"), std::string::npos);
    EXPECT_EQ(cores.seal(host.data(), chunk, options_).status, WARPSEAL_NO_DEVICE);
}

// The text goes to the GPU that has the memory.
TEST_F(DeviceText, TwoGpus) {
    const MemoryFile file(file_);
    Script plan;
    plan.device_count = 2;
    Machine machine(plan, 3, "cuda:0,1");
    ASSERT_EQ(machine.open(file, options_), WARPSEAL_OK);
    void* memory = nullptr;
    const warpseal::GpuBackend& backend = *machine.engine->cuda();
    ASSERT_EQ(backend.device_alloc(1, 3 * chunk, &memory), WARPSEAL_OK);
    auto* const out = static_cast<uint8_t*>(memory);
    const uint64_t first = script().host_calls_of[0];
    ASSERT_EQ(machine.read(3, out, 3 * chunk), WARPSEAL_OK) << machine.fault.message;
    EXPECT_TRUE(std::equal(out, out + 3 * chunk, text().begin() + 3));
    EXPECT_EQ(script().host_calls_of[0], first);
    EXPECT_GT(script().host_calls_of[1], 0u);
    backend.device_free(1, memory, 3 * chunk);
}

}  // namespace
}  // namespace tests
