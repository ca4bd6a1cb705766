// The order in which output is written, and inputs that change without changing their length.
#include <poll.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>

#include "calls.h"

namespace tests {
namespace {

using Order = Faults;

// Delays the worker with one segment before its read until a later segment was written: long where
// that must happen, briefly where it must not.
class LateSegment {
public:
    // `read_at` and `written_at`: offsets of the segment in input and output. error: errno of the
    // failing read.
    LateSegment(off_t read_at, off_t written_at, int error, bool overtaken) {
        const std::chrono::milliseconds wait(overtaken ? 30000 : 300);
        before_read_ = [this, read_at, error, wait](off_t at) {
            if (at != read_at) return 0;
            std::unique_lock lock(mutex_);
            overtaken_.wait_for(lock, wait, [&] { return was_overtaken_; });
            return error;
        };
        before_write_ = [this, written_at](off_t at) {
            const std::lock_guard lock(mutex_);
            was_overtaken_ = was_overtaken_ || at > written_at;
            overtaken_.notify_all();
            return 0;
        };
        reading.before = &before_read_;
        writing.before = &before_write_;
    }
    ~LateSegment() { reading.before = writing.before = nullptr; }
    bool was_overtaken() const { return was_overtaken_; }

private:
    std::function<int(off_t)> before_read_, before_write_;
    std::mutex mutex_;
    std::condition_variable overtaken_;
    bool was_overtaken_ = false;
};

// A regular file is written in order like a pipe, unless the caller accepts holes.
TEST_F(Order, AFailedCallLeavesAPrefix) {
    constexpr size_t segment = 16;  // chunks
    for (const size_t changed : {size_t{0}, size_t{5}, segment, segment + 4, 2 * segment - 1}) {
        Data damaged = file;
        damaged[chunks_at + changed * sealed_chunk + 7] ^= 1;
        const size_t first = changed / segment * segment;  // of its segment
        for (const bool any_order : {true, false}) {
            options.any_order = any_order ? 1 : 0;
            const LateSegment late(static_cast<off_t>(chunks_at + first * sealed_chunk),
                                   static_cast<off_t>(first * chunk), 0, any_order);
            const Outcome back = run(Operation::open, damaged, options, 4);
            ASSERT_EQ(back.status, WARPSEAL_NOT_AUTHENTIC);
            EXPECT_EQ(late.was_overtaken(), any_order) << changed;
            EXPECT_EQ(back.out.size() == changed * chunk, !any_order) << changed;
            EXPECT_EQ(is_prefix(back.out, text), !any_order) << changed;
            if (!any_order) {
                EXPECT_EQ(back.result.output_bytes, back.out.size());
                EXPECT_EQ(back.result.plaintext_bytes, back.out.size());
            }
        }
    }
}

TEST_F(Order, AFailedSealingLeavesAPrefix) {
    constexpr size_t first = 16;  // chunk of the second segment
    for (const bool any_order : {true, false}) {
        options.any_order = any_order ? 1 : 0;
        Outcome part;
        {
            const LateSegment late(first * chunk,
                                   static_cast<off_t>(chunks_at + first * sealed_chunk), EIO,
                                   any_order);
            part = run(Operation::seal, text, options, 4);
            EXPECT_EQ(late.was_overtaken(), any_order);
        }
        ASSERT_EQ(part.status, WARPSEAL_IO);
        EXPECT_EQ(part.out.size() == chunks_at + first * sealed_chunk, !any_order);
        options.any_order = 0;  // In any order an output with a gap is allowed.
        const Outcome back = run(Operation::open, part.out, options, 4);
        EXPECT_EQ(back.status, any_order ? WARPSEAL_NOT_AUTHENTIC : WARPSEAL_TRUNCATED);
        EXPECT_TRUE(is_prefix(back.out, text));
    }
}

// Called after the first segment: overwrites a byte of the input, which keeps its length.
struct Rewritten {
    int descriptor;
    bool hide;  // restores the modification time, as a program may
    static int now(void* user, uint64_t, uint64_t) {
        const Rewritten& change = *static_cast<Rewritten*>(user);
        struct stat before;
        EXPECT_EQ(fstat(change.descriptor, &before), 0);
        uint8_t byte = 0;
        EXPECT_EQ(pread(change.descriptor, &byte, 1, 5), 1);
        EXPECT_EQ(pwrite(change.descriptor, &byte, 1, 5), 1);
        const timespec times[] = {before.st_atim, before.st_mtim};
        EXPECT_EQ(change.hide ? futimens(change.descriptor, times) : 0, 0);
        return 0;
    }
};

// Other workers wait for their turn after a segment whose worker runs out of memory: they must be
// woken.
TEST_F(Order, AWorkerWithoutMemoryEndsTheCall) {
    constexpr size_t segment = 16;  // chunks
    for (const bool pipe : {false, true}) {
        std::atomic<bool> later_was_read{false};
        const std::function<int(off_t)> before_read = [&](off_t at) {
            if (at != static_cast<off_t>(chunks_at + segment * sealed_chunk)) {
                later_was_read =
                    later_was_read || at > static_cast<off_t>(chunks_at + segment * sealed_chunk);
                return 0;
            }
            for (int i = 0; i < 3000 && !later_was_read; ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
            std::this_thread::sleep_for(std::chrono::milliseconds(50));  // and waits for its turn
            throw std::bad_alloc();
        };
        reading.before = &before_read;
        (void)alarm(300);  // bounds a hang
        const Outcome back = run(Operation::open, file, options, 4, false, pipe);
        (void)alarm(0);
        reading.before = nullptr;
        EXPECT_EQ(back.status, WARPSEAL_OUT_OF_MEMORY) << back.result.message;
        EXPECT_EQ(back.out.size(), segment * chunk);
        EXPECT_TRUE(is_prefix(back.out, text));
    }
}

// Two segments fail, in either order: the result is the failure that is first in the file.
TEST_F(Order, TheFirstFailureInTheFileIsReported) {
    constexpr off_t first_at = chunks_at, second_at = chunks_at + 16 * sealed_chunk;
    for (const bool second_fails_first : {false, true}) {
        std::mutex mutex;
        std::condition_variable changed;
        int begun = 0;
        bool one_fails = false;
        const std::function<int(off_t)> before_read = [&](off_t at) {
            if (at != first_at && at != second_at) return 0;
            const bool is_second = at == second_at;
            std::unique_lock lock(mutex);
            const auto wait_until = [&](const auto& holds) {
                changed.wait_for(lock, std::chrono::seconds(60), holds);
            };
            ++begun;
            changed.notify_all();
            wait_until([&] { return begun == 2; });
            if (is_second == second_fails_first) {
                one_fails = true;
                changed.notify_all();
            } else {
                wait_until([&] { return one_fails; });
                lock.unlock();
                std::this_thread::sleep_for(std::chrono::milliseconds(50));  // it has failed
            }
            return is_second ? ENXIO : EIO;
        };
        reading.before = &before_read;
        const Outcome back = run(Operation::open, file, options, 4);
        reading.before = nullptr;
        EXPECT_EQ(begun, 2);
        EXPECT_EQ(back.status, WARPSEAL_IO);
        EXPECT_EQ(back.result.system_error, EIO) << back.result.message;
    }
}

TEST_F(Order, InputIsRewrittenAtEqualLength) {
    for (const Operation operation : {Operation::seal, Operation::open}) {
        for (const bool hide : {false, true}) {
            const MemoryFile in(operation == Operation::seal ? text : file), out;
            poll(nullptr, 0, 50);  // file timestamps advance in steps of some milliseconds
            Rewritten change = {in.get(), hide};
            options.progress = Rewritten::now;
            options.progress_user = &change;
            warpseal_file_result result;
            const warpseal_status status = call(operation, in.get(), out.get(), options, result);
            if (operation == Operation::open) {  // each chunk was verified as it was read
                EXPECT_EQ(status, WARPSEAL_OK) << result.message;
                continue;
            }
            EXPECT_EQ(status, WARPSEAL_IO) << hide;
            const std::string said = result.message;
            EXPECT_TRUE(said.find("was changed") != std::string::npos &&
                        said.find("while it was read") != std::string::npos)
                << said;
        }
    }
    options.progress = nullptr;
}

// Some file systems report too short a length. fstat(2) then shows no growth; only the byte past
// the end does.
TEST_F(Order, TheInputIsLongerThanItsFileSystemSays) {
    const MemoryFile in(text), out;
    reading.more_at = static_cast<off_t>(text.size());
    warpseal_file_result result;
    EXPECT_EQ(call(Operation::seal, in.get(), out.get(), options, result), WARPSEAL_IO);
    EXPECT_NE(std::string(result.message).find("grew"), std::string::npos) << result.message;
}

}  // namespace
}  // namespace tests
