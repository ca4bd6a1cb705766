// Rescue of damaged files. An independent expectation, from a comparison of each chunk's bytes with
// the undamaged file, says what must be written, where the holes are, and if the end was found.
#include <algorithm>
#include <chrono>

#include "calls.h"

namespace tests {
namespace {

using Hole = std::pair<uint64_t, uint64_t>;

struct Rescued {
    warpseal_status status = WARPSEAL_OK;
    warpseal_file_result result = {};
    warpseal_rescue report = {};
    std::vector<warpseal_file_hole> holes;
    Data out;

    std::vector<Hole> ranges(warpseal_hole_reason reason) const {
        std::vector<Hole> ranges;
        for (const warpseal_file_hole& hole : holes)
            if (hole.reason == reason) ranges.emplace_back(hole.offset, hole.bytes);
        return ranges;
    }
};

int note(void* rescued, const warpseal_file_hole* hole) {
    static_cast<Rescued*>(rescued)->holes.push_back(*hole);
    return 0;
}

void rescue(Rescued& rescued, int in, int out, const warpseal_file_options& options,
            unsigned threads = 1) {
    rescued.report.struct_bytes = sizeof rescued.report;
    if (rescued.report.hole == nullptr) rescued.report.hole = note;
    if (rescued.report.hole == note) rescued.report.hole_user = &rescued;
    rescued.status = warpseal::container::rescue(engine(threads), in, out, options, rescued.report,
                                                 rescued.result);
}

Rescued rescue(const Data& file, const warpseal_file_options& options, unsigned threads = 1) {
    Rescued rescued;
    const MemoryFile in(file), out;
    rescue(rescued, in.get(), out.get(), options, threads);
    rescued.out = out.data();
    EXPECT_TRUE(rescued.report.finished != 0 || rescued.status != WARPSEAL_OK);
    if (rescued.report.finished != 0) {
        EXPECT_EQ(lseek(out.get(), 0, SEEK_CUR), static_cast<off_t>(rescued.out.size()));
    }
    return rescued;
}

// Returns the result that a rescue of `damaged` must have, if its header opens. `begin` is the
// first chunk's offset.
Rescued expected(const Data& damaged, const Data& whole, const Data& text, size_t begin) {
    Rescued wanted;
    const size_t full = text.size() / chunk, last_at = begin + full * sealed_chunk;
    const auto same = [&](size_t at, size_t bytes) {
        return at + bytes <= damaged.size() && at + bytes <= whole.size() &&
               std::equal(damaged.begin() + static_cast<std::ptrdiff_t>(at),
                          damaged.begin() + static_cast<std::ptrdiff_t>(at + bytes),
                          whole.begin() + static_cast<std::ptrdiff_t>(at));
    };
    const auto verifies = [&](size_t k) {
        return k < full && same(begin + k * sealed_chunk, sealed_chunk);
    };
    const bool last_is_here = same(last_at, whole.size() - last_at);
    const bool end =
        last_is_here && (damaged.size() == whole.size() || full == 0 || verifies(full - 1));
    const size_t bytes = (end ? whole.size() : damaged.size()) - begin;
    const size_t rest = bytes % sealed_chunk, chunks = bytes / sealed_chunk;
    size_t verified = end ? 1 : 0;
    for (size_t k = 0; k < chunks; ++k) {
        const size_t at = wanted.out.size();
        if (verifies(k)) {
            const auto from = text.begin() + static_cast<std::ptrdiff_t>(at);
            wanted.out.insert(wanted.out.end(), from, from + chunk);
            ++verified;
            continue;
        }
        wanted.out.resize(at + chunk);
        if (!wanted.holes.empty() && wanted.holes.back().offset + wanted.holes.back().bytes == at)
            wanted.holes.back().bytes += chunk;
        else
            wanted.holes.push_back({at, chunk, WARPSEAL_HOLE_NOT_AUTHENTIC});
    }
    const size_t at = wanted.out.size();
    if (end) {
        wanted.out.insert(wanted.out.end(), text.begin() + static_cast<std::ptrdiff_t>(at),
                          text.end());
    } else if (rest > 16) {
        wanted.out.resize(at + rest - 16);
        wanted.holes.push_back({at, rest - 16, WARPSEAL_HOLE_CUT_OR_CHANGED});
    }
    for (const warpseal_file_hole& hole : wanted.holes) wanted.report.hole_bytes += hole.bytes;
    wanted.report.hole_count = wanted.holes.size();
    wanted.report.end_found = end ? 1 : 0;
    wanted.report.bytes_after_end = end ? damaged.size() - whole.size() : 0;
    wanted.status = !wanted.holes.empty() ? WARPSEAL_NOT_AUTHENTIC
                    : end                 ? WARPSEAL_OK
                                          : WARPSEAL_TRUNCATED;
    wanted.report.finished = 1;
    if (verified != 0) return wanted;
    Rescued nothing;
    nothing.status = chunks == 0 && rest < 16 ? WARPSEAL_TRUNCATED : WARPSEAL_NOT_AUTHENTIC;
    return nothing;
}

void expect_same(const Rescued& got, const Rescued& wanted, const Data& damaged) {
    ASSERT_EQ(got.status, wanted.status) << got.result.message;
    EXPECT_EQ(got.status == WARPSEAL_OK, got.result.message[0] == 0) << got.result.message;
    ASSERT_EQ(got.holes.size(), wanted.holes.size());
    for (size_t i = 0; i < got.holes.size(); ++i) {
        EXPECT_EQ(got.holes[i].offset, wanted.holes[i].offset) << i;
        EXPECT_EQ(got.holes[i].bytes, wanted.holes[i].bytes) << i;
        EXPECT_EQ(got.holes[i].reason, wanted.holes[i].reason) << i;
    }
    EXPECT_TRUE(got.out == wanted.out);
    EXPECT_EQ(got.report.finished, wanted.report.finished);
    EXPECT_EQ(got.report.hole_count, wanted.report.hole_count);
    EXPECT_EQ(got.report.hole_bytes, wanted.report.hole_bytes);
    EXPECT_EQ(got.report.end_found, wanted.report.end_found);
    EXPECT_EQ(got.report.bytes_after_end, wanted.report.bytes_after_end);
    EXPECT_EQ(got.result.plaintext_bytes, wanted.out.size() - wanted.report.hole_bytes);
    EXPECT_EQ(got.result.output_bytes, wanted.out.size());
    EXPECT_EQ(got.result.file_bytes, damaged.size());
}

// The parent seals 40 chunks and 9 bytes: three segments on the cores.
class Rescue : public Faults {
protected:
    static constexpr size_t last = 40;

