// What the machine does wrong: system calls that fail or do less than asked, files that change underneath, no random bytes.
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <mutex>

#include "container_support.h"

// The calls that the container makes, in front of libc's: each may be told to fail, or to move few bytes.
namespace {

struct Script {
    std::atomic<int> countdown{-1};  // calls until the one that fails; negative: none
    int error = 0;
    std::atomic<size_t> at_most{SIZE_MAX};  // bytes a call moves
    std::atomic<int> interrupts{0};         // every other call fails with EINTR while positive
    std::atomic<int> calls{0};
    off_t more_at = -1;                // a byte is there, whatever the file's length
    std::function<int(off_t)> before;  // each call, with its place; an errno other than 0 is how it fails

    bool fails(off_t at = 0) {
        ++calls;
        if (const int refused = before ? before(at) : 0) {
            errno = refused;
            return true;
        }
        if (interrupts > 0 && interrupts-- % 2 == 0) {
            errno = EINTR;
            return true;
        }
        if (countdown < 0 || countdown-- != 0) return false;
        errno = error;
        return true;
    }
};
Script reading, writing, drawing;

long moved(Script& script, long number, int descriptor, const iovec* buffers, int count, off_t offset) {
    if (script.fails(offset)) return -1;
    if (offset != 0 && offset == script.more_at) return 1;
    iovec shortened = buffers[0];
    if (script.at_most < SIZE_MAX) {
        shortened.iov_len = std::min(shortened.iov_len, script.at_most.load());
        buffers = &shortened;
        count = 1;
    }
    return syscall(number, descriptor, buffers, count, offset, 0);
}

}  // namespace

extern "C" {
ssize_t preadv(int fd, const iovec* v, int n, off_t at) { return moved(reading, SYS_preadv, fd, v, n, at); }
ssize_t readv(int fd, const iovec* v, int n) { return moved(reading, SYS_readv, fd, v, n, 0); }
ssize_t pwritev(int fd, const iovec* v, int n, off_t at) { return moved(writing, SYS_pwritev, fd, v, n, at); }
ssize_t writev(int fd, const iovec* v, int n) { return moved(writing, SYS_writev, fd, v, n, 0); }
ssize_t getrandom(void* out, size_t bytes, unsigned flags) {
    if (drawing.fails()) return -1;
    return syscall(SYS_getrandom, out, std::min(bytes, drawing.at_most.load()), flags);
}
}

