// Round trips of files: sizes, suites, formats, secrets, descriptors, threads.
#include <poll.h>

#include <atomic>

#include "calls.h"
#include "core/secret.h"

namespace tests {
namespace {

const size_t sizes[] = {0,
                        1,
                        15,
                        16,
                        17,
                        chunk - 1,
                        chunk,
                        chunk + 1,
                        2 * chunk - 1,
                        2 * chunk,
                        2 * chunk + 1,
                        8 * chunk + 7,
                        16 * chunk - 1,
                        16 * chunk,
                        16 * chunk + 1,
                        300 * chunk + 33};

void round_trip(const Options& options, size_t head_bytes) {
    for (const size_t size : sizes) {
        const Data text = Random(size).text(size);
        for (const unsigned threads : {1u, 4u}) {
            for (int pipes = 0; pipes < 4; ++pipes) {
                SCOPED_TRACE(testing::Message()
                             << size << " bytes, " << threads << " threads, pipes " << pipes);
                const Outcome file =
                    run(Operation::seal, text, options, threads, pipes & 1, pipes & 2);
                ASSERT_EQ(file.status, WARPSEAL_OK) << file.result.message;
                EXPECT_EQ(file.out.size(), head_bytes + size + (size / chunk + 1) * 16);
                EXPECT_EQ(file.result.file_bytes, file.out.size());
                EXPECT_EQ(file.result.output_bytes, file.out.size());
                EXPECT_EQ(file.result.plaintext_bytes, size);
                EXPECT_STRNE(file.result.target, "");
                const Outcome back =
                    run(Operation::open, file.out, options, threads, pipes & 2, pipes & 1);
                ASSERT_EQ(back.status, WARPSEAL_OK) << back.result.message;
                EXPECT_EQ(back.result.file_bytes, file.out.size());
                EXPECT_EQ(back.result.plaintext_bytes, size);
                EXPECT_EQ(back.result.output_bytes, size);
                ASSERT_TRUE(back.out == text);
            }
        }
    }
}

TEST(Container, Aes256Envelope) {
    Options options;
    round_trip(options.key(), chunks_at);
}

TEST(Container, Aes128Envelope) {
    Options options;
    options.suite = "aes-128-gcm";
    round_trip(options.key(), chunks_at);
}

TEST(Container, Aria256Envelope) {
    Options options;
    options.suite = "aria-256-gcm";
    round_trip(options.key(), chunks_at);
}

TEST(Container, Camellia256Envelope) {
    Options options;
    options.suite = "camellia-256-gcm";
    round_trip(options.key(), chunks_at);
}

TEST(Container, BareCobblestone) {
    for (const size_t key_bytes : {16, 32}) {
        Options options;
        options.bare(key_bytes);
        const std::string context = "context \0 with a zero";
        options.context = context.data();
        options.context_bytes = context.size();
        round_trip(options, 56);
    }
}

TEST(Container, LongContext) {  // longer than libcrypto's own HKDF accepts
    Options options;
    options.bare(32);
    const Data context = Random(1).text(100000);
    options.context = context.data();
    options.context_bytes = context.size();
    const Data file = sealed(Data(5), options);
    EXPECT_EQ(run(Operation::open, file, options).status, WARPSEAL_OK);
    options.context_bytes -= 1;
    EXPECT_EQ(run(Operation::open, file, options).status, WARPSEAL_WRONG_KEY);
}

TEST(Container, EverySlotOpensTheFile) {
    Options all;
    all.key(1).passphrase("correct horse").key(2).passphrase("\xc3\xbc \xe2\x98\x83");
    const Data text = Random(3).text(70000);
    const Data file = sealed(text, all);
    for (const warpseal_secret& secret : all.list) {
        Options one;
        one.add(secret.type, Data(static_cast<const uint8_t*>(secret.bytes),
                                  static_cast<const uint8_t*>(secret.bytes) + secret.byte_count));
        const Outcome back = run(Operation::open, file, one);
        EXPECT_EQ(back.status, WARPSEAL_OK) << back.result.message;
        EXPECT_TRUE(back.out == text);
    }
    Options wrong;
    wrong.key(3).passphrase("correct horsE");
    EXPECT_EQ(run(Operation::open, file, wrong).status, WARPSEAL_WRONG_KEY);
    wrong.key(2);
    EXPECT_EQ(run(Operation::open, file, wrong).status, WARPSEAL_OK);
}

TEST(Container, WrongKeyReleasesNothing) {
    Options options, wrong;
    const Data file = sealed(Data(100), options.key(1));
    const Outcome back = run(Operation::open, file, wrong.key(2));
    EXPECT_EQ(back.status, WARPSEAL_WRONG_KEY);
    EXPECT_TRUE(back.out.empty());
    Options bare, other;
    bare.bare(32);
    other.format = WARPSEAL_FORMAT_COBBLESTONE;
    other.key(9);
    EXPECT_EQ(run(Operation::open, sealed(Data(100), bare), other).status, WARPSEAL_WRONG_KEY);
}

TEST(Container, TwoFilesHaveNothingInCommon) {
    Options options;
    options.key();
    const Data a = sealed(Data(100), options), b = sealed(Data(100), options);
    EXPECT_FALSE(std::equal(a.begin() + 16, a.begin() + 32, b.begin() + 16));
    EXPECT_FALSE(std::equal(a.begin() + payload_at, a.end(), b.begin() + payload_at));
}

void expect_positions(int any_order) {
    Options options;
    options.key().any_order = any_order;
    const Data text = Random(4).text(40000);
    const MemoryFile in(text), file(Data(1000, 0xee)), back;
    warpseal_file_result result;
    lseek(in.get(), 10000, SEEK_SET);
    lseek(file.get(), 500, SEEK_SET);
    ASSERT_EQ(call(Operation::seal, in.get(), file.get(), options, result, 4), WARPSEAL_OK)
        << result.message;
    EXPECT_EQ(lseek(in.get(), 0, SEEK_CUR), 40000);
    EXPECT_EQ(lseek(file.get(), 0, SEEK_CUR), 500 + static_cast<off_t>(result.file_bytes));
    EXPECT_EQ(file.size(), 500 + result.file_bytes);
    EXPECT_EQ(file.data()[499], 0xee);
    lseek(file.get(), 500, SEEK_SET);
    lseek(back.get(), 7, SEEK_SET);
    ASSERT_EQ(call(Operation::open, file.get(), back.get(), options, result, 4), WARPSEAL_OK)
        << result.message;
    const Data out = back.data();
    EXPECT_TRUE(std::equal(text.begin() + 10000, text.end(), out.begin() + 7, out.end()));
    EXPECT_EQ(lseek(back.get(), 0, SEEK_CUR), 7 + 30000);
}

TEST(Container, PositionsOfDescriptors) {
    for (const int any_order : {0, 1}) {
        SCOPED_TRACE(any_order);
        expect_positions(any_order);
    }
}

TEST(Container, AppendModeIsWrittenInOrder) {
    Options options;
    options.key();
    const Data text = Random(5).text(50 * chunk);
    const MemoryFile in(text), file, back;
    warpseal_file_result result;
    for (const MemoryFile* out : {&file, &back}) ASSERT_EQ(fcntl(out->get(), F_SETFL, O_APPEND), 0);
    ASSERT_EQ(call(Operation::seal, in.get(), file.get(), options, result, 4), WARPSEAL_OK)
        << result.message;
    file.rewind();
    ASSERT_EQ(call(Operation::open, file.get(), back.get(), options, result, 4), WARPSEAL_OK)
        << result.message;
    EXPECT_TRUE(back.data() == text);
}

// The kernel ignores an offset there, so that the position follows what was written.
TEST(Container, AppendModeContinuesAtTheEnd) {
    Options options;
    options.key().any_order = 1;
    const Data text = Random(6).text(50 * chunk);
    const MemoryFile in(text), file(Data(1000, 0xee)), back;
    warpseal_file_result result;
    ASSERT_EQ(fcntl(file.get(), F_SETFL, O_APPEND), 0);
    ASSERT_EQ(call(Operation::seal, in.get(), file.get(), options, result, 4), WARPSEAL_OK)
        << result.message;
    EXPECT_EQ(lseek(file.get(), 0, SEEK_CUR), static_cast<off_t>(file.size()));
    EXPECT_EQ(file.size(), 1000 + result.file_bytes);
    ASSERT_EQ(lseek(file.get(), 1000, SEEK_SET), 1000);
    ASSERT_EQ(call(Operation::open, file.get(), back.get(), options, result, 4), WARPSEAL_OK)
        << result.message;
    EXPECT_TRUE(back.data() == text);
}

TEST(Container, NonBlockingPipes) {
    Options options;
    options.key();
    const Data text = Random(6).text(100 * chunk);
    const PipeSource in(text, 1000);
    PipeSink out;
    ASSERT_EQ(fcntl(in.get(), F_SETFL, O_NONBLOCK), 0);
    ASSERT_EQ(fcntl(out.get(), F_SETFL, O_NONBLOCK), 0);
    warpseal_file_result result;
    ASSERT_EQ(call(Operation::seal, in.get(), out.get(), options, result, 4), WARPSEAL_OK)
        << result.message;
    EXPECT_TRUE(run(Operation::open, out.finish(), options).out == text);
}

TEST(Container, VerifyOnlyWritesNothing) {
    Options options;
    options.key();
    const Data file = sealed(Random(7).text(200000), options);
    warpseal_file_result result;
    for (const unsigned threads : {1u, 4u}) {
        const MemoryFile good(file);
        EXPECT_EQ(call(Operation::open, good.get(), -1, options, result, threads), WARPSEAL_OK);
        EXPECT_EQ(result.plaintext_bytes, 200000u);
        Data changed = file;
        changed[changed.size() - 5] ^= 1;
        const MemoryFile bad(changed);
        EXPECT_EQ(call(Operation::open, bad.get(), -1, options, result, threads),
                  WARPSEAL_NOT_AUTHENTIC);
    }
    const MemoryFile good(file);
    EXPECT_EQ(call(Operation::seal, good.get(), -1, options, result), WARPSEAL_INVALID_ARGUMENT);
}

struct Watch {
    uint64_t last = 0, total = 0;
    std::atomic<int> running{0};
    int calls = 0, stop_at = 1 << 30;
    bool overlapped = false;
    static int called(void* user, uint64_t done, uint64_t total) {
        Watch& watch = *static_cast<Watch*>(user);
        watch.overlapped |= watch.running.fetch_add(1) != 0;
        EXPECT_GE(done, watch.last);
        watch.last = done;
        watch.total = total;
        watch.running.fetch_sub(1);
        return ++watch.calls >= watch.stop_at;
    }
};

TEST(Container, ProgressAndCancellation) {
    Options options;
    options.key();
    const Data text = Random(8).text(200 * chunk);
    for (const bool pipe : {false, true}) {
        Watch watch;
        options.progress = Watch::called;
        options.progress_user = &watch;
        const Outcome file = run(Operation::seal, text, options, 4, pipe, pipe);
        EXPECT_EQ(file.status, WARPSEAL_OK);
        EXPECT_EQ(watch.last, text.size());
        EXPECT_EQ(watch.total, pipe ? UINT64_MAX : text.size());
        EXPECT_FALSE(watch.overlapped);
        Watch stop;
        stop.stop_at = 1;
        options.progress_user = &stop;
        const Outcome back = run(Operation::open, file.out, options, 4, pipe, pipe);
        EXPECT_EQ(back.status, WARPSEAL_CANCELLED);
        if (pipe) {
            EXPECT_TRUE(is_prefix(back.out, text));
        }
        EXPECT_LT(back.result.plaintext_bytes, text.size());
        options.progress = nullptr;
    }
}

// The secrets of a call, which zeroizes them as soon as it can.
struct ZeroizedSecrets {
    Options& options;
    int calls = 0;
    static void now(void* user) {
        ZeroizedSecrets& wiped = *static_cast<ZeroizedSecrets*>(user);
        ++wiped.calls;
        for (Data& held : wiped.options.held) warpseal::wipe(held.data(), held.size());
        wiped.options.list.clear();
    }
};

TEST(Container, SecretsAreReadOnceAndBeforeTheText) {
    for (const bool bare : {false, true}) {
        const Data text = Random(9).text(70000);
        Data file;
        for (const Operation operation : {Operation::seal, Operation::open}) {
            Options options;
            if (bare)
                options.bare(32);
            else
                options.key(1).passphrase("wiped");
            ZeroizedSecrets wiped{options};
            options.secrets_used = ZeroizedSecrets::now;
            options.secrets_user = &wiped;
            const Outcome outcome =
                run(operation, operation == Operation::seal ? text : file, options, 4);
            ASSERT_EQ(outcome.status, WARPSEAL_OK) << outcome.result.message;
            EXPECT_EQ(wiped.calls, 1);
            if (operation == Operation::seal)
                file = outcome.out;
            else
                EXPECT_TRUE(outcome.out == text);
        }
        Options wrong;
        if (bare) wrong.format = WARPSEAL_FORMAT_COBBLESTONE;
        wrong.key(9);
        ZeroizedSecrets wiped{wrong};
        wrong.secrets_used = ZeroizedSecrets::now;
        wrong.secrets_user = &wiped;
        EXPECT_EQ(run(Operation::open, file, wrong).status, WARPSEAL_WRONG_KEY);
        EXPECT_EQ(wiped.calls, 0);
    }
}

TEST(Container, Arguments) {
    Options none;
    EXPECT_EQ(run(Operation::seal, {}, none).status, WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(run(Operation::open, {}, none).status, WARPSEAL_INVALID_ARGUMENT);
    for (const size_t length : {0, 1, 16, 31, 33}) {
        Options options;
        EXPECT_EQ(run(Operation::seal, {}, options.add(WARPSEAL_SECRET_KEY, Data(length))).status,
                  WARPSEAL_INVALID_ARGUMENT)
            << length;
        EXPECT_EQ(run(Operation::open, {}, options).status, WARPSEAL_INVALID_ARGUMENT) << length;
    }
    for (const size_t length : {15, 17, 24, 31, 33}) {
        Options options;
        EXPECT_EQ(run(Operation::seal, {}, options.bare(length)).status, WARPSEAL_INVALID_ARGUMENT)
            << length;
    }
    Options empty, suite, context, both, type, format;
    EXPECT_EQ(run(Operation::seal, {}, empty.passphrase("")).status, WARPSEAL_INVALID_ARGUMENT);
    Options longest, too_long;
    EXPECT_EQ(run(Operation::seal, {}, longest.passphrase(std::string(65536, 'p'))).status,
              WARPSEAL_OK);
    EXPECT_EQ(run(Operation::seal, {}, too_long.passphrase(std::string(65537, 'p'))).status,
              WARPSEAL_INVALID_ARGUMENT);
    suite.key().suite = "aes-512-gcm";
    EXPECT_EQ(run(Operation::seal, {}, suite).status, WARPSEAL_UNSUPPORTED);
    context.key().context = "c";
    context.context_bytes = 1;
    EXPECT_EQ(run(Operation::seal, {}, context).status, WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(run(Operation::seal, {}, both.bare(32).passphrase("p")).status,
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(
        run(Operation::seal, {}, type.add(static_cast<warpseal_secret_type>(9), Data(32))).status,
        WARPSEAL_INVALID_ARGUMENT);
    format.key().format = static_cast<warpseal_format>(7);
    EXPECT_EQ(run(Operation::seal, {}, format).status, WARPSEAL_INVALID_ARGUMENT);
    Options mismatch;
    mismatch.bare(16).suite = "aes-256-gcm";
    EXPECT_EQ(run(Operation::seal, {}, mismatch).status, WARPSEAL_INVALID_ARGUMENT);
}

TEST(Container, ArgonBoundsWhenSealing) {
    for (const auto& [passes, kib] :
         {std::pair{17u, 64u}, {~0u, 64u}, {1u, 7u}, {1u, (1u << 20) + 1}, {1u, ~0u}}) {
        Options options;
        options.passphrase("p").argon2_passes = passes;
        options.argon2_memory_kib = kib;
        EXPECT_EQ(run(Operation::seal, {}, options).status, WARPSEAL_LIMIT_EXCEEDED)
            << passes << " " << kib;
    }
    Options dear;
    for (int i = 0; i < 3; ++i) dear.passphrase("p");
    dear.argon2_passes = 16;
    dear.argon2_memory_kib = 1 << 20;
    // Unless it is refused before, the call ends without random bytes, and not after minutes.
    drawing.error = ENOSYS;
    drawing.countdown = 0;
    EXPECT_EQ(run(Operation::seal, {}, dear).status, WARPSEAL_LIMIT_EXCEEDED);
    drawing.countdown = -1;
}

TEST(Container, AtMost32Slots) {
    Options options;
    for (uint8_t i = 0; i < 32; ++i) options.key(i);
    const Data file = sealed(Data(3), options);
    Options last;
    EXPECT_EQ(run(Operation::open, file, last.key(31)).status, WARPSEAL_OK);
    EXPECT_EQ(run(Operation::seal, {}, options.key(32)).status, WARPSEAL_LIMIT_EXCEEDED);
}

TEST(Container, Info) {
    Options options;
    options.key().passphrase("p").suite = "aes-128-gcm";
    const MemoryFile file(sealed(Data(40000), options));
    warpseal_file_info info = {};
    warpseal_file_result result = {};
    ASSERT_EQ(warpseal::container::info(file.get(), info, result), WARPSEAL_OK) << result.message;
    EXPECT_EQ(info.version, 1u);
    EXPECT_STREQ(info.suite, "aes-128-gcm");
    EXPECT_EQ(info.header_bytes, payload_at);
    EXPECT_EQ(info.generation, 1u);
    EXPECT_EQ(info.file_bytes, file.size());
    EXPECT_EQ(info.plaintext_bytes, 40000u);
    ASSERT_EQ(info.slot_count, 2u);
    EXPECT_EQ(info.slots[0].type, uint32_t{WARPSEAL_SECRET_KEY});
    EXPECT_EQ(info.slots[1].type, uint32_t{WARPSEAL_SECRET_PASSPHRASE});
    EXPECT_EQ(info.slots[1].argon2_passes, 1u);
    EXPECT_EQ(info.slots[1].argon2_memory_kib, 64u);

    const PipeSource pipe(file.data());
    ASSERT_EQ(warpseal::container::info(pipe.get(), info, result), WARPSEAL_OK);
    EXPECT_EQ(info.plaintext_bytes, UINT64_MAX);
    EXPECT_EQ(info.file_bytes, UINT64_MAX);
    const MemoryFile other(Data(9000, 'x'));
    EXPECT_EQ(warpseal::container::info(other.get(), info, result), WARPSEAL_UNSUPPORTED);
}

// A text has at most 2^52 - 1 bytes. The file is a hole, so the refusal must come before any read.
TEST(Container, MostChunks) {
    Options options;
    options.bare(32);
    const MemoryFile in, out;
    if (ftruncate(in.get(), off_t{1} << 52) != 0)
        GTEST_SKIP() << "files of 4 PiB are not possible here";
    warpseal_file_result result;
    EXPECT_EQ(call(Operation::seal, in.get(), out.get(), options, result), WARPSEAL_LIMIT_EXCEEDED);
    EXPECT_NE(std::string(result.message), "");
    EXPECT_EQ(result.plaintext_bytes, 0u);
    ASSERT_EQ(ftruncate(in.get(), (off_t{1} << 52) - 1), 0);
    options.progress = [](void*, uint64_t, uint64_t) { return 1; };
    EXPECT_EQ(call(Operation::seal, in.get(), out.get(), options, result), WARPSEAL_CANCELLED)
        << result.message;
    EXPECT_GT(result.plaintext_bytes, 0u);
}

}  // namespace
}  // namespace tests