    static size_t at_chunk(size_t k) { return chunks_at + k * sealed_chunk; }
    // Changes one bit of chunk k, in turn of its text and of its tag.
    void damage(Data& changed, size_t k) const {
        changed[at_chunk(k) + (k % 2 == 0 || k == last ? 0 : sealed_chunk - 1)] ^= 0x10;
    }
    void check(const Data& damaged) {
        for (const unsigned threads : {1u, 4u}) {
            SCOPED_TRACE(threads);
            expect_same(rescue(damaged, options, threads), expected(damaged, file, text, chunks_at),
                        damaged);
        }
    }
};

TEST_F(Rescue, WholeFilesOfAllLengths) {
    for (const size_t bytes : {size_t{0}, size_t{1}, chunk - 1, chunk, chunk + 1, 16 * chunk - 1,
                               16 * chunk, 16 * chunk + 1, 33 * chunk}) {
        SCOPED_TRACE(bytes);
        const Data some = Random(500).text(bytes);
        const Data whole = sealed(some, options);
        for (const unsigned threads : {1u, 4u}) {
            const Rescued got = rescue(whole, options, threads);
            EXPECT_EQ(got.status, WARPSEAL_OK) << got.result.message;
            EXPECT_TRUE(got.out == some);
            EXPECT_EQ(got.report.end_found, 1);
            EXPECT_EQ(got.report.hole_count, 0u);
            EXPECT_EQ(got.result.plaintext_bytes, bytes);
            EXPECT_STRNE(got.result.target, "");
        }
    }
}

TEST_F(Rescue, EachChunk) {
    for (size_t k = 0; k <= last; ++k) {
        SCOPED_TRACE(k);
        Data changed = file;
        damage(changed, k);
        check(changed);
        const Rescued got = rescue(changed, options);
        EXPECT_EQ(got.status, WARPSEAL_NOT_AUTHENTIC);
        EXPECT_EQ(got.report.finished, 1);
        EXPECT_EQ(got.ranges(WARPSEAL_HOLE_NOT_AUTHENTIC),
                  k == last ? std::vector<Hole>{} : std::vector<Hole>({{k * chunk, chunk}}));
        EXPECT_EQ(got.ranges(WARPSEAL_HOLE_CUT_OR_CHANGED),
                  k == last ? std::vector<Hole>({{k * chunk, 9}}) : std::vector<Hole>{});
        EXPECT_EQ(got.report.end_found, k == last ? 0 : 1);
        EXPECT_EQ(got.out.size(), text.size());
    }
}

TEST_F(Rescue, AdjacentChunksAreOneHole) {
    Data changed = file;
    for (const size_t k : {0, 3, 4, 15, 16, 17, 31, 32, 38}) damage(changed, k);
    check(changed);
    EXPECT_EQ(rescue(changed, options, 4).ranges(WARPSEAL_HOLE_NOT_AUTHENTIC),
              std::vector<Hole>({{0, chunk},
                                 {3 * chunk, 2 * chunk},
                                 {15 * chunk, 3 * chunk},
                                 {31 * chunk, 2 * chunk},
                                 {38 * chunk, chunk}}));
    Data all_but_last = file;
    for (size_t k = 0; k < last; ++k) damage(all_but_last, k);
    check(all_but_last);
    EXPECT_EQ(rescue(all_but_last, options).ranges(WARPSEAL_HOLE_NOT_AUTHENTIC),
              std::vector<Hole>({{0, last * chunk}}));
    Data at_end = file;
    for (const size_t k : {38, 39, 40}) damage(at_end, k);
    check(at_end);
    const Rescued got = rescue(at_end, options);
    EXPECT_EQ(got.ranges(WARPSEAL_HOLE_NOT_AUTHENTIC),
              std::vector<Hole>({{38 * chunk, 2 * chunk}}));
    EXPECT_EQ(got.ranges(WARPSEAL_HOLE_CUT_OR_CHANGED), std::vector<Hole>({{40 * chunk, 9}}));
}

TEST_F(Rescue, EveryOtherChunk) {
    Data changed = file;
    for (size_t k = 1; k < last; k += 2) damage(changed, k);
    check(changed);
    EXPECT_EQ(rescue(changed, options).report.hole_count, 20u);
}

TEST_F(Rescue, CutFiles) {
    std::vector<size_t> lengths = {file.size() - 1, file.size() - 9, file.size() - 10};
    for (const size_t k : {1, 2, 15, 16, 17, 39, 40})
        for (const int off : {-16385, -16384, -1, 0, 1, 15, 16, 17, 8000})
            lengths.push_back(at_chunk(k) + static_cast<size_t>(off));
    for (const size_t length : lengths) {
        if (length > file.size()) continue;
        SCOPED_TRACE(length);
        const Data cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
        check(cut);
        EXPECT_EQ(rescue(cut, options).report.end_found, 0);
    }
    // At a chunk's end nothing is in a hole, and still the text is not whole.
    const Data cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(at_chunk(16)));
    const Rescued got = rescue(cut, options);
    EXPECT_EQ(got.status, WARPSEAL_TRUNCATED);
    EXPECT_EQ(got.report.hole_count, 0u);
    EXPECT_EQ(got.out.size(), 16 * chunk);
    EXPECT_STREQ(got.result.message, "the end of the file is missing");
}

TEST_F(Rescue, NothingToRescue) {
    for (const size_t more : {0, 1, 15, 16, 17, 16399}) {
        SCOPED_TRACE(more);
        const Data cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(chunks_at + more));
        const Rescued got = rescue(cut, options);
        EXPECT_EQ(got.status, more < 16 ? WARPSEAL_TRUNCATED : WARPSEAL_NOT_AUTHENTIC);
        EXPECT_EQ(got.report.finished, 0);
        EXPECT_TRUE(got.holes.empty());
        EXPECT_EQ(got.result.output_bytes, 0u);
        check(cut);
    }
    Data changed = file;
    for (size_t k = 0; k <= last; ++k) damage(changed, k);
    check(changed);
    EXPECT_EQ(rescue(changed, options).status, WARPSEAL_NOT_AUTHENTIC);
    for (const size_t length :
         {size_t{0}, size_t{7}, size_t{31}, size_t{4095}, payload_at, chunks_at - 1}) {
        const Data cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
        EXPECT_EQ(rescue(cut, options).status, WARPSEAL_TRUNCATED) << length;
    }
}

