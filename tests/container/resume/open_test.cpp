// Opening that is stopped at any system call and continued: only authentic text stays, and windows
// that are there are not read from the sealed file again.
#include "unfinished.h"

namespace tests {
namespace {

class ResumedOpen : public Faults {
protected:
    static constexpr size_t text_bytes = 2 * window_text + 40 * chunk + 9;

    ResumedOpen() : words(Random(320).text(text_bytes)), whole(sealed(words, options)), in(whole) {}

    void stop_at(int n, unsigned threads = 4) {
        writing.error = ENOSPC;
        writing.countdown = n;
        EXPECT_EQ(open(in, out, options, threads).status, WARPSEAL_IO);
        EXPECT_LT(writing.countdown, 0);
        writing.countdown = -1;
    }
    void expect_whole(const Resumed& last) {
        ASSERT_EQ(last.status, WARPSEAL_OK) << last.result.message;
        ASSERT_EQ(last.output_bytes, text_bytes);
        EXPECT_TRUE(cut_to(out, text_bytes) == words);
        EXPECT_EQ(last.result.plaintext_bytes, text_bytes);
        EXPECT_EQ(last.result.file_bytes, whole.size());
    }

    const Data words, whole;
    const MemoryFile in, out;
};

TEST_F(ResumedOpen, StoppedAtAnyWriteAndContinued) {
    for (const int n : {0, 1, 2, 100, 129, 130, 131, 200, 258, 259, 260}) {
        SCOPED_TRACE(n);
        out.cut(0);
        stop_at(n, n % 2 == 0 ? 1 : 4);
        const Resumed last = open(in, out, options);
        EXPECT_EQ(last.continued, n != 0);
        // The last block, 128 segments and a record.
        EXPECT_GE(last.kept_bytes, n < 130 ? 0 : window_text);
        expect_whole(last);
    }
}

TEST_F(ResumedOpen, WindowsThatAreThereAreNotReadAgain) {
    stop_at(2 + 128 + 20);
    std::atomic<off_t> lowest{INT64_MAX};
    const std::function<int(off_t)> note = [&](off_t at) {
        // Reads of the sealed file's first window; those of the text do not have its offsets.
        const auto first = static_cast<off_t>(chunks_at);
        if (at >= first && (at - first) % static_cast<off_t>(16 * sealed_chunk) == 0 && at < lowest)
            lowest = at;
        return 0;
    };
    reading.before = &note;
    const Resumed last = open(in, out, options);
    reading.before = nullptr;
    EXPECT_EQ(last.kept_bytes, window_text);
    EXPECT_EQ(lowest, static_cast<off_t>(chunks_at + window_sealed));
    expect_whole(last);
}

TEST_F(ResumedOpen, ChangedTextIsWrittenAgain) {
    stop_at(2 + 128 + 20);
    out.put(static_cast<uint8_t>(words[1000] ^ 1), 1000);
    const Resumed last = open(in, out, options);
    EXPECT_TRUE(last.continued);
    EXPECT_EQ(last.kept_bytes, 0u);
    expect_whole(last);
}

TEST_F(ResumedOpen, ForgedRecordIsOfNoUse) {
    stop_at(2 + 128 + 20);
    const size_t records = (text_bytes + 4095) / 4096 * 4096;
    const Data all = out.data();
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(records);
    // The record of the first window for the second, whose text is the first's.
    out.put(Data(first, first + 64), static_cast<off_t>(records + 64));
    out.put(Data(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(window_text)),
            static_cast<off_t>(window_text));
    const Resumed last = open(in, out, options);
    EXPECT_EQ(last.kept_bytes, window_text);
    expect_whole(last);
}

TEST_F(ResumedOpen, OutputOfAnotherFileIsBegunAnew) {
    const MemoryFile other(sealed(words, options));
    stop_at(2 + 128 + 20);
    const Resumed last = open(other, out, options);
    EXPECT_FALSE(last.continued);
    EXPECT_NE(last.not_continued.find("another file"), std::string::npos) << last.not_continued;
    expect_whole(last);
}

TEST_F(ResumedOpen, MovedInputContinues) {
    stop_at(2 + 128 + 20);
    const MemoryFile moved(whole);
    const Resumed last = open(moved, out, options);
    EXPECT_EQ(last.kept_bytes, window_text);
    expect_whole(last);
}

TEST_F(ResumedOpen, LengthenedInputIsNotContinued) {
    stop_at(2 + 128 + 20);
    in.put(uint8_t{1}, whole.size());
    const Resumed last = open(in, out, options);
    EXPECT_FALSE(last.continued);
    EXPECT_EQ(last.status, WARPSEAL_NOT_AUTHENTIC);
}

TEST_F(ResumedOpen, DamageStopsAndTheGoodFileContinues) {
    in.put(static_cast<uint8_t>(whole[chunks_at + window_sealed + 5] ^ 1),
           chunks_at + window_sealed + 5);
    EXPECT_EQ(open(in, out, options).status, WARPSEAL_NOT_AUTHENTIC);
    in.put(whole[chunks_at + window_sealed + 5], chunks_at + window_sealed + 5);
    const Resumed last = open(in, out, options);
    EXPECT_EQ(last.kept_bytes, window_text);
    expect_whole(last);
}

TEST_F(ResumedOpen, CutInputs) {
    for (const size_t bytes :
         {size_t{0}, size_t{100}, chunks_at, chunks_at + 15, chunks_at + 3 * sealed_chunk + 7}) {
        SCOPED_TRACE(bytes);
        const auto end = whole.begin() + static_cast<std::ptrdiff_t>(bytes);
        const MemoryFile cut(Data(whole.begin(), end));
        const Resumed refused = open(cut, out, options);
        EXPECT_EQ(refused.status, bytes == 0 ? WARPSEAL_INVALID_ARGUMENT : WARPSEAL_TRUNCATED)
            << refused.result.message;
        EXPECT_EQ(out.size(), 0u);
    }
}

TEST_F(ResumedOpen, SmallAndEmptyTexts) {
    for (const size_t bytes : {size_t{0}, size_t{1}, chunk, 3 * chunk + 5}) {
        SCOPED_TRACE(bytes);
        const Data text = Random(bytes).text(bytes);
        const MemoryFile input(sealed(text, options)), output;
        const Resumed first = open(input, output, options);
        ASSERT_EQ(first.status, WARPSEAL_OK) << first.result.message;
        EXPECT_TRUE(cut_to(output, first.output_bytes) == text);
        const Resumed again = open(input, output, options);
        EXPECT_TRUE(again.continued);
        EXPECT_EQ(again.kept_bytes, bytes);
    }
}

TEST_F(ResumedOpen, WrongKeyAndOtherFilesLeaveItAlone) {
    stop_at(2 + 128 + 20);
    const Data before = out.data();
    Options other;
    other.key(2);
    EXPECT_EQ(open(in, out, other).status, WARPSEAL_WRONG_KEY);
    EXPECT_TRUE(out.data() == before);
    const MemoryFile plain(Data(50'000, 3));
    const Resumed refused = open(in, plain, options);
    EXPECT_EQ(refused.status, WARPSEAL_INVALID_ARGUMENT);
    EXPECT_TRUE(refused.other_file);
    EXPECT_TRUE(plain.data() == Data(50'000, 3));
}

}  // namespace
}  // namespace tests
