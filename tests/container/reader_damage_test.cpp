// Readers of damaged files and failing inputs: nothing unauthenticated is returned, and the next
// read works.
#include <mutex>

#include "calls.h"
#include "readers.h"

namespace tests {
namespace {

class ReaderDamage : public Faults {
protected:
    static constexpr size_t last = 40;  // of the file's chunks
    static Data zeros(size_t bytes) { return Data(bytes, 0); }
    warpseal_status opened(const Data& data) const {
        const MemoryFile file_of(data);
        return Reader(file_of.get(), options).status;
    }
    // Swaps two whole chunks of the file.
    void swap_chunks(Data& data, size_t a, size_t b) const {
        const auto at = [&](size_t n) {
            return data.begin() + static_cast<ptrdiff_t>(chunks_at + n * sealed_chunk);
        };
        std::swap_ranges(at(a), at(a) + sealed_chunk, at(b));
    }
};

// Misses nothing if opening does not verify the last chunk, or takes any last chunk for the end.
TEST_F(ReaderDamage, OpeningRefusesACutOrLengthenedFile) {
    for (const size_t chunks : {size_t{0}, size_t{1}, last - 1, last}) {
        for (const size_t rest : {size_t{0}, size_t{1}, size_t{15}}) {
            const Data cut(
                file.begin(),
                file.begin() + static_cast<ptrdiff_t>(chunks_at + chunks * sealed_chunk + rest));
            EXPECT_EQ(opened(cut), WARPSEAL_TRUNCATED) << chunks << " and " << rest;
        }
        for (const size_t rest : {size_t{16}, size_t{17}, size_t{24}, sealed_chunk - 1}) {
            const size_t bytes = chunks_at + chunks * sealed_chunk + rest;
            if (bytes >= file.size()) continue;
            const Data cut(file.begin(), file.begin() + static_cast<ptrdiff_t>(bytes));
            EXPECT_EQ(opened(cut), WARPSEAL_NOT_AUTHENTIC) << chunks << " and " << rest;
        }
    }
    for (const size_t more : {size_t{1}, size_t{16}, sealed_chunk - 1, sealed_chunk}) {
        Data longer = file;
        longer.resize(file.size() + more);
        EXPECT_EQ(opened(longer), WARPSEAL_NOT_AUTHENTIC) << more;
    }
    Data moved = file;  // a chunk less, and the last one is whole
    moved.erase(moved.begin() + chunks_at, moved.begin() + chunks_at + sealed_chunk);
    EXPECT_EQ(opened(moved), WARPSEAL_NOT_AUTHENTIC);
    for (const size_t bytes : {size_t{0}, size_t{5}, size_t{4096}, payload_at, payload_at + 55})
        EXPECT_EQ(opened(Data(file.begin(), file.begin() + static_cast<ptrdiff_t>(bytes))),
                  WARPSEAL_TRUNCATED)
            << bytes;
}

TEST_F(ReaderDamage, OpeningReadsTheStartAndTheLastChunkAlone) {
    CallbackInput input{file, {}};
    std::vector<uint64_t> offsets;
    std::mutex mutex;
    input.read = [&](uint64_t offset, uint8_t* out, size_t bytes) {
        const std::lock_guard<std::mutex> lock(mutex);
        if (offset >= chunks_at) offsets.push_back(offset);
        return input.copy(offset, out, bytes);
    };
    const Reader reader(input, file.size(), options, 4);
    ASSERT_EQ(reader.status, WARPSEAL_OK) << reader.result.message;
    EXPECT_EQ(offsets, std::vector<uint64_t>{chunks_at + last * sealed_chunk});
    offsets.clear();
    ASSERT_EQ(reader.read(7 * chunk + 1, chunk).status, WARPSEAL_OK);
    ASSERT_FALSE(offsets.empty());
    EXPECT_EQ(*std::min_element(offsets.begin(), offsets.end()), chunks_at + 7 * sealed_chunk);
    EXPECT_LT(*std::max_element(offsets.begin(), offsets.end()), chunks_at + 9 * sealed_chunk);
}

TEST_F(ReaderDamage, WrongSecretsAndHeaders) {
    Options other;
    other.key(2);
    const MemoryFile sealed_file(file);
    EXPECT_EQ(Reader(sealed_file.get(), other).status, WARPSEAL_WRONG_KEY);
    Data head = file;
    head[payload_at + 30] ^= 1;
    EXPECT_EQ(opened(head), WARPSEAL_NOT_AUTHENTIC);
    Data copy = file;
    copy[4096 + 20] ^= 1;
    const MemoryFile damaged(copy);
    const Reader reader(damaged.get(), options);
    EXPECT_EQ(reader.status, WARPSEAL_OK);
    EXPECT_EQ(reader.result.header_copies_differ, 1);
}

// Each chunk is verified by the reads that cover it, and by no other.
TEST_F(ReaderDamage, ChangedChunksFailTheReadsThatCoverThem) {
    for (const unsigned threads : {1u, 4u}) {
        for (const size_t number : {size_t{0}, size_t{3}, size_t{17}, last - 1}) {
            for (const size_t byte : {size_t{0}, chunk - 1, chunk, sealed_chunk - 1}) {
                Data changed = file;
                changed[chunks_at + number * sealed_chunk + byte] ^= 0x10;
                const MemoryFile input(changed);
                const Reader reader(input.get(), options, threads);
                ASSERT_EQ(reader.status, WARPSEAL_OK) << reader.result.message;
                const size_t at = number * chunk;
                for (const auto& [begin, end] : {std::pair{at, at + 1},
                                                 {at + chunk - 1, at + chunk},
                                                 {size_t{0}, text.size()}}) {
                    const Reader::Got got = reader.read(begin, end - begin);
                    ASSERT_EQ(got.status, WARPSEAL_NOT_AUTHENTIC);
                    ASSERT_EQ(got.bytes, 0u);
                    ASSERT_TRUE(got.out == zeros(end - begin)) << "text was released";
                    ASSERT_NE(std::string(got.result.message)
                                  .find("chunk " + std::to_string(number) + ","),
                              std::string::npos)
                        << got.result.message;
                    EXPECT_STREQ(warpseal_last_error_message(), got.result.message);
                }
                if (number > 0) {
                    ASSERT_TRUE(reader.read(0, at).text() == part(text, 0, at));
                }
                ASSERT_TRUE(reader.read(at + chunk, text.size()).text() ==
                            part(text, at + chunk, text.size()));
            }
        }
    }
}

TEST_F(ReaderDamage, SwappedChunksDoNotVerify) {
    Data changed = file;
    swap_chunks(changed, 5, 6);
    const MemoryFile input(changed);
    const Reader reader(input.get(), options, 4);
    EXPECT_EQ(reader.read(5 * chunk, 10).status, WARPSEAL_NOT_AUTHENTIC);
    EXPECT_EQ(reader.read(6 * chunk, 10).status, WARPSEAL_NOT_AUTHENTIC);
    EXPECT_EQ(reader.read(7 * chunk, 10).status, WARPSEAL_OK);
}

TEST_F(ReaderDamage, TheFirstOfSeveralFailuresIsReported) {
    Data changed = file;
    for (const size_t number : {size_t{2}, size_t{9}, size_t{30}})
        changed[chunks_at + number * sealed_chunk] ^= 1;
    const MemoryFile input(changed);
    const Reader reader(input.get(), options, 4);
    for (int i = 0; i < 20; ++i)
        ASSERT_NE(std::string(reader.read(0, text.size()).result.message).find("chunk 2,"),
                  std::string::npos);
}

// Whichever of two segments that are read at the same time fails last.
TEST_F(ReaderDamage, TheFirstFailureIsReportedInEitherOrder) {
    CallbackInput input{file, {}};
    for (const size_t number : {size_t{2}, size_t{30}})
        input.data[chunks_at + number * sealed_chunk] ^= 1;
    std::atomic<bool> begun{false}, first_is_late{false};
    input.read = [&](uint64_t offset, uint8_t* out, size_t bytes) {
        const auto covers = [&](size_t number) {
            const uint64_t at = chunks_at + number * sealed_chunk;
            return offset <= at && at < offset + bytes;
        };
        const bool late = covers(first_is_late ? 2 : 30), early = covers(first_is_late ? 30 : 2);
        if (late && !early) {
            begun = true;
            usleep(50'000);
        }
        for (int i = 0; early && !late && !begun && i < 5000; ++i) usleep(1000);
        return input.copy(offset, out, bytes);
    };
    const Reader reader(input, file.size(), options, 4);
    ASSERT_EQ(reader.status, WARPSEAL_OK) << reader.result.message;
    for (int i = 0; i < 6; ++i) {
        first_is_late = i % 2 != 0;
        begun = false;
        ASSERT_NE(std::string(reader.read(0, text.size()).result.message).find("chunk 2,"),
                  std::string::npos);
    }
}

// Chunks that are holes of the file are never read unless a read covers them.
TEST_F(ReaderDamage, HolesMatterWhereTheyAreRead) {
    Data holes = file;
    std::fill(holes.begin() + chunks_at, holes.begin() + chunks_at + 30 * sealed_chunk, uint8_t{0});
    const MemoryFile input(holes);
    const Reader reader(input.get(), options);
    ASSERT_EQ(reader.status, WARPSEAL_OK);
    EXPECT_TRUE(reader.read(30 * chunk, text.size()).text() == part(text, 30 * chunk, text.size()));
    EXPECT_EQ(reader.read(30 * chunk - 1, 2).status, WARPSEAL_NOT_AUTHENTIC);
}

TEST_F(ReaderDamage, AFileThatChangesItsLengthOnceOpened) {
    const MemoryFile input(file);
    const Reader reader(input.get(), options);
    input.cut(chunks_at + 10 * sealed_chunk + 5);
    const Reader::Got got = reader.read(9 * chunk, 2 * chunk);
    EXPECT_EQ(got.status, WARPSEAL_IO);
    EXPECT_TRUE(got.out == zeros(2 * chunk));
    EXPECT_NE(std::string(got.result.message).find("when it was opened"), std::string::npos);
    EXPECT_EQ(reader.read(9 * chunk, chunk).status, WARPSEAL_OK);
    EXPECT_EQ(reader.size(), text.size());
}

TEST_F(ReaderDamage, PipesAreRefused) {
    const PipeSource pipe(file);
    const Reader reader(pipe.get(), options);
    EXPECT_EQ(reader.status, WARPSEAL_INVALID_ARGUMENT);
    EXPECT_NE(std::string(reader.result.message).find("pipe"), std::string::npos);
    EXPECT_EQ(reader.get(), nullptr);
}

TEST_F(ReaderDamage, SystemCallsFailAreInterruptedAndReadLess) {
    const MemoryFile input(file);
    for (int n = 0;; ++n) {
        reading.error = EIO;
        reading.countdown = n;
        const Reader failing(input.get(), options, n % 2 == 0 ? 1 : 4);
        const bool happened = reading.countdown < 0;
        reading.countdown = -1;
        if (!happened) {
            EXPECT_GE(n, 4);
            break;
        }
        ASSERT_EQ(failing.status, WARPSEAL_IO);
        ASSERT_EQ(failing.result.system_error, EIO);
    }
    const Reader reader(input.get(), options, 4);
    reading.countdown = 3;
    const Reader::Got failed = reader.read(0, text.size());
    EXPECT_EQ(failed.status, WARPSEAL_IO);
    EXPECT_EQ(failed.result.system_error, EIO);
    EXPECT_TRUE(failed.out == zeros(text.size()));
    reading.countdown = -1;
    reading.at_most = 1000;
    reading.interrupts = 1000;
    EXPECT_TRUE(reader.read(0, text.size()).text() == text);
}

TEST_F(ReaderDamage, CallbacksFailReadLessAndLie) {
    CallbackInput input{file, {}};
    int64_t answer = 0;
    std::atomic<int> countdown{-1};
    std::atomic<size_t> at_most{SIZE_MAX};
    input.read = [&](uint64_t offset, uint8_t* out, size_t bytes) {
        if (countdown >= 0 && countdown-- == 0)
            return answer > 0 ? static_cast<int64_t>(bytes) + answer : answer;
        return input.copy(offset, out, std::min(bytes, at_most.load()));
    };
    const Reader reader(input, file.size(), options, 4);
    ASSERT_EQ(reader.status, WARPSEAL_OK);
    for (const auto& [given, error] : {std::pair<int64_t, int>{-ENOENT, ENOENT},
                                       {-1, EPERM},
                                       {INT64_MIN, EIO},
                                       {0, 0},
                                       {1, 0}}) {
        answer = given;
        for (int n = 0; n < 3; ++n) {
            countdown = n;
            const Reader::Got got = reader.read(3, text.size());
            ASSERT_EQ(got.status, WARPSEAL_IO) << given;
            ASSERT_EQ(got.result.system_error, error);
            ASSERT_EQ(got.bytes, 0u);
            ASSERT_TRUE(got.out == [&] {
                Data wiped(text.size(), 0xa5);  // the read ends 3 bytes before its buffer
                std::fill(wiped.begin(), wiped.end() - 3, uint8_t{0});
                return wiped;
            }());
        }
        countdown = 1;
        EXPECT_NE(Reader(input, file.size(), options).status, WARPSEAL_OK);
        countdown = -1;
    }
    for (const size_t few : {size_t{1000}, size_t{16399}}) {
        at_most = few;
        EXPECT_TRUE(reader.read(0, text.size()).text() == text);
    }
    at_most = 1;
    EXPECT_TRUE(reader.read(chunk - 1, 2).text() == part(text, chunk - 1, 2));
}

// The callback is never asked for bytes after file_bytes, which a longer object would have.
TEST_F(ReaderDamage, TheLengthGivenIsTheEnd) {
    CallbackInput input{file, {}};
    uint64_t last_asked = 0;
    input.read = [&](uint64_t offset, uint8_t* out, size_t bytes) {
        last_asked = std::max(last_asked, offset + bytes);
        return input.copy(offset, out, bytes);
    };
    for (const uint64_t bytes : {100, 5000, 20500}) {
        last_asked = 0;
        EXPECT_EQ(Reader(input, bytes, options).status, WARPSEAL_TRUNCATED);
        EXPECT_EQ(last_asked, bytes);
    }
    input.read = nullptr;
    EXPECT_EQ(Reader(input, file.size() + 1, options).status, WARPSEAL_IO);
    EXPECT_EQ(Reader(input, file.size() - 1, options).status, WARPSEAL_NOT_AUTHENTIC);
    EXPECT_EQ(Reader(input, UINT64_MAX, options).status, WARPSEAL_LIMIT_EXCEEDED);
    EXPECT_EQ(Reader(input, 0, options).status, WARPSEAL_TRUNCATED);
    input.data.resize(file.size() + 100);
    const Reader reader(input, file.size(), options);
    EXPECT_TRUE(reader.read(0, text.size()).text() == text);
}

TEST_F(ReaderDamage, WrongArgumentsAreNamed) {
    const MemoryFile input(file);
    warpseal_reader* made = nullptr;
    const auto refused = [](warpseal_status status, const char* name) {
        EXPECT_EQ(status, WARPSEAL_INVALID_ARGUMENT);
        EXPECT_NE(std::string(warpseal_last_error_message()).find(name), std::string::npos)
            << warpseal_last_error_message();
    };
    warpseal_engine* const engine = c_engine();
    refused(warpseal_reader_open(nullptr, input.get(), &options, &made, nullptr), "engine");
    refused(warpseal_reader_open(engine, -1, &options, &made, nullptr), "in_fd");
    refused(warpseal_reader_open(engine, input.get(), nullptr, &made, nullptr), "options");
    refused(warpseal_reader_open(engine, input.get(), &options, nullptr, nullptr), "out");
    refused(warpseal_reader_open_callback(engine, nullptr, nullptr, 1, &options, &made, nullptr),
            "read_at");
    warpseal_file_result small = {};
    refused(warpseal_reader_open(engine, input.get(), &options, &made, &small), "result");
    EXPECT_EQ(made, nullptr);
    const Reader reader(input.get(), options);
    size_t got = 7;
    uint8_t byte = 0;
    refused(warpseal_reader_read_at(nullptr, 0, &byte, 1, &got, nullptr), "reader");
    EXPECT_EQ(got, 0u);
    refused(warpseal_reader_read_at(reader.get(), 0, nullptr, 1, &got, nullptr), "out");
    refused(warpseal_reader_read_at(reader.get(), 0, &byte, 1, nullptr, nullptr), "out_bytes");
    refused(warpseal_reader_read_at(reader.get(), 0, &byte, 1, &got, &small), "result");
    EXPECT_EQ(warpseal_reader_read_at(reader.get(), 0, nullptr, 0, &got, nullptr), WARPSEAL_OK);
    EXPECT_EQ(warpseal_reader_size(nullptr), 0u);
    warpseal_reader_close(nullptr);
}

}  // namespace
}  // namespace tests