TEST_F(Rescue, BytesAfterTheEnd) {
    for (const size_t bytes :
         {size_t{0}, size_t{9}, chunk - 1, chunk, 3 * chunk + 700, 16 * chunk - 1, 16 * chunk}) {
        const Data some = Random(501).text(bytes);
        const Data whole = sealed(some, options);
        for (const size_t more : {1, 15, 16, 17, 16383, 16399, 16400, 16401, 600000}) {
            SCOPED_TRACE(std::to_string(bytes) + " and " + std::to_string(more));
            Data longer = whole;
            const Data junk = Random(502).text(more);
            longer.insert(longer.end(), junk.begin(), junk.end());
            const Rescued got = rescue(longer, options, 4);
            expect_same(got, expected(longer, whole, some, chunks_at), longer);
            EXPECT_EQ(got.status, WARPSEAL_OK);
            EXPECT_EQ(got.report.bytes_after_end, more);
            EXPECT_TRUE(got.out == some);
        }
    }
}

TEST_F(Rescue, BytesAfterTheEndOfADamagedFile) {
    Data longer = file;
    longer.resize(file.size() + 50000);
    damage(longer, 20);
    check(longer);
    EXPECT_EQ(rescue(longer, options).report.end_found, 1);
    // The end is found right after a chunk that verifies only.
    damage(longer, 39);
    check(longer);
    EXPECT_EQ(rescue(longer, options).report.end_found, 0);
    damage(longer, 39);
    damage(longer, 40);
    check(longer);
    Data twice = file;
    twice.insert(twice.end(), file.begin(), file.end());
    check(twice);
    EXPECT_EQ(rescue(twice, options).status, WARPSEAL_OK);
}

