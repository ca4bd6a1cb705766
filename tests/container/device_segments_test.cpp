// Segments of reads into device memory: the GPU works while the next one is read, reads share
// pinned memory, and each can do with one block of it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <thread>

#include "device_machine.h"
#include "engine/no_memory.h"
#include "engine/pinned_blocks.h"

namespace tests {
namespace {

using warpseal::PinnedBlocks;
using DeviceSegments = DeviceText;

// The text has segments of 128 chunks, and a last one of 6.
constexpr size_t step = 128, last = 4 * step;
const std::set<size_t> every_segment = {0, step, 2 * step, 3 * step, last};

// An input whose reads can be held, named by the first chunk that they read.
class HeldInput {
public:
    explicit HeldInput(const Data& file) : file_(file) {}

    ReaderInput input() {
        const auto read = [this](uint64_t offset, void* to, size_t bytes, size_t& got, Fault&) {
            got = std::min<size_t>(bytes, file_.size() - std::min<size_t>(offset, file_.size()));
            memcpy(to, file_.data() + offset, got);
            if (watches_ && offset >= chunks_at)
                begin(static_cast<size_t>(offset - chunks_at) / sealed_chunk);
            return WARPSEAL_OK;
        };
        return {read, file_.size()};
    }
    // From now on reads that begin at these chunks are held.
    void hold(const std::set<size_t>& numbers) {
        held_ = numbers;
        watches_ = true;
    }
    void let_go(const std::set<size_t>& numbers) {
        const std::lock_guard lock(mutex_);
        for (const size_t number : numbers) held_.erase(number);
        changed_.notify_all();
    }
    // Waits until so many reads of each of these chunks have begun. Returns false if they do not.
    bool wait_for(const std::set<size_t>& numbers, size_t count = 1) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::seconds(20), [&] {
            return std::all_of(numbers.begin(), numbers.end(),
                               [&](size_t number) { return threads_[number].size() >= count; });
        });
    }
    // The chunks at which reads have begun since hold().
    std::set<size_t> begun() {
        const std::lock_guard lock(mutex_);
        std::set<size_t> all;
        for (const auto& [number, threads] : threads_)
            if (!threads.empty()) all.insert(number);
        return all;
    }
    // The thread that first read from this chunk on.
    std::thread::id thread_of(size_t number) {
        const std::lock_guard lock(mutex_);
        return threads_[number].empty() ? std::thread::id() : threads_[number][0];
    }

private:
    void begin(size_t number) {
        std::unique_lock lock(mutex_);
        threads_[number].push_back(std::this_thread::get_id());
        changed_.notify_all();
        changed_.wait(lock, [&] { return held_.count(number) == 0; });
    }

    const Data& file_;
    std::atomic<bool> watches_{false};
    std::mutex mutex_;
    std::condition_variable changed_;
    std::set<size_t> held_;
    std::map<size_t, std::vector<std::thread::id>> threads_;
};

// A thread that reads; `got` is right once it has ended.
struct ReadingThread {
    ReadingThread(const Machine& machine, uint64_t offset, uint8_t* out, size_t bytes)
        : thread([this, &machine, offset, out, bytes] {
              Fault fault;
              const char* target = nullptr;
              int stream = 0;
              const warpseal_status status =
                  machine.reader->read_at_device(offset, out, bytes, &stream, got, target, fault);
              EXPECT_EQ(status, WARPSEAL_OK) << fault.message;
          }) {}
    ~ReadingThread() {
        if (thread.joinable()) thread.join();
    }

    size_t got = 0;
    std::thread thread;
};

// Numbers of segments that a thread had begun to read, each time that it waited for the GPU.
std::vector<size_t> begun_at_waits(const Data& file, const Options& options, const Script& plan) {
    HeldInput input(file);
    Machine machine(plan, 1);
    EXPECT_EQ(machine.open(input.input(), options), WARPSEAL_OK) << machine.fault.message;
    uint8_t* const out = machine.allocate(text().size());
    EXPECT_EQ(machine.read(0, out, 1), WARPSEAL_OK);  // tests the path
    input.hold({});
    std::vector<size_t> begun;
    script().before_resident_ends = [&] { begun.push_back(input.begun().size()); };
    EXPECT_EQ(machine.read(0, out, text().size()), WARPSEAL_OK) << machine.fault.message;
    script().before_resident_ends = {};
    EXPECT_EQ(input.begun(), every_segment);
    EXPECT_TRUE(std::equal(text().begin(), text().end(), out));
    EXPECT_EQ(script().resident_in_flight, 0u);
    EXPECT_EQ(machine.engine->pinned_blocks().in_use(), 0u);
    return begun;
}

