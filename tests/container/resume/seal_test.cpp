// Sealing that is stopped at any system call and continued: the file is whole, and no nonce served
// two texts, whatever happened to the input and to the unfinished output meanwhile.
#include "../recipients.h"
#include "unfinished.h"

namespace tests {
namespace {

class ResumedSeal : public Faults {
protected:
    // Two windows, and chunks of a third.
    static constexpr size_t text_bytes = 2 * window_text + 40 * chunk + 9;

    ResumedSeal() : words(Random(310).text(text_bytes)), in(words) {}

    // Stops a first run at its n-th write of all threads. Returns false if it had fewer.
    bool stop_at(int n, unsigned threads = 4, size_t at_most = SIZE_MAX) {
        writing.error = EIO;
        writing.countdown = n;
        writing.at_most = at_most;
        const Resumed first = seal(in, out, options, threads);
        const bool stopped = writing.countdown < 0;
        writing.countdown = -1;
        writing.at_most = SIZE_MAX;
        EXPECT_EQ(first.status, stopped ? WARPSEAL_IO : WARPSEAL_OK) << first.result.message;
        EXPECT_FALSE(first.continued);
        EXPECT_TRUE(audit.see(out.data(), sealed_size(text_bytes)));
        return stopped;
    }
    // Stops a first run in its second window.
    void stop_in_second_window() {
        // Last block, header, record and segments of the first window, record, and some more.
        ASSERT_TRUE(stop_at(2 + 1 + 128 + 1 + 20));
    }
    void expect_whole(const Resumed& last, const Data& text) {
        ASSERT_EQ(last.status, WARPSEAL_OK) << last.result.message;
        ASSERT_EQ(last.output_bytes, sealed_size(text.size()));
        EXPECT_TRUE(audit.see(out.data(), sealed_size(text.size())));
        const Outcome opened = run(Operation::open, cut_to(out, last.output_bytes), options, 4);
        ASSERT_EQ(opened.status, WARPSEAL_OK) << opened.result.message;
        EXPECT_TRUE(opened.out == text);
        EXPECT_EQ(last.result.plaintext_bytes, text.size());
        EXPECT_EQ(last.result.file_bytes, last.output_bytes);
    }
    void expect_anew(const Resumed& last, const char* why) {
        EXPECT_FALSE(last.continued);
        EXPECT_EQ(last.kept_bytes, 0u);
        EXPECT_NE(last.not_continued.find(why), std::string::npos) << last.not_continued;
        EXPECT_EQ(audit.payloads(), 2u);
    }
    void expect_discarded(const Resumed& last) {
        EXPECT_EQ(last.status, WARPSEAL_IO) << last.result.message;
        EXPECT_NE(std::string(last.result.message).find("discarded"), std::string::npos);
        EXPECT_EQ(out.size(), 0u);
    }
    Data file_id() const {
        const Data all = out.data();
        return Data(all.begin() + 16, all.begin() + 32);
    }