TEST_F(Rescue, ChunksElsewhere) {
    const auto copy = [&](Data& to, size_t k, const Data& from, size_t other, size_t bytes) {
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(at_chunk(other)), bytes,
                    to.begin() + static_cast<std::ptrdiff_t>(at_chunk(k)));
    };
    Data swapped = file;
    copy(swapped, 5, file, 30, sealed_chunk);
    copy(swapped, 30, file, 5, sealed_chunk);
    check(swapped);
    EXPECT_EQ(rescue(swapped, options).ranges(WARPSEAL_HOLE_NOT_AUTHENTIC),
              std::vector<Hole>({{5 * chunk, chunk}, {30 * chunk, chunk}}));
    Data foreign = file;
    copy(foreign, 7, sealed(text, options), 7, sealed_chunk);
    check(foreign);
    EXPECT_EQ(rescue(foreign, options).ranges(WARPSEAL_HOLE_NOT_AUTHENTIC),
              std::vector<Hole>({{7 * chunk, chunk}}));
    Data repeated = file;
    copy(repeated, 8, file, 7, sealed_chunk);
    check(repeated);
    // The last chunk at the place of another one is not the end.
    Data early = file;
    copy(early, 16, file, last, 9 + 16);
    early.resize(at_chunk(16) + 9 + 16);
    check(early);
    EXPECT_EQ(rescue(early, options).report.end_found, 0);
    Data missing = file;
    missing.erase(missing.begin() + static_cast<std::ptrdiff_t>(at_chunk(20)),
                  missing.begin() + static_cast<std::ptrdiff_t>(at_chunk(21)));
    check(missing);
}