// One thread waits for a segment only when it has read the next. The last segment is two batches:
// its short chunk is another.
TEST_F(DeviceSegments, TheGpuWorksWhileTheNextOneIsRead) {
    EXPECT_EQ(begun_at_waits(file_, options_, {}), (std::vector<size_t>{2, 3, 4, 5, 5, 5}));
    EXPECT_EQ(script().host_allocations, 2u);
}

// With pinned memory for one block alone, or for none, a segment follows the other.
TEST_F(DeviceSegments, OneBlockIsEnough) {
    for (const size_t pinnable : {1, 0}) {
        Script plan;
        plan.pinnable = pinnable;
        EXPECT_EQ(begun_at_waits(file_, options_, plan), (std::vector<size_t>{1, 2, 3, 4, 5, 5}));
        EXPECT_EQ(script().host_allocations, pinnable);
        EXPECT_EQ(script().live_host_allocations, 0u);
    }
}

// Reads of one reader, and of readers that are opened later, use the same memory.
TEST_F(DeviceSegments, PinnedMemoryIsKeptAcrossReaders) {
    const MemoryFile file(file_);
    Machine machine;
    uint8_t* const out = machine.allocate(text().size());
    for (int i = 0; i < 6; ++i) {
        ASSERT_EQ(machine.open(file, options_), WARPSEAL_OK) << machine.fault.message;
        ASSERT_EQ(machine.read(0, out, text().size()), WARPSEAL_OK) << machine.fault.message;
        machine.reader.reset();
        EXPECT_GE(script().live_host_allocations, 1u);
    }
    EXPECT_LE(script().host_allocations, 6u) << "more than two for each of three workers";
    EXPECT_EQ(script().live_host_allocations, script().host_allocations) << "one was freed";
}

// A read has at most two blocks for each thread that works for it, and one if none does.
TEST_F(DeviceSegments, BlocksAreOfReadsThatUseThem) {
    HeldInput input(file_);
    Machine machine({}, 2);
    ASSERT_EQ(machine.open(input.input(), options_), WARPSEAL_OK) << machine.fault.message;
    const size_t all = text().size();
    uint8_t *const out = machine.allocate(2 * all), *const other_out = out + all;
    input.hold({0, step, 2 * step, 1, step + 1});
    const uint64_t before = script().host_allocations;
    {
        ReadingThread one(machine, 0, out, all);
        EXPECT_TRUE(input.wait_for({0, step}));
        ReadingThread other(machine, chunk, other_out, all - chunk);
        EXPECT_TRUE(input.wait_for({1}));
        EXPECT_EQ(script().host_allocations - before, 3u);
        // The engine's thread goes on with a second block.
        const size_t engines = input.thread_of(0) == one.thread.get_id() ? step : 0;
        input.let_go({engines});
        EXPECT_TRUE(input.wait_for({2 * step}));
        EXPECT_EQ(script().host_allocations - before, 4u);
        // It ends its work for the first read. A block of it is then the other's.
        input.let_go({2 * step});
        EXPECT_TRUE(input.wait_for({step + 1}));
        EXPECT_EQ(script().host_allocations - before, 4u);
        input.let_go({0, step, 1, step + 1});
        one.thread.join();
        other.thread.join();
        EXPECT_EQ(one.got, all);
        EXPECT_EQ(other.got, all - chunk);
    }
    EXPECT_TRUE(std::equal(out, out + all, text().begin()));
    EXPECT_TRUE(std::equal(other_out, other_out + all - chunk, text().begin() + chunk));
}

// Reads of the last byte of the text, held in their inputs, that use all shared blocks.
class Others {
public:
    static constexpr size_t count = PinnedBlocks::most_shared, chunk_number = 2 * 256 + 5;

    // out: device memory of `count` bytes.
    Others(Machine& machine, HeldInput& input, uint8_t* out) : input_(input), out_(out) {
        for (size_t i = 0; i < count; ++i)
            threads_.push_back(
                std::make_unique<ReadingThread>(machine, text().size() - 1, out + i, 1));
        EXPECT_TRUE(input.wait_for({chunk_number}, count));
        EXPECT_EQ(machine.engine->pinned_blocks().in_use(), count);
    }
    ~Others() { end(); }
    void end() {
        input_.let_go({chunk_number});
        threads_.clear();
        EXPECT_EQ(Data(out_, out_ + count), Data(count, text().back()));
    }

private:
    HeldInput& input_;
    uint8_t* const out_;
    std::vector<std::unique_ptr<ReadingThread>> threads_;
};

