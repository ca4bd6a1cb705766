// Segments of pinned memory that reads into device memory share: their bound, failed allocations,
// and which reads have them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <thread>

#include "container/pipeline/pinned_segments.h"
#include "device_machine.h"
#include "engine/no_memory.h"

namespace tests {
namespace {

using warpseal::container::PinnedSegments;
using DeviceSegments = DeviceText;

// Leases of all shared segments.
std::vector<PinnedSegments::Lease> all_shared(PinnedSegments& pinned, warpseal::Engine& engine) {
    std::vector<PinnedSegments::Lease> leases;
    bool all_in_use = false;
    while (PinnedSegments::Lease lease = pinned.acquire(engine, false, all_in_use)) {
        EXPECT_FALSE(all_in_use);
        leases.push_back(std::move(lease));
        if (leases.size() > 64) break;
    }
    EXPECT_TRUE(all_in_use);
    EXPECT_EQ(pinned.available(), 0u);
    return leases;
}

// Reads share 256 MiB. Beyond them each gets the one segment that it needs.
TEST_F(DeviceSegments, PinnedMemoryIsBounded) {
    Machine machine;
    PinnedSegments pinned;
    bool all_in_use = false;
    {
        std::vector<PinnedSegments::Lease> leases = all_shared(pinned, *machine.engine);
        EXPECT_LE(leases.size() * 256 * sealed_chunk, size_t{256} << 20);
        EXPECT_GT((leases.size() + 1) * 256 * sealed_chunk, size_t{256} << 20);
        {
            const auto needed = pinned.acquire(*machine.engine, true, all_in_use);
            ASSERT_NE(needed, nullptr);
            EXPECT_FALSE(all_in_use);
        }
        EXPECT_EQ(pinned.acquire(*machine.engine, false, all_in_use), nullptr);
        const uint64_t allocations = script().live_host_allocations;
        leases.pop_back();
        EXPECT_EQ(pinned.available(), 1u);
        EXPECT_NE(pinned.acquire(*machine.engine, false, all_in_use), nullptr);
        EXPECT_EQ(script().live_host_allocations, allocations) << "a released one is used again";
    }
    EXPECT_EQ(pinned.available(), PinnedSegments::most_shared);
}

// An allocation that fails or throws does not count as a segment in use.
TEST_F(DeviceSegments, FailedAllocationsAreNotInUse) {
    Machine machine;
    PinnedSegments pinned;
    long failures = 0;
    for (bool succeeds = false; !succeeds; failures += succeeds ? 0 : 1) {
        bool all_in_use = false;
        refused_once = true;
        requests_met = failures;
        try {
            succeeds = pinned.acquire(*machine.engine, false, all_in_use) != nullptr;
        } catch (const std::bad_alloc&) {
        }
        requests_met = -1;
        ASSERT_LT(failures, 100);
    }
    EXPECT_GE(failures, 5);
    EXPECT_EQ(pinned.available(), PinnedSegments::most_shared);
    EXPECT_EQ(all_shared(pinned, *machine.engine).size(), PinnedSegments::most_shared);
}

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

// A read has as many segments as threads that work for it, and none that waits for a thread.
TEST_F(DeviceSegments, SegmentsAreOfReadsThatUseThem) {
    HeldInput input(file_);
    Machine machine({}, 2);
    ASSERT_EQ(machine.open(input.input(), options_), WARPSEAL_OK) << machine.fault.message;
    const size_t all = text().size();
    uint8_t *const out = machine.allocate(2 * all), *const other_out = out + all;
    input.hold({0, 256, 512, 1, 257, 513});
    const uint64_t before = script().live_host_allocations;
    {
        ReadingThread one(machine, 0, out, all);
        EXPECT_TRUE(input.wait_for({0, 256}));
        ReadingThread other(machine, chunk, other_out, all - chunk);
        EXPECT_TRUE(input.wait_for({1}));
        EXPECT_EQ(script().live_host_allocations - before, 3u);
        // The engine's thread ends its work for the first read. Its segment is then the other's.
        const size_t engines = input.thread_of(0) == one.thread.get_id() ? 256 : 0;
        input.let_go({engines, 512});
        EXPECT_TRUE(input.wait_for({257}));
        EXPECT_EQ(script().live_host_allocations - before, 3u);
        input.let_go({0, 256, 1, 257, 513});
        one.thread.join();
        other.thread.join();
        EXPECT_EQ(one.got, all);
        EXPECT_EQ(other.got, all - chunk);
    }
    EXPECT_TRUE(std::equal(out, out + all, text().begin()));
    EXPECT_TRUE(std::equal(other_out, other_out + all - chunk, text().begin() + chunk));
}

// A read that began while others used all segments goes on with what they release.
TEST_F(DeviceSegments, ReleasedSegmentsGoToReadsInProgress) {
    constexpr size_t others = PinnedSegments::most_shared, last = 2 * 256 + 5;
    HeldInput input(file_);
    Machine machine({}, 3);
    ASSERT_EQ(machine.open(input.input(), options_), WARPSEAL_OK) << machine.fault.message;
    const size_t all = text().size();
    uint8_t* const out = machine.allocate(all + others);
    input.hold({last, 0, 256, 512});
    std::vector<std::unique_ptr<ReadingThread>> threads;
    for (size_t i = 0; i < others; ++i)
        threads.push_back(std::make_unique<ReadingThread>(machine, all - 1, out + all + i, 1));
    EXPECT_TRUE(input.wait_for({last}, others));
    {
        ReadingThread reading(machine, 0, out, all);
        EXPECT_TRUE(input.wait_for({0}));
        // The engine's threads now find no segment; if they come later, they find one.
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        input.let_go({last});
        threads.clear();
        input.let_go({0});
        EXPECT_TRUE(input.wait_for({256, 512})) << "one thread does all the work";
        input.let_go({256, 512});
        reading.thread.join();
        EXPECT_EQ(reading.got, all);
    }
    EXPECT_TRUE(std::equal(out, out + all, text().begin()));
    EXPECT_EQ(Data(out + all, out + all + others), Data(others, text().back()));
}

}  // namespace
}  // namespace tests