TEST_F(Rescue, Headers) {
    for (const size_t copy : {4096, 32768}) {
        Data changed = file;
        for (size_t i = 0; i < 28672; ++i) changed[copy + i] ^= 0x55;
        Rescued got = rescue(changed, options);
        EXPECT_EQ(got.status, WARPSEAL_OK);
        EXPECT_EQ(got.result.header_copies_differ, 1);
        EXPECT_TRUE(got.out == text);
        damage(changed, 3);
        got = rescue(changed, options);
        EXPECT_EQ(got.status, WARPSEAL_NOT_AUTHENTIC);
        EXPECT_EQ(got.report.finished, 1);
        EXPECT_EQ(got.result.header_copies_differ, 1);
    }
    const struct {
        std::vector<size_t> bytes;
        warpseal_status status;
    } fatal[] = {{{4096, 32768}, WARPSEAL_NOT_AUTHENTIC},  // both header copies
                 {{4095}, WARPSEAL_NOT_AUTHENTIC},
                 {{0}, WARPSEAL_UNSUPPORTED},
                 {{payload_at}, WARPSEAL_NOT_AUTHENTIC},
                 {{chunks_at - 1}, WARPSEAL_NOT_AUTHENTIC}};
    for (const auto& [bytes, status] : fatal) {
        Data changed = file;
        for (const size_t at : bytes) changed[at] ^= 1;
        const Rescued got = rescue(changed, options);
        EXPECT_EQ(got.status, status) << bytes[0] << ": " << got.result.message;
        EXPECT_TRUE(got.out.empty() && got.holes.empty());
    }
    Options other;
    other.key(9);
    const Rescued got = rescue(file, other);
    EXPECT_EQ(got.status, WARPSEAL_WRONG_KEY);
    EXPECT_TRUE(got.out.empty() && got.holes.empty());
}

TEST_F(Rescue, BarePayloads) {
    for (const size_t key_bytes : {16, 32}) {
        Options bare;
        bare.bare(key_bytes);
        const Data payload = sealed(text, bare);
        Data changed = payload;
        changed[56 + 4 * sealed_chunk] ^= 1;
        expect_same(rescue(changed, bare), expected(changed, payload, text, 56), changed);
        changed.resize(changed.size() + 70000);
        expect_same(rescue(changed, bare), expected(changed, payload, text, 56), changed);
        changed[55] ^= 1;
        EXPECT_EQ(rescue(changed, bare).status, WARPSEAL_WRONG_KEY);
    }
}

TEST_F(Rescue, Suites) {
    for (const char* suite : {"aes-128-gcm", "aria-256-gcm", "camellia-256-gcm"}) {
        options.suite = suite;
        const Data whole = sealed(text, options);
        Data changed = whole;
        damage(changed, 17);
        expect_same(rescue(changed, options), expected(changed, whole, text, chunks_at), changed);
    }
}