// While others use all shared blocks, a read goes on with its own, and frees it at its end.
TEST_F(DeviceSegments, NoReadWaitsForAnother) {
    for (const unsigned threads : {1u, 3u}) {
        HeldInput input(file_);
        Machine machine({}, threads);
        ASSERT_EQ(machine.open(input.input(), options_), WARPSEAL_OK) << machine.fault.message;
        const size_t bytes = 3 * step * chunk;
        uint8_t* const out = machine.allocate(bytes + Others::count);
        input.hold({Others::chunk_number});
        Others others(machine, input, out + bytes);
        ASSERT_EQ(machine.read(0, out, bytes), WARPSEAL_OK) << machine.fault.message;
        EXPECT_TRUE(std::equal(out, out + bytes, text().begin()));
        EXPECT_EQ(machine.engine->pinned_blocks().in_use(), Others::count);
    }
}

// A read that began while others used all blocks goes on with what they release.
TEST_F(DeviceSegments, ReleasedBlocksGoToReadsInProgress) {
    HeldInput input(file_);
    Machine machine({}, 3);
    ASSERT_EQ(machine.open(input.input(), options_), WARPSEAL_OK) << machine.fault.message;
    const size_t all = text().size();
    uint8_t* const out = machine.allocate(all + Others::count);
    input.hold({Others::chunk_number, 0, step, 2 * step});
    Others others(machine, input, out + all);
    {
        ReadingThread reading(machine, 0, out, all);
        EXPECT_TRUE(input.wait_for({0}));
        // The engine's threads now find no block; if they come later, they find one.
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        EXPECT_EQ(machine.engine->pinned_blocks().in_use(), Others::count + 1);
        others.end();
        input.let_go({0});
        EXPECT_TRUE(input.wait_for({step, 2 * step})) << "one thread does all the work";
        input.let_go({step, 2 * step});
        reading.thread.join();
        EXPECT_EQ(reading.got, all);
    }
    EXPECT_TRUE(std::equal(out, out + all, text().begin()));
    EXPECT_EQ(machine.engine->pinned_blocks().in_use(), 0u);
}

// A read that finds all shared blocks in use, from its start to its end, goes on with its own one.
TEST_F(DeviceSegments, OthersUseAllBlocks) {
    const MemoryFile file(file_);
    for (const unsigned threads : {1u, 3u}) {
        Machine machine({}, threads);
        ASSERT_EQ(machine.open(file, options_), WARPSEAL_OK) << machine.fault.message;
        uint8_t* const out = machine.allocate(text().size());
        std::vector<PinnedBlocks::Lease> others;
        bool all_in_use = false;
        while (others.size() < PinnedBlocks::most_shared) {
            others.push_back(machine.engine->pinned_blocks().acquire(false, all_in_use));
            ASSERT_NE(others.back(), nullptr);
        }
        EXPECT_EQ(machine.read(0, out, text().size()), WARPSEAL_OK) << machine.fault.message;
        EXPECT_TRUE(std::equal(text().begin(), text().end(), out));
        EXPECT_EQ(machine.engine->pinned_blocks().in_use(), PinnedBlocks::most_shared);
    }
}

// Segments of a large read grow until they fill a block, with the IVs and results beside them.
TEST_F(DeviceSegments, LargeReadsFillTheirBlocks) {
    const Data large = Random(611).text(1300 * chunk + 5);
    const Data file = sealed(large, options_.key());
    HeldInput input(file);
    Machine machine({}, 1);
    ASSERT_EQ(machine.open(input.input(), options_), WARPSEAL_OK) << machine.fault.message;
    uint8_t* const out = machine.allocate(large.size());
    input.hold({});
    ASSERT_EQ(machine.read(0, out, large.size()), WARPSEAL_OK) << machine.fault.message;
    EXPECT_TRUE(std::equal(large.begin(), large.end(), out));
    size_t longest = 0, before = 0;
    for (const size_t first : input.begun()) {
        longest = std::max(longest, first - before);
        before = first;
    }
    EXPECT_GT(longest, 250u) << "no segment has grown to a block";
}

// A damaged chunk of a segment that is found after later ones were read: the first is reported.
TEST_F(DeviceSegments, TheFirstFailureIsReported) {
    for (const unsigned threads : {1u, 3u}) {
        Data damaged = file_;
        for (const size_t number : {step + 7, 2 * step + 3, last + 1})
            damaged[chunks_at + number * sealed_chunk + 44] ^= 1;
        const MemoryFile file(damaged);
        Machine machine({}, threads);
        ASSERT_EQ(machine.open(file, options_), WARPSEAL_OK) << machine.fault.message;
        uint8_t* const out = machine.allocate(text().size());
        ASSERT_EQ(machine.read(0, out, text().size()), WARPSEAL_NOT_AUTHENTIC);
        EXPECT_NE(
            std::string(machine.fault.message).find("chunk " + std::to_string(step + 7) + ","),
            std::string::npos)
            << machine.fault.message;
        EXPECT_EQ(Data(out, out + text().size()), Data(text().size()));
        EXPECT_EQ(out[text().size()], untouched);
        EXPECT_EQ(script().resident_in_flight, 0u);
        EXPECT_EQ(machine.engine->pinned_blocks().in_use(), 0u);
    }
}