namespace tests {
namespace {

class Faults : public testing::Test {
protected:
    Faults() : text(Random(300).text(40 * chunk + 9)) {
        options.key();
        file = sealed(text, options);
    }
    ~Faults() override {
        for (Script* script : {&reading, &writing, &drawing}) {
            script->countdown = -1;
            script->at_most = SIZE_MAX;
            script->interrupts = 0;
            script->before = nullptr;
            script->more_at = -1;
        }
    }
    Options options;
    const Data text;
    Data file;
};

TEST_F(Faults, EachCallFailsOnce) {
    size_t failures = 0;
    for (const Way way : {Way::seal, Way::open}) {
        for (const int pipes : {0, 3}) {
            for (const auto& [script, error] : {std::pair{&reading, EIO},
                                                {&reading, EISDIR},
                                                {&writing, EIO},
                                                {&writing, ENOSPC},
                                                {&writing, EPIPE},
                                                {&writing, EFBIG}}) {
                for (int n = 0;; ++n) {
                    script->error = error;
                    script->countdown = n;
                    const Outcome outcome = run(way, way == Way::seal ? text : file, options, n % 2 == 0 ? 1 : 4, pipes & 1, pipes & 2);
                    const bool happened = script->countdown < 0;
                    script->countdown = -1;
                    if (!happened) {
                        EXPECT_EQ(outcome.status, WARPSEAL_OK);
                        EXPECT_GE(n, 3);
                        break;
                    }
                    ++failures;
                    ASSERT_EQ(outcome.status, WARPSEAL_IO) << n;
                    ASSERT_EQ(outcome.result.system_error, error);
                    ASSERT_NE(std::string(outcome.result.message).find(strerrordesc_np(error)), std::string::npos)
                        << outcome.result.message;
                    if (way == Way::open && pipes != 0) {
                        ASSERT_TRUE(is_prefix(outcome.out, text));
                    }
                }
            }
        }
    }
    EXPECT_GT(failures, 100u);
}

TEST_F(Faults, InterruptsAndShortCountsChangeNothing) {
    for (const size_t at_most : {size_t{1000}, size_t{16384}, size_t{16399}}) {
        for (const int pipes : {0, 3}) {
            for (Script* script : {&reading, &writing}) {
                script->at_most = at_most;
                script->interrupts = 1000000;
            }
            const Outcome outcome = run(Way::seal, text, options, 4, pipes & 1, pipes & 2);
            ASSERT_EQ(outcome.status, WARPSEAL_OK) << outcome.result.message;
            const Outcome back = run(Way::open, outcome.out, options, 4, pipes & 1, pipes & 2);
            ASSERT_EQ(back.status, WARPSEAL_OK) << back.result.message;
            EXPECT_TRUE(back.out == text);
        }
    }
    const Data little = Random(301).text(300);
    for (Script* script : {&reading, &writing}) script->at_most = 1;
    EXPECT_TRUE(run(Way::open, run(Way::seal, little, options).out, options).out == little);
}

TEST_F(Faults, NoRandomBytesNoFile) {
    Options both;
    both.key().passphrase("p");
    sealed(text, both);  // libsodium draws once when it starts, and can do without
    for (int n = 0;; ++n) {
        drawing.error = ENOSYS;
        drawing.countdown = n;
        const Outcome outcome = run(Way::seal, text, both);
        if (drawing.countdown >= 0) {
            EXPECT_EQ(outcome.status, WARPSEAL_OK);
            EXPECT_EQ(n, 6);  // file id, data key, two slot salts, a passphrase salt, a payload salt
            break;
        }
        ASSERT_EQ(outcome.status, WARPSEAL_NO_RANDOM) << n;
        EXPECT_TRUE(outcome.out.empty());
    }
    drawing.countdown = -1;
    drawing.at_most = 3;
    drawing.interrupts = 1000;
    EXPECT_EQ(run(Way::open, run(Way::seal, text, both).out, both).status, WARPSEAL_OK);
}

// Called back after the first piece: cuts or lengthens the input.
struct Change {
    int descriptor;
    off_t bytes;
    static int now(void* user, uint64_t, uint64_t) {
        const Change& change = *static_cast<Change*>(user);
        EXPECT_EQ(ftruncate(change.descriptor, change.bytes), 0);
        return 0;
    }
};

TEST_F(Faults, InputChangesLength) {
    for (const Way way : {Way::seal, Way::open}) {
        const Data& whole = way == Way::seal ? text : file;
        const auto size = static_cast<off_t>(whole.size());
        for (const off_t bytes : {off_t{0}, off_t{1}, size / 2, size - 1, size + 1, size + 100000}) {
            const MemoryFile in(whole), out;
            Change change = {in.get(), bytes};
            options.progress = Change::now;
            options.progress_user = &change;
            warpseal_file_result result;
            EXPECT_EQ(call(way, in.get(), out.get(), options, result), WARPSEAL_IO) << bytes;
            EXPECT_NE(std::string(result.message), "");
        }
    }
    options.progress = nullptr;
}

TEST_F(Faults, WrongKindsOfDescriptor) {
    warpseal_file_result result;
    const MemoryFile in(text), out;
    const int folder = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), full = ::open("/dev/full", O_WRONLY | O_CLOEXEC),
              nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC), status = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(call(Way::seal, folder, out.get(), options, result), WARPSEAL_IO);
    EXPECT_EQ(result.system_error, EISDIR);
    EXPECT_EQ(call(Way::seal, in.get(), full, options, result), WARPSEAL_IO);
    EXPECT_EQ(result.system_error, ENOSPC);
    EXPECT_EQ(call(Way::seal, 999, out.get(), options, result), WARPSEAL_IO);
    EXPECT_EQ(result.system_error, EBADF);
    EXPECT_EQ(call(Way::seal, in.get(), 999, options, result), WARPSEAL_IO);
    EXPECT_EQ(result.system_error, EBADF);
    in.rewind();
    EXPECT_EQ(call(Way::seal, in.get(), in.get(), options, result), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_TRUE(in.data() == text);
    EXPECT_EQ(call(Way::seal, nothing, nothing, options, result), WARPSEAL_OK);
    EXPECT_EQ(result.plaintext_bytes, 0u);
    EXPECT_EQ(call(Way::seal, status, nothing, options, result), WARPSEAL_OK);  // a regular file of length 0 that is not empty
    EXPECT_GT(result.plaintext_bytes, 0u);
    EXPECT_EQ(call(Way::open, nothing, nothing, options, result), WARPSEAL_TRUNCATED);
    for (const int descriptor : {folder, full, nothing, status}) close(descriptor);
}

TEST_F(Faults, NobodyReadsTheOutput) {
    std::signal(SIGPIPE, SIG_IGN);
    for (const unsigned threads : {1u, 4u}) {
        int ends[2];
        ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
        close(ends[0]);
        const MemoryFile in(file);
        warpseal_file_result result;
        EXPECT_EQ(call(Way::open, in.get(), ends[1], options, result, threads), WARPSEAL_IO);
        EXPECT_EQ(result.system_error, EPIPE);
        close(ends[1]);
    }
}

TEST_F(Faults, AFileThatMayNotGrow) {
    rlimit before;
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, SIG_IGN);
    char name[] = "/tmp/warpseal-limit-XXXXXX";
    const int out = mkostemp(name, O_CLOEXEC);
    unlink(name);
    const rlimit low = {300000, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
    const int in = memfd_create("input", MFD_CLOEXEC);
    warpseal_file_result result;
    lseek(in, 0, SEEK_SET);
    Data part(text.begin(), text.begin() + 290000);
    EXPECT_EQ(pwrite(in, part.data(), part.size(), 0), static_cast<ssize_t>(part.size()));
    EXPECT_EQ(call(Way::seal, in, out, options, result, 4), WARPSEAL_IO);
    EXPECT_EQ(result.system_error, EFBIG);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    close(in);
    close(out);
}

// The worker with one piece waits before it reads until a later piece was written, for so long as that may take.
class LatePiece {
public:
    // `read_at` and `written_at`: where the piece begins in the input and in the output. error: how the read fails then.
    LatePiece(off_t read_at, off_t written_at, int error) {
        reading.before = [this, read_at, error](off_t at) {
            if (at != read_at) return 0;
            std::unique_lock lock(mutex_);
            overtaken_.wait_for(lock, std::chrono::milliseconds(300), [&] { return was_overtaken_; });
            return error;
        };
        writing.before = [this, written_at](off_t at) {
            const std::lock_guard lock(mutex_);
            was_overtaken_ = was_overtaken_ || at > written_at;
            overtaken_.notify_all();
            return 0;
        };
    }
    ~LatePiece() { reading.before = writing.before = nullptr; }
    bool was_overtaken() const { return was_overtaken_; }

private:
    std::mutex mutex_;
    std::condition_variable overtaken_;
    bool was_overtaken_ = false;
};

// A regular file is written in order as a pipe is, unless the caller takes holes.
TEST_F(Faults, AFailedCallLeavesAPrefix) {
    constexpr size_t piece = 16;  // chunks
    for (const size_t changed : {size_t{0}, size_t{5}, piece, piece + 4, 2 * piece - 1}) {
        Data damaged = file;
        damaged[chunks_at + changed * sealed_chunk + 7] ^= 1;
        const size_t first = changed / piece * piece;  // of its piece
        for (const bool any_order : {true, false}) {
            options.any_order = any_order ? 1 : 0;
            const LatePiece late(static_cast<off_t>(chunks_at + first * sealed_chunk), static_cast<off_t>(first * chunk), 0);
            const Outcome back = run(Way::open, damaged, options, 4);
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

TEST_F(Faults, AFailedSealingLeavesAPrefix) {
    constexpr size_t first = 16;  // chunk of the second piece
    for (const bool any_order : {true, false}) {
        options.any_order = any_order ? 1 : 0;
        Outcome part;
        {
            const LatePiece late(first * chunk, static_cast<off_t>(chunks_at + first * sealed_chunk), EIO);
            part = run(Way::seal, text, options, 4);
            EXPECT_EQ(late.was_overtaken(), any_order);
        }
        ASSERT_EQ(part.status, WARPSEAL_IO);
        EXPECT_EQ(part.out.size() == chunks_at + first * sealed_chunk, !any_order);
        const Outcome back = run(Way::open, part.out, options, 4);
        EXPECT_EQ(back.status, any_order ? WARPSEAL_NOT_AUTHENTIC : WARPSEAL_TRUNCATED);
        EXPECT_TRUE(is_prefix(back.out, text));
    }
}

// Called back after the first piece: writes a byte over the input's, which keeps its length.
struct Rewritten {
    int descriptor;
    bool hide;  // the time of modification is put back, as a program may
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

TEST_F(Faults, InputIsRewrittenAtEqualLength) {
    for (const Way way : {Way::seal, Way::open}) {
        for (const bool hide : {false, true}) {
            const MemoryFile in(way == Way::seal ? text : file), out;
            poll(nullptr, 0, 50);  // the clock of files goes in steps of some milliseconds
            Rewritten change = {in.get(), hide};
            options.progress = Rewritten::now;
            options.progress_user = &change;
            warpseal_file_result result;
            const warpseal_status status = call(way, in.get(), out.get(), options, result);
            if (way == Way::open) {  // each chunk was verified as it was read
                EXPECT_EQ(status, WARPSEAL_OK) << result.message;
                continue;
            }
            EXPECT_EQ(status, WARPSEAL_IO) << hide;
            EXPECT_NE(std::string(result.message).find("was changed while it was read"), std::string::npos) << result.message;
        }
    }
    options.progress = nullptr;
}

// Some file systems say less than there is to read: fstat(2) then sees no growth, and only the byte past the end does.
TEST_F(Faults, TheInputIsLongerThanItsFileSystemSays) {
    const MemoryFile in(text), out;
    reading.more_at = static_cast<off_t>(text.size());
    warpseal_file_result result;
    EXPECT_EQ(call(Way::seal, in.get(), out.get(), options, result), WARPSEAL_IO);
    EXPECT_NE(std::string(result.message).find("grew"), std::string::npos) << result.message;
}

// A signal while a read waits reaches the callback, which may cancel.
TEST_F(Faults, CancelledWhileWaitingForInput) {
    struct sigaction interrupt = {};
    interrupt.sa_handler = [](int) {};
    sigaction(SIGUSR1, &interrupt, nullptr);  // without SA_RESTART
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const MemoryFile out;
    std::atomic<bool> done{false};
    options.progress = [](void*, uint64_t, uint64_t) { return 1; };
    const pthread_t waiting = pthread_self();
    std::thread signaller([&] {
        while (!done) {
            pthread_kill(waiting, SIGUSR1);
            poll(nullptr, 0, 5);
        }
    });
    warpseal_file_result result;
    EXPECT_EQ(call(Way::seal, ends[0], out.get(), options, result), WARPSEAL_CANCELLED);
    done = true;
    signaller.join();
    options.progress = nullptr;
    close(ends[0]);
    close(ends[1]);
}

}  // namespace
}  // namespace tests