TEST_F(Rescue, KindsOfDescriptors) {
    Data changed = file;
    for (const size_t k : {1, 16}) damage(changed, k);
    const Rescued wanted = rescue(changed, options);
    Rescued got;
    {
        const PipeSource in(changed);
        const MemoryFile out;
        rescue(got, in.get(), out.get(), options);
        EXPECT_EQ(got.status, WARPSEAL_INVALID_ARGUMENT);
        EXPECT_NE(std::string(got.result.message).find("pipe"), std::string::npos);
        EXPECT_EQ(out.size(), 0u);
    }
    const MemoryFile in(changed);
    {
        PipeSink out;
        got = {};
        rescue(got, in.get(), out.get(), options, 4);
        EXPECT_TRUE(out.finish() == wanted.out);
        EXPECT_EQ(got.status, WARPSEAL_NOT_AUTHENTIC);
        EXPECT_EQ(got.report.finished, 1);
    }
    in.rewind();
    got = {};
    rescue(got, in.get(), -1, options, 4);
    EXPECT_EQ(got.status, WARPSEAL_NOT_AUTHENTIC);
    EXPECT_EQ(got.report.finished, 1);
    EXPECT_EQ(got.ranges(WARPSEAL_HOLE_NOT_AUTHENTIC), wanted.ranges(WARPSEAL_HOLE_NOT_AUTHENTIC));
    EXPECT_EQ(got.result.output_bytes, 0u);
    in.rewind();
    options.any_order = 1;
    expect_same(rescue(changed, options, 4), wanted, changed);
    got = {};
    rescue(got, in.get(), in.get(), options);
    EXPECT_EQ(got.status, WARPSEAL_INVALID_ARGUMENT);
    EXPECT_TRUE(in.data() == changed);
    const int status = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    got = {};
    rescue(got, status, -1, options);
    EXPECT_EQ(got.status, WARPSEAL_UNSUPPORTED);
    close(status);
}

TEST_F(Rescue, Cancelled) {
    Data changed = file;
    for (const size_t k : {1, 16, 40}) damage(changed, k);
    const MemoryFile in(changed), out;
    Rescued got;
    got.report.hole = [](void*, const warpseal_file_hole*) { return 1; };
    rescue(got, in.get(), out.get(), options);
    EXPECT_EQ(got.status, WARPSEAL_CANCELLED);
    EXPECT_EQ(got.report.finished, 0);
    EXPECT_EQ(out.size(), chunk);  // what precedes the hole
    options.progress = [](void*, uint64_t done, uint64_t total) {
        EXPECT_EQ(total, 40 * chunk + 9);
        EXPECT_LE(done, total);
        return 1;
    };
    in.rewind();
    got = {};
    rescue(got, in.get(), -1, options);
    EXPECT_EQ(got.status, WARPSEAL_CANCELLED);
    EXPECT_EQ(got.report.finished, 0);
    options.progress = [](void*, uint64_t done, uint64_t total) { return done == total ? 1 : 0; };
    in.rewind();
    got = {};
    rescue(got, in.get(), -1, options);
    EXPECT_EQ(got.status, WARPSEAL_CANCELLED);
    EXPECT_EQ(got.report.finished, 0);
    static uint64_t seen;
    options.progress = [](void*, uint64_t done, uint64_t) {
        seen = done;
        return 0;
    };
    in.rewind();
    got = {};
    rescue(got, in.get(), -1, options);
    EXPECT_EQ(got.status, WARPSEAL_NOT_AUTHENTIC);
    EXPECT_EQ(got.report.finished, 1);
    EXPECT_EQ(seen, text.size());
    options.progress = nullptr;
}

// A hole may be long: the caller can cancel while zeros are written.
TEST_F(Rescue, CancelledInAHole) {
    static bool in_hole;
    in_hole = false;
    Data changed = file;
    for (size_t k = 2; k < last; ++k) damage(changed, k);
    const MemoryFile in(changed), out;
    Rescued got;
    got.report.hole = [](void*, const warpseal_file_hole*) {
        std::this_thread::sleep_for(std::chrono::milliseconds(150));  // a progress callback is due
        in_hole = true;
        return 0;
    };
    options.progress = [](void*, uint64_t, uint64_t) { return in_hole ? 1 : 0; };
    rescue(got, in.get(), out.get(), options);
    EXPECT_EQ(got.status, WARPSEAL_CANCELLED);
    EXPECT_EQ(out.size(), 3 * chunk);
    options.progress = nullptr;
}