// A file that shrank: the segments in flight end before the memory is wiped.
TEST_F(DeviceSegments, AnInputThatFailsMidway) {
    HeldInput whole(file_);
    Machine machine({}, 1);
    const ReaderInput input = whole.input();
    bool fails = false;
    const auto read = [&](uint64_t offset, void* to, size_t bytes, size_t& got, Fault& fault) {
        if (fails && offset >= chunks_at + 2 * step * sealed_chunk)
            return fault.say(WARPSEAL_IO, "no such sector");
        return input.read(offset, to, bytes, got, fault);
    };
    ASSERT_EQ(machine.open(ReaderInput{read, file_.size()}, options_), WARPSEAL_OK);
    uint8_t* const out = machine.allocate(text().size());
    fails = true;
    EXPECT_EQ(machine.read(0, out, text().size()), WARPSEAL_IO);
    EXPECT_STREQ(machine.fault.message, "no such sector");
    EXPECT_EQ(Data(out, out + text().size()), Data(text().size()));
    EXPECT_EQ(script().resident_in_flight, 0u);
    EXPECT_EQ(machine.engine->pinned_blocks().in_use(), 0u);
}

// A GPU that refuses any step of a read of several segments.
TEST_F(DeviceSegments, AnyStepOfSeveralFails) {
    const MemoryFile file(file_);
    uint64_t steps = 1;
    for (uint64_t n = 0; n < steps; n += 1 + n / 6)
        for (const warpseal_status failure : {WARPSEAL_OUT_OF_MEMORY, WARPSEAL_NO_DEVICE}) {
            SCOPED_TRACE(n);
            Machine machine({}, 1);
            ASSERT_EQ(machine.open(file, options_), WARPSEAL_OK) << machine.fault.message;
            uint8_t* const out = machine.allocate(text().size());
            ASSERT_EQ(machine.read(0, out, 1), WARPSEAL_OK);
            std::memset(out, untouched, text().size());
            const uint64_t before = script().steps;
            script().failure = failure;
            if (n != 0) script().fail_at = before + n;
            const warpseal_status status = machine.read(0, out, text().size());
            if (n == 0) steps = script().steps - before + 1;
            if (status == WARPSEAL_OK) {  // the second block could not be pinned
                EXPECT_TRUE(n < 4) << n;
                EXPECT_TRUE(std::equal(text().begin(), text().end(), out));
            } else {
                EXPECT_EQ(status, failure) << machine.fault.message;
                EXPECT_EQ(machine.got, 0u);
            }
            if (status == WARPSEAL_OUT_OF_MEMORY && n > 1) {
                EXPECT_EQ(Data(out, out + text().size()), Data(text().size()));
            }
            EXPECT_EQ(script().resident_in_flight, 0u);
            EXPECT_EQ(script().calls_after_lost, 0u);
            EXPECT_EQ(machine.engine->pinned_blocks().in_use(), 0u);
            if (n == 0) break;
        }
    EXPECT_GE(steps, 500u);
}

// Memory of the host that is missing for any request of the calling thread.
TEST_F(DeviceSegments, AnyAllocationFails) {
    const MemoryFile file(file_);
    long failed = 0;
    for (long n = 0;; ++n) {
        SCOPED_TRACE(n);
        ASSERT_LT(n, 1000);
        Machine machine({}, 1);
        ASSERT_EQ(machine.open(file, options_), WARPSEAL_OK) << machine.fault.message;
        uint8_t* const out = machine.allocate(text().size());
        const size_t begin = chunk - 1, bytes = text().size() - begin;
        ASSERT_EQ(machine.read(0, out, 1), WARPSEAL_OK);
        refused_once = true;
        requests_met = n;
        const warpseal_status status = machine.read(begin, out, bytes);
        const bool enough = requests_met >= 0;
        requests_met = -1;
        EXPECT_EQ(script().resident_in_flight, 0u);
        EXPECT_EQ(machine.engine->pinned_blocks().in_use(), 0u);
        if (status == WARPSEAL_OK) {
            EXPECT_TRUE(std::equal(out, out + bytes, text().begin() + begin));
        } else {
            ++failed;
            EXPECT_EQ(status, WARPSEAL_OUT_OF_MEMORY);
            EXPECT_EQ(Data(out, out + bytes), Data(bytes));
        }
        if (enough) break;
    }
    EXPECT_GE(failed, 5);
}

}  // namespace
}  // namespace tests
