// Machine faults: system calls that fail or do less than asked, files that change while open, no
// random bytes.
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>

#include "calls.h"
#include "container/random.h"

namespace tests {

Script reading, writing, drawing, syncing;

}  // namespace tests

namespace {

using tests::drawing, tests::reading, tests::syncing, tests::writing, tests::Script;

long moved(Script& script, long number, int descriptor, const iovec* buffers, int count,
           off_t offset) {
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
ssize_t preadv(int fd, const iovec* v, int n, off_t at) {
    return moved(reading, SYS_preadv, fd, v, n, at);
}
ssize_t readv(int fd, const iovec* v, int n) { return moved(reading, SYS_readv, fd, v, n, 0); }
ssize_t pwritev(int fd, const iovec* v, int n, off_t at) {
    return moved(writing, SYS_pwritev, fd, v, n, at);
}
ssize_t writev(int fd, const iovec* v, int n) { return moved(writing, SYS_writev, fd, v, n, 0); }
int fsync(int fd) {
    if (syncing.fails()) return -1;
    return static_cast<int>(syscall(SYS_fsync, fd));
}
int fdatasync(int fd) {
    if (syncing.fails()) return -1;
    return static_cast<int>(syscall(SYS_fdatasync, fd));
}
ssize_t getrandom(void* out, size_t bytes, unsigned flags) {
    if (drawing.fails()) return -1;
    return syscall(SYS_getrandom, out, std::min(bytes, drawing.at_most.load()), flags);
}
}

namespace tests {
namespace {

TEST_F(Faults, RandomBytesThatEndEarlyAreZeroized) {
    Data drawn(16, 0xa5);
    drawing.at_most = 3;
    drawing.error = ENOSYS;
    drawing.countdown = 2;
    EXPECT_FALSE(warpseal::container::random_bytes(drawn.data(), drawn.size()));
    drawing.at_most = SIZE_MAX;
    EXPECT_EQ(drawn, Data(16));
    EXPECT_TRUE(warpseal::container::random_bytes(drawn.data(), drawn.size()));
    EXPECT_NE(drawn, Data(16));
}

// By a byte, once all of it was read.
TEST_F(Faults, InputThatGrowsWhileTheOutputIsWritten) {
    const Data brief = sealed(Data(100, 7), options);
    const MemoryFile in(brief), out;
    bool grown = false;
    const std::function<int(off_t)> grow = [&](off_t) {
        if (!grown) in.put(uint8_t{0}, brief.size());
        grown = true;
        return 0;
    };
    writing.before = &grow;
    warpseal_file_result result;
    EXPECT_EQ(call(Operation::open, in.get(), out.get(), options, result), WARPSEAL_IO);
    writing.before = nullptr;
    EXPECT_TRUE(grown);
    EXPECT_NE(std::string_view(result.message).find("changed"), std::string_view::npos)
        << result.message;
}

TEST_F(Faults, EachCallFailsOnce) {
    size_t failures = 0;
    for (const Operation operation : {Operation::seal, Operation::open}) {
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
                    const Outcome outcome =
                        run(operation, operation == Operation::seal ? text : file, options,
                            n % 2 == 0 ? 1 : 4, pipes & 1, pipes & 2);
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
                    ASSERT_NE(std::string(outcome.result.message).find(strerrordesc_np(error)),
                              std::string::npos)
                        << outcome.result.message;
                    if (operation == Operation::open && pipes != 0) {
                        ASSERT_TRUE(is_prefix(outcome.out, text));
                    }
                }
            }
        }
    }
    EXPECT_GT(failures, 100u);
}

TEST_F(Faults, InterruptsAndShortCountsAreHandled) {
    for (const size_t at_most : {size_t{1000}, size_t{16384}, size_t{16399}}) {
        for (const int pipes : {0, 3}) {
            for (Script* script : {&reading, &writing}) {
                script->at_most = at_most;
                script->interrupts = 1000000;
            }
            const Outcome outcome = run(Operation::seal, text, options, 4, pipes & 1, pipes & 2);
            ASSERT_EQ(outcome.status, WARPSEAL_OK) << outcome.result.message;
            const Outcome back =
                run(Operation::open, outcome.out, options, 4, pipes & 1, pipes & 2);
            ASSERT_EQ(back.status, WARPSEAL_OK) << back.result.message;
            EXPECT_TRUE(back.out == text);
        }
    }
    const Data little = Random(301).text(300);
    for (Script* script : {&reading, &writing}) script->at_most = 1;
    EXPECT_TRUE(run(Operation::open, run(Operation::seal, little, options).out, options).out ==
                little);
}