// The chunk where the end may be is read again.
TEST_F(Rescue, InputShrinksBeforeTheSearchForTheEnd) {
    Data changed = file;
    damage(changed, last);
    const MemoryFile in(changed), out;
    const std::function<int(off_t)> shrink = [&](off_t at) {
        if (at == static_cast<off_t>(at_chunk(last))) in.cut(at_chunk(last) + 3);
        return 0;
    };
    reading.before = &shrink;
    Rescued got;
    rescue(got, in.get(), out.get(), options);
    reading.before = nullptr;
    EXPECT_EQ(got.status, WARPSEAL_IO);
    EXPECT_EQ(got.report.finished, 0);
}

TEST_F(Rescue, EachSystemCallFailsOnce) {
    Data changed = file;
    for (const size_t k : {1, 16, 39}) damage(changed, k);
    changed.resize(changed.size() - 3);
    for (const auto& [script, error] : {std::pair{&reading, EIO}, {&writing, ENOSPC}}) {
        for (int n = 0;; ++n) {
            script->error = error;
            script->countdown = n;
            const Rescued got = rescue(changed, options, n % 2 == 0 ? 1 : 4);
            const bool happened = script->countdown < 0;
            script->countdown = -1;
            if (!happened) {
                EXPECT_GE(n, 5);
                break;
            }
            ASSERT_EQ(got.status, WARPSEAL_IO) << n;
            ASSERT_EQ(got.report.finished, 0) << n;
            ASSERT_EQ(got.result.system_error, error);
        }
    }
    for (Script* script : {&reading, &writing}) {
        script->at_most = 10000;
        script->interrupts = 1000;
    }
    expect_same(rescue(changed, options, 4), expected(changed, file, text, chunks_at), changed);
}

// Thousands of damages. What is written equals the plaintext at its offset, or is a zero in a hole
// that is listed.
TEST_F(Rescue, RandomDamages) {
    Random random(503);
    for (int i = 0; i < 2000; ++i) {
        SCOPED_TRACE(i);
        Data changed = file;
        for (size_t hits = 1 + random.below(6); hits > 0; --hits) {
            // Most damages spare the last chunks, so that few of the runs search for the end.
            const size_t most = i % 4 == 0 ? changed.size() : at_chunk(38);
            const size_t at = chunks_at + random.below(std::min(most, changed.size()) - chunks_at);
            const size_t bytes = 1 + random.below(std::min(changed.size() - at, size_t{40000}));
            const auto from = changed.begin() + static_cast<std::ptrdiff_t>(at);
            const auto to = from + static_cast<std::ptrdiff_t>(at + bytes > most ? 1 : bytes);
            switch (random.below(i % 4 == 0 ? 6 : 3)) {
                case 0: *from ^= static_cast<uint8_t>(1 + random.below(255)); break;
                case 1: std::fill(from, to, uint8_t{0}); break;
                case 2: {
                    const auto other = static_cast<std::ptrdiff_t>(random.below(at));
                    std::copy(changed.begin() + other, changed.begin() + other + (to - from), from);
                    break;
                }
                case 3: changed.erase(from, to); break;
                case 4: changed.insert(from, bytes, static_cast<uint8_t>(i)); break;
                default: changed.resize(at + 1); break;
            }
        }
        options.any_order = i % 3 == 0 ? 1 : 0;
        expect_same(rescue(changed, options, i % 2 == 0 ? 1 : 4),
                    expected(changed, file, text, chunks_at), changed);
        if (HasFailure()) break;
    }
}

}  // namespace
}  // namespace tests