    Data words;
    const MemoryFile in, out;
    NonceAudit audit;
};

TEST_F(ResumedSeal, StoppedAtAnyWriteAndContinued) {
    for (const int n : {0, 1, 2, 3, 4, 60, 130, 131, 132, 133, 200, 261, 262, 263, 264}) {
        SCOPED_TRACE(n);
        out.cut(0);
        const bool in_parts = n % 3 == 0;
        ASSERT_TRUE(stop_at(n, n % 2 == 0 ? 1 : 4, in_parts ? 5000 : SIZE_MAX));
        const Data id = out.size() == 0 ? Data() : file_id();
        const Resumed last = seal(in, out, options);
        // Without its header, which follows the last block, nothing can be continued.
        EXPECT_EQ(last.continued, n >= (in_parts ? 1 + 13 : 2)) << last.not_continued;
        if (last.continued) {
            EXPECT_EQ(id, file_id());
        }
        if (n > 131 && !in_parts) {
            EXPECT_GE(last.kept_bytes, window_text);
        }
        expect_whole(last, words);
    }
}

TEST_F(ResumedSeal, StoppedAgainAndAgain) {
    ASSERT_TRUE(stop_at(40));
    // The other threads write their segments in spite of a failure, so that a later run ends.
    for (int n = 0; n < 3; ++n) {
        writing.error = ENOSPC;
        writing.countdown = 30;
        EXPECT_EQ(seal(in, out, options).status, WARPSEAL_IO);
        writing.countdown = -1;
        EXPECT_TRUE(audit.see(out.data(), sealed_size(text_bytes)));
    }
    const Resumed last = seal(in, out, options);
    EXPECT_TRUE(last.continued);
    expect_whole(last, words);
    EXPECT_EQ(audit.payloads(), 1u);
}

TEST_F(ResumedSeal, AllLengths) {
    for (const size_t bytes : {size_t{1}, chunk - 1, chunk, chunk + 1, 15 * chunk, 16 * chunk,
                               16 * chunk + 1, window_text - 1, window_text, window_text + 1}) {
        SCOPED_TRACE(bytes);
        const Data text = Random(bytes).text(bytes);
        const MemoryFile input(text), output;
        writing.error = EIO;
        writing.countdown = 3;
        EXPECT_EQ(seal(input, output, options).status, WARPSEAL_IO);
        writing.countdown = -1;
        const Resumed last = seal(input, output, options);
        EXPECT_TRUE(last.continued) << last.not_continued;
        ASSERT_EQ(last.status, WARPSEAL_OK) << last.result.message;
        EXPECT_EQ(last.output_bytes, sealed_size(bytes));
        const Outcome opened = run(Operation::open, cut_to(output, last.output_bytes), options);
        EXPECT_TRUE(opened.status == WARPSEAL_OK && opened.out == text);
        // It is whole, so that all of it is kept.
        EXPECT_EQ(seal(input, output, options).kept_bytes, bytes);
    }
}

TEST_F(ResumedSeal, BareMessagesToo) {
    Options bare;
    bare.bare(32);
    writing.error = EIO;
    writing.countdown = 140;
    EXPECT_EQ(seal(in, out, bare).status, WARPSEAL_IO);
    writing.countdown = -1;
    const Resumed last = seal(in, out, bare);
    EXPECT_TRUE(last.continued);
    EXPECT_GE(last.kept_bytes, window_text);
    const Outcome opened = run(Operation::open, cut_to(out, last.output_bytes), bare);
    EXPECT_TRUE(opened.status == WARPSEAL_OK && opened.out == words);
}

TEST_F(ResumedSeal, BareMessageWithoutHeadIsBegunAnew) {
    Options bare;
    bare.bare(32);
    writing.error = EIO;
    writing.countdown = 1;  // the last block is there
    EXPECT_EQ(seal(in, out, bare).status, WARPSEAL_IO);
    writing.countdown = -1;
    EXPECT_GT(out.size(), 0u);
    const Resumed last = seal(in, out, bare);
    EXPECT_EQ(last.not_continued, "its header is missing");
    const Outcome opened = run(Operation::open, cut_to(out, last.output_bytes), bare);
    EXPECT_TRUE(opened.status == WARPSEAL_OK && opened.out == words);
}

// The journal is on the disk before the first byte of a chunk is visible. What a sync could not
// write is not there for a later run, which might read it from memory alone.
TEST_F(ResumedSeal, NoChunkWithoutSyncedRecord) {
    for (const int n : {0, 1, 2}) {
        SCOPED_TRACE(n);
        out.cut(0);
        int syncs = 0;
        Data left;
        const std::function<int(off_t)> fail = [&](off_t) {
            if (syncs++ != n) return 0;
            left = out.data();
            return EIO;
        };
        syncing.before = &fail;
        const Resumed first = seal(in, out, options);
        syncing.before = nullptr;
        EXPECT_EQ(first.status, WARPSEAL_IO);
        EXPECT_EQ(first.result.system_error, EIO);
        EXPECT_EQ(out.size(), 0u);
        ASSERT_GE(left.size(), sealed_size(text_bytes));
        const size_t from = chunks_at + static_cast<size_t>(n) * window_sealed;
        EXPECT_TRUE(std::all_of(left.begin() + static_cast<std::ptrdiff_t>(from),
                                left.begin() + static_cast<std::ptrdiff_t>(sealed_size(text_bytes)),
                                [](uint8_t byte) { return byte == 0; }));
        EXPECT_EQ(left[from - 1] != 0 || left[from - 2] != 0, true);
    }
}

// A run that is killed between a record and its sync leaves a record in memory alone.
TEST_F(ResumedSeal, RecordsOfAKilledRunAreSyncedBeforeChunks) {
    int syncs = 0;
    Data left;
    const std::function<int(off_t)> at_sync = [&](off_t) {
        if (syncs++ == 1) left = out.data();
        return 0;
    };
    syncing.before = &at_sync;
    EXPECT_EQ(seal(in, out, options).status, WARPSEAL_OK);
    out.cut(0);
    out.put(left);
    std::atomic<bool> synced{false};
    std::atomic<int> chunks{0}, early{0};
    const std::function<int(off_t)> note_sync = [&](off_t) {
        synced = true;
        return 0;
    };
    const std::function<int(off_t)> note_write = [&](off_t at) {
        if (at < static_cast<off_t>(sealed_size(text_bytes))) ++(synced ? chunks : early);
        return 0;
    };
    syncing.before = &note_sync;
    writing.before = &note_write;
    const Resumed last = seal(in, out, options);
    syncing.before = writing.before = nullptr;
    EXPECT_TRUE(last.continued) << last.not_continued;
    EXPECT_EQ(last.kept_bytes, window_text);
    EXPECT_GT(chunks, 0);
    EXPECT_EQ(early, 0);
    expect_whole(last, words);
}

TEST_F(ResumedSeal, FailedSyncOfWhatIsThereDiscardsIt) {
    stop_in_second_window();
    syncing.error = EIO;
    syncing.countdown = 0;
    const Resumed second = seal(in, out, options);
    EXPECT_EQ(second.status, WARPSEAL_IO);
    EXPECT_EQ(second.result.system_error, EIO);
    EXPECT_EQ(out.size(), 0u);
}

// A page is as it was at the last sync, or as it is now.
TEST_F(ResumedSeal, LossOfPower) {
    Random random(311);
    for (int n = 0; n < 6; ++n) {
        SCOPED_TRACE(n);
        out.cut(0);
        Data durable;
        const std::function<int(off_t)> at_sync = [&](off_t) {
            durable = out.data();
            return 0;
        };
        syncing.before = &at_sync;
        ASSERT_TRUE(stop_at(30 + 40 * n));
        syncing.before = nullptr;
        Data left = out.data();
        durable.resize(left.size());
        for (size_t page = 0; page < left.size(); page += 4096)
            if (random.one_in(2))
                std::copy_n(durable.begin() + static_cast<std::ptrdiff_t>(page),
                            std::min<size_t>(4096, left.size() - page),
                            left.begin() + static_cast<std::ptrdiff_t>(page));
        out.put(left);
        const Resumed last = seal(in, out, options);
        EXPECT_TRUE(last.continued) << last.not_continued;
        expect_whole(last, words);
    }
}

TEST_F(ResumedSeal, ChangedInputIsBegunAnew) {
    stop_in_second_window();
    words[100] ^= 1;
    in.put(words[100], 100);
    const Resumed last = seal(in, out, options);
    expect_whole(last, words);
    expect_anew(last, "input was changed");
}

TEST_F(ResumedSeal, LongerInputIsBegunAnew) {
    const FrozenTimes frozen;
    stop_in_second_window();
    words.push_back(7);
    in.put(uint8_t{7}, words.size() - 1);
    const Resumed last = seal(in, out, options);
    expect_whole(last, words);
    expect_anew(last, "input was changed");
}

TEST_F(ResumedSeal, ChangeOfSealedTextThatNoTimeShows) {
    for (const size_t at : {size_t{100}, window_text - 1, window_text, 2 * window_text - 1}) {
        SCOPED_TRACE(at);
        const FrozenTimes frozen;
        out.cut(0);
        stop_in_second_window();
        words[at] ^= 1;
        in.put(words[at], at);
        expect_discarded(seal(in, out, options));
        const Resumed last = seal(in, out, options);
        EXPECT_FALSE(last.continued);
        expect_whole(last, words);
    }
}

// The window was never sealed, so that its nonces are unused.
TEST_F(ResumedSeal, ChangeOfOtherTextThatNoTimeShows) {
    const FrozenTimes frozen;
    stop_in_second_window();
    words[2 * window_text] ^= 1;
    in.put(words[2 * window_text], 2 * window_text);
    const Resumed last = seal(in, out, options);
    EXPECT_TRUE(last.continued);
    expect_whole(last, words);
    EXPECT_EQ(audit.payloads(), 1u);
}

TEST_F(ResumedSeal, DamagedChunksAreWrittenAgain) {
    stop_in_second_window();
    const Data before = out.data();
    out.put(static_cast<uint8_t>(before[chunks_at + 500] ^ 1), chunks_at + 500);
    out.put(Data(4096), static_cast<off_t>(chunks_at + 200 * sealed_chunk));
    const Resumed last = seal(in, out, options);
    EXPECT_TRUE(last.continued);
    EXPECT_EQ(last.kept_bytes, 0u);
    ASSERT_EQ(last.status, WARPSEAL_OK);
    const Outcome opened = run(Operation::open, cut_to(out, last.output_bytes), options);
    EXPECT_TRUE(opened.status == WARPSEAL_OK && opened.out == words);
}

// Without its record nobody knows what text a chunk has.
TEST_F(ResumedSeal, ChunksWithoutRecordAreDiscarded) {
    stop_in_second_window();
    const size_t records = (sealed_size(text_bytes) + 4095) / 4096 * 4096;
    out.put(Data(64), static_cast<off_t>(records));
    expect_discarded(seal(in, out, options));
}

TEST_F(ResumedSeal, DamagedRecordIsDiscarded) {
    stop_in_second_window();
    const size_t records = (sealed_size(text_bytes) + 4095) / 4096 * 4096;
    out.put(static_cast<uint8_t>(out.data()[records + 63] ^ 0x80), records + 63);
    expect_discarded(seal(in, out, options));
}

TEST_F(ResumedSeal, DamagedHeaderOrJournalIsBegunAnew) {
    const size_t size = [&] {
        stop_in_second_window();
        return out.size();
    }();
    const std::pair<size_t, const char*> places[] = {{5000, "header"},
                                                     {4096 + 28672 + 9, "header"},
                                                     {payload_at + 3, "header"},
                                                     {size - 4096 + 60, "damaged"},
                                                     {size - 4096 + 200, "damaged"}};
    for (const auto& [at, why] : places) {
        SCOPED_TRACE(at);
        out.cut(0);
        audit = {};
        stop_in_second_window();
        out.put(static_cast<uint8_t>(out.data()[at] ^ 1), at);
        const Resumed last = seal(in, out, options);
        expect_whole(last, words);
        expect_anew(last, why);
    }
}

TEST_F(ResumedSeal, WrongKeyLeavesItAlone) {
    stop_in_second_window();
    const Data before = out.data();
    Options other;
    other.key(2);
    EXPECT_EQ(seal(in, out, other).status, WARPSEAL_WRONG_KEY);
    EXPECT_TRUE(out.data() == before);
    const Resumed last = seal(in, out, options);
    EXPECT_TRUE(last.continued);
    expect_whole(last, words);
}

// Who the first run wrote for could open what the second one writes.
TEST_F(ResumedSeal, OtherKeysOrCipherAreBegunAnew) {
    const Person alice(warpseal::container::RecipientType::x25519, 1);
    const Person bob(warpseal::container::RecipientType::x25519, 2);
    const auto with = [](Options& of, int what, const Person& person) {
        of.key();
        if (what == 1) of.key(9);
        if (what == 2) person.seal(of);
        if (what == 3) of.passphrase("one");
        if (what == 4) of.suite = "aria-256-gcm";
    };
    for (int what = 1; what <= 4; ++what) {
        for (const bool more : {false, true}) {
            SCOPED_TRACE(what * 2 + (more ? 1 : 0));
            Options first, second;
            with(first, more ? 0 : what, alice);
            with(second, more ? what : 0, alice);
            const MemoryFile output;
            writing.error = EIO;
            writing.countdown = 140;
            EXPECT_EQ(seal(in, output, first).status, WARPSEAL_IO);
            writing.countdown = -1;
            const Resumed last = seal(in, output, second);
            ASSERT_EQ(last.status, WARPSEAL_OK) << last.result.message;
            EXPECT_FALSE(last.continued);
            EXPECT_NE(last.not_continued.find(what == 4 ? "cipher" : "keys"), std::string::npos)
                << last.not_continued;
        }
    }
    Options first, second;
    with(first, 2, alice);
    with(second, 2, bob);
    const MemoryFile output;
    writing.error = EIO;
    writing.countdown = 140;
    EXPECT_EQ(seal(in, output, first).status, WARPSEAL_IO);
    writing.countdown = -1;
    const Resumed last = seal(in, output, second);
    EXPECT_FALSE(last.continued);
    EXPECT_NE(last.not_continued.find("recipients"), std::string::npos) << last.not_continued;
}

TEST_F(ResumedSeal, SameKeysOfAllKinds) {
    const Person alice(warpseal::container::RecipientType::x25519, 1);
    Options all;
    alice.seal(all.key()).passphrase("one").key(4);
    writing.error = EIO;
    writing.countdown = 140;
    EXPECT_EQ(seal(in, out, all).status, WARPSEAL_IO);
    writing.countdown = -1;
    Options costlier;
    alice.seal(costlier.key()).passphrase("one").key(4);
    costlier.argon2_passes = 2;
    const MemoryFile copy(out.data());
    EXPECT_EQ(seal(in, copy, costlier).not_continued, "its keys were others");
    const Resumed last = seal(in, out, all);
    EXPECT_TRUE(last.continued) << last.not_continued;
    EXPECT_GE(last.kept_bytes, window_text);
}

// A stanza counts as its whole bytes. Another one may be for somebody else.
TEST_F(ResumedSeal, StanzasAreRecipients) {
    const auto with_stanza = [](Options& of, uint8_t file_key) -> Options& {
        Data stanza = {0, WARPSEAL_SLOT_SSH_ED25519};
        stanza.resize(2 + 16 + 68, file_key);
        return of.add(static_cast<warpseal_secret_type>(WARPSEAL_INTERNAL_SECRET_STANZA), stanza);
    };
    Options first, other, alone;
    with_stanza(first.key(), 1);
    with_stanza(other.key(), 2);
    writing.error = EIO;
    writing.countdown = 140;
    EXPECT_EQ(seal(in, out, first).status, WARPSEAL_IO);
    writing.countdown = -1;
    const MemoryFile copy(out.data());
    EXPECT_NE(seal(in, copy, other).not_continued.find("recipients"), std::string::npos);
    const Resumed last = seal(in, out, first);
    EXPECT_TRUE(last.continued) << last.not_continued;
    EXPECT_EQ(seal(in, copy, with_stanza(alone, 1)).status, WARPSEAL_INVALID_ARGUMENT);
}

TEST_F(ResumedSeal, RecipientsAloneCannotContinue) {
    const Person alice(warpseal::container::RecipientType::x25519, 1);
    Options nobody;
    alice.seal(nobody);
    EXPECT_EQ(seal(in, out, nobody).status, WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(out.size(), 0u);
}

TEST_F(ResumedSeal, OtherFilesAreLeftAlone) {
    const Data other = Random(312).text(100'000);
    out.put(other);
    const Resumed refused = seal(in, out, options);
    EXPECT_EQ(refused.status, WARPSEAL_INVALID_ARGUMENT);
    EXPECT_TRUE(refused.other_file);
    EXPECT_TRUE(out.data() == other);
}

TEST_F(ResumedSeal, PipesAndEmptyInputsAreRefused) {
    const MemoryFile nothing;
    EXPECT_EQ(seal(nothing, out, options).status, WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(out.size(), 0u);
}

}  // namespace
}  // namespace tests