TEST_F(Faults, NoRandomBytesNoFile) {
    Options both;
    both.key().passphrase("p");
    sealed(text, both);  // libsodium draws once at its start, and works without
    for (int n = 0;; ++n) {
        drawing.error = ENOSYS;
        drawing.countdown = n;
        const Outcome outcome = run(Operation::seal, text, both);
        if (drawing.countdown >= 0) {
            EXPECT_EQ(outcome.status, WARPSEAL_OK);
            EXPECT_EQ(n,
                      6);  // file id, data key, two slot salts, a passphrase salt, a payload salt
            break;
        }
        ASSERT_EQ(outcome.status, WARPSEAL_NO_RANDOM) << n;
        EXPECT_TRUE(outcome.out.empty());
    }
    drawing.countdown = -1;
    drawing.at_most = 3;
    drawing.interrupts = 1000;
    EXPECT_EQ(run(Operation::open, run(Operation::seal, text, both).out, both).status, WARPSEAL_OK);
}

// Called after the first segment: truncates or extends the input.
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
    for (const Operation operation : {Operation::seal, Operation::open}) {
        const Data& whole = operation == Operation::seal ? text : file;
        const auto size = static_cast<off_t>(whole.size());
        for (const off_t bytes :
             {off_t{0}, off_t{1}, size / 2, size - 1, size + 1, size + 100000}) {
            const MemoryFile in(whole), out;
            Change change = {in.get(), bytes};
            options.progress = Change::now;
            options.progress_user = &change;
            warpseal_file_result result;
            EXPECT_EQ(call(operation, in.get(), out.get(), options, result), WARPSEAL_IO) << bytes;
            EXPECT_NE(std::string(result.message), "");
        }
    }
    options.progress = nullptr;
}

TEST_F(Faults, WrongKindsOfDescriptor) {
    warpseal_file_result result;
    const MemoryFile in(text), out;
    const int folder = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
              full = ::open("/dev/full", O_WRONLY | O_CLOEXEC),
              nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC),
              status = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(call(Operation::seal, folder, out.get(), options, result), WARPSEAL_IO);
    EXPECT_EQ(result.system_error, EISDIR);
    EXPECT_EQ(call(Operation::seal, in.get(), full, options, result), WARPSEAL_IO);
    EXPECT_EQ(result.system_error, ENOSPC);
    EXPECT_EQ(call(Operation::seal, 999, out.get(), options, result), WARPSEAL_IO);
    EXPECT_EQ(result.system_error, EBADF);
    EXPECT_EQ(call(Operation::seal, in.get(), 999, options, result), WARPSEAL_IO);
    EXPECT_EQ(result.system_error, EBADF);
    in.rewind();
    EXPECT_EQ(call(Operation::seal, in.get(), in.get(), options, result),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_TRUE(in.data() == text);
    EXPECT_EQ(call(Operation::seal, nothing, nothing, options, result), WARPSEAL_OK);
    EXPECT_EQ(result.plaintext_bytes, 0u);
    EXPECT_EQ(call(Operation::seal, status, nothing, options, result),
              WARPSEAL_OK);  // a regular file of length 0 that is not empty
    EXPECT_GT(result.plaintext_bytes, 0u);
    EXPECT_EQ(call(Operation::open, nothing, nothing, options, result), WARPSEAL_TRUNCATED);
    for (const int descriptor : {folder, full, nothing, status}) close(descriptor);
}

TEST_F(Faults, TheOutputHasNoReader) {
    std::signal(SIGPIPE, SIG_IGN);
    for (const unsigned threads : {1u, 4u}) {
        int ends[2];
        ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
        close(ends[0]);
        const MemoryFile in(file);
        warpseal_file_result result;
        EXPECT_EQ(call(Operation::open, in.get(), ends[1], options, result, threads), WARPSEAL_IO);
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
    EXPECT_EQ(call(Operation::seal, in, out, options, result, 4), WARPSEAL_IO);
    EXPECT_EQ(result.system_error, EFBIG);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    close(in);
    close(out);
}

// A signal during a blocking read invokes the callback, which may cancel.
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
    EXPECT_EQ(call(Operation::seal, ends[0], out.get(), options, result), WARPSEAL_CANCELLED);
    done = true;
    signaller.join();
    options.progress = nullptr;
    close(ends[0]);
    close(ends[1]);
}

}  // namespace
}  // namespace tests
