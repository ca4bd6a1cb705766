// Changed files: every byte, every length, every order of chunks. None is accepted, and any output
// is a prefix of the plaintext.
#include <algorithm>
#include <numeric>

#include "files.h"

namespace tests {
namespace {

constexpr size_t text_bytes = 2 * chunk + 777;

class Tamper : public testing::Test {
protected:
    Tamper() : text(Random(100).text(text_bytes)) {
        options.key();
        file = sealed(text, options);
    }
    // Opens `changed` and returns the status. Checks that any output is correct.
    warpseal_status open(const MemoryFile& changed, bool whole = false) {
        changed.rewind();
        out.cut(0);
        out.rewind();
        const warpseal_status status =
            call(Operation::open, changed.get(), out.get(), options, result);
        const Data got = out.data();
        EXPECT_TRUE(is_prefix(got, text)) << "unsealed bytes in the output";
        EXPECT_TRUE(status == WARPSEAL_OK || got.size() % chunk == 0 || got.size() == text.size());
        if (whole) {
            EXPECT_TRUE(got == text);
        }
        return status;
    }
    warpseal_status open(const Data& changed) { return open(MemoryFile(changed)); }
    Data chunks(const std::vector<int>& which) const {
        Data out_file(file.begin(), file.begin() + chunks_at);
        for (const int k : which) {
            const auto begin =
                file.begin() +
                static_cast<std::ptrdiff_t>(chunks_at + static_cast<size_t>(k) * sealed_chunk);
            out_file.insert(out_file.end(), begin, k == 2 ? file.end() : begin + sealed_chunk);
        }
        return out_file;
    }

    Options options;
    const Data text;
    Data file;
    MemoryFile out;
    warpseal_file_result result = {};
};

TEST_F(Tamper, EachByteFlipped) {
    const MemoryFile changed(file);
    size_t refused = 0;
    for (size_t at = 0; at < file.size(); ++at) {
        changed.put(static_cast<uint8_t>(file[at] ^ (1 << at % 8)), at);
        const bool in_a_copy = at >= 4096 && at < payload_at;
        const warpseal_status status = open(changed, in_a_copy);
        ASSERT_EQ(status == WARPSEAL_OK, in_a_copy) << "byte " << at << ": " << result.message;
        if (at >= payload_at) {
            ASSERT_EQ(status, WARPSEAL_NOT_AUTHENTIC) << "byte " << at;
        }
        refused += status != WARPSEAL_OK;
        changed.put(file[at], at);
    }
    EXPECT_EQ(refused, file.size() - 2 * 28672);
    EXPECT_EQ(open(changed, true), WARPSEAL_OK);
}

TEST_F(Tamper, EveryBitOfBothHeaderCopiesAtOnce) {
    const MemoryFile changed(file);
    for (size_t at = 4096; at < 32768; ++at) {
        // Flips every bit of the slot, its framing and the MAC, and one bit of each padding byte.
        const bool dense = at < 4096 + 16 + 110 || at >= 32768 - 64;
        for (int bit = dense ? 0 : static_cast<int>(at % 8);
             bit <= (dense ? 7 : static_cast<int>(at % 8)); ++bit) {
            for (const size_t copy : {at, at + 28672})
                changed.put(static_cast<uint8_t>(file[copy] ^ (1 << bit)), copy);
            const warpseal_status status = open(changed);
            ASSERT_TRUE(status == WARPSEAL_NOT_AUTHENTIC || status == WARPSEAL_WRONG_KEY)
                << "byte " << at << ", status " << status;
            ASSERT_EQ(out.size(), 0u);
        }
        for (const size_t copy : {at, at + 28672}) changed.put(file[copy], copy);
    }
}

TEST_F(Tamper, EachValueInHeadsAndTags) {
    const MemoryFile changed(file);
    std::vector<size_t> offsets(56);
    std::iota(offsets.begin(), offsets.end(), payload_at);
    for (size_t i = 0; i < 16; ++i) {
        offsets.push_back(chunks_at + chunk + i);
        offsets.push_back(file.size() - 16 + i);
    }
    for (const size_t at : offsets) {
        for (int value = 0; value < 256; ++value) {
            if (value == file[at]) continue;
            changed.put(static_cast<uint8_t>(value), at);
            ASSERT_EQ(open(changed), WARPSEAL_NOT_AUTHENTIC) << "byte " << at << " value " << value;
        }
        changed.put(file[at], at);
    }
}

TEST_F(Tamper, EveryLength) {
    const MemoryFile changed(file);
    for (size_t length = file.size(); length-- > 0;) {
        changed.cut(length);
        const warpseal_status status = open(changed);
        ASSERT_NE(status, WARPSEAL_OK) << length;
        const size_t rest = length < chunks_at ? 0 : (length - chunks_at) % sealed_chunk;
        ASSERT_EQ(status, rest < 16 ? WARPSEAL_TRUNCATED : WARPSEAL_NOT_AUTHENTIC)
            << length << ": " << result.message;
        if (length >= chunks_at) {
            ASSERT_EQ(out.size(), (length - chunks_at) / sealed_chunk * chunk) << length;
        }
    }
}

TEST_F(Tamper, EveryLengthOfABarePayload) {
    Options bare;
    bare.bare(16);
    const Data payload = sealed(text, bare);
    const MemoryFile changed(payload);
    for (size_t length = payload.size(); length-- > 0;) {
        changed.cut(length);
        changed.rewind();
        out.cut(0);
        out.rewind();
        const warpseal_status status =
            call(Operation::open, changed.get(), out.get(), bare, result);
        const bool early = length < 56 || (length - 56) % sealed_chunk < 16;
        ASSERT_EQ(status, early ? WARPSEAL_TRUNCATED : WARPSEAL_NOT_AUTHENTIC) << length;
        ASSERT_TRUE(is_prefix(out.data(), text));
    }
}

TEST_F(Tamper, TrailingBytes) {
    Random random(101);
    for (size_t more = 1; more <= 64; ++more) {
        Data longer = file;
        const Data junk = random.text(more);
        longer.insert(longer.end(), junk.begin(), junk.end());
        ASSERT_EQ(open(longer), WARPSEAL_NOT_AUTHENTIC) << more;
        std::fill(longer.end() - static_cast<std::ptrdiff_t>(more), longer.end(), uint8_t{0});
        ASSERT_EQ(open(longer), WARPSEAL_NOT_AUTHENTIC) << more;
    }
    Data twice = file;
    twice.insert(twice.end(), file.begin(), file.end());
    EXPECT_EQ(open(twice), WARPSEAL_NOT_AUTHENTIC);
    Data filled = file;  // to exactly a full chunk, and beyond
    filled.resize(chunks_at + 3 * sealed_chunk);
    EXPECT_EQ(open(filled), WARPSEAL_NOT_AUTHENTIC);
    filled.resize(chunks_at + 3 * sealed_chunk + 16);
    EXPECT_EQ(open(filled), WARPSEAL_NOT_AUTHENTIC);
}

TEST_F(Tamper, BytesDeletedAndInserted) {
    for (size_t at = 0; at < file.size(); at += at >= payload_at && at < chunks_at ? 1 : 97) {
        Data changed = file;
        changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(at));
        ASSERT_NE(open(changed), WARPSEAL_OK) << at;
        for (const int value : {0x00, 0xff, static_cast<int>(file[at])}) {
            changed = file;
            changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(at),
                           static_cast<uint8_t>(value));
            ASSERT_NE(open(changed), WARPSEAL_OK) << at;
        }
    }
}

TEST_F(Tamper, ChunksInEveryOtherOrder) {
    ASSERT_EQ(open(chunks({0, 1, 2})), WARPSEAL_OK);
    for (int length = 0; length <= 4; ++length) {
        std::vector<int> order(static_cast<size_t>(length), 0);
        for (;;) {
            if (order != std::vector<int>{0, 1, 2}) {
                ASSERT_NE(open(chunks(order)), WARPSEAL_OK) << testing::PrintToString(order);
            }
            size_t i = 0;
            while (i < order.size() && ++order[i] == 3) order[i++] = 0;
            if (i == order.size()) break;
        }
    }
    EXPECT_EQ(open(chunks({1, 0, 2})), WARPSEAL_NOT_AUTHENTIC);
    EXPECT_EQ(open(chunks({0, 1})), WARPSEAL_TRUNCATED);
    EXPECT_EQ(out.size(), 2 * chunk);
    EXPECT_EQ(open(chunks({0, 0, 2})), WARPSEAL_NOT_AUTHENTIC);
    EXPECT_EQ(out.size(), chunk);
    EXPECT_EQ(open(chunks({0, 1, 2, 2})), WARPSEAL_NOT_AUTHENTIC);
}

TEST_F(Tamper, SegmentsOfAnotherFileUnderTheSameKey) {
    const Data other = sealed(text, options);
    const struct {
        size_t begin, end;
        warpseal_status status;
    } parts[] = {{0, payload_at, WARPSEAL_NOT_AUTHENTIC},          // its header before our payload
                 {0, 4096, WARPSEAL_WRONG_KEY},                    // its fixed part
                 {4096, payload_at, WARPSEAL_WRONG_KEY},           // its header copies
                 {payload_at, chunks_at, WARPSEAL_NOT_AUTHENTIC},  // the head of its payload
                 {chunks_at, chunks_at + sealed_chunk, WARPSEAL_NOT_AUTHENTIC},
                 {chunks_at + 2 * sealed_chunk, file.size(), WARPSEAL_NOT_AUTHENTIC}};
    for (const auto& part : parts) {
        Data changed = file;
        std::copy(other.begin() + static_cast<std::ptrdiff_t>(part.begin),
                  other.begin() + static_cast<std::ptrdiff_t>(part.end),
                  changed.begin() + static_cast<std::ptrdiff_t>(part.begin));
        EXPECT_EQ(open(changed), part.status) << part.begin << ": " << result.message;
    }
    Data one_copy = file;  // our copy still opens next to a foreign one
    std::copy(other.begin() + 4096, other.begin() + 32768, one_copy.begin() + 4096);
    EXPECT_EQ(open(one_copy), WARPSEAL_OK);
}

// Many segments on many workers: the failure is that of the first changed chunk, and a pipe holds
// exactly the text before it.
TEST(TamperLong, PipesHoldAnExactPrefix) {
    Options options;
    options.key();
    const Data text = Random(102).text(150 * chunk + 5);
    const Data file = sealed(text, options);
    Random random(103);
    for (int i = 0; i < 60; ++i) {
        Data changed = file;
        size_t first = SIZE_MAX;
        for (int hits = 0; hits < 3; ++hits) {
            const size_t at = chunks_at + random.below(file.size() - chunks_at);
            changed[at] ^= 0x40;
            first = std::min(first, (at - chunks_at) / sealed_chunk);
        }
        const bool pipe_in = i % 2 == 0;
        const unsigned threads = i % 3 == 0 ? 1 : 4;
        const Outcome back = run(Operation::open, changed, options, threads, pipe_in, true);
        ASSERT_EQ(back.status, WARPSEAL_NOT_AUTHENTIC);
        ASSERT_EQ(back.out.size(), first * chunk);
        ASSERT_TRUE(is_prefix(back.out, text));
        ASSERT_EQ(back.result.plaintext_bytes, back.out.size());
        const std::string name = "chunk " + std::to_string(first) + ", at byte " +
                                 std::to_string(chunks_at + first * sealed_chunk);
        ASSERT_NE(std::string(back.result.message).find(name), std::string::npos)
            << back.result.message;
        // A regular file gets only authenticated chunks, each at its offset.
        const Outcome regular = run(Operation::open, changed, options, 4, pipe_in, false);
        ASSERT_EQ(regular.status, WARPSEAL_NOT_AUTHENTIC);
        for (size_t at = 0; at < regular.out.size(); at += chunk) {
            const size_t length = std::min(chunk, regular.out.size() - at);
            const auto* const got = regular.out.data() + at;
            ASSERT_TRUE(memcmp(got, text.data() + at, length) == 0 ||
                        std::all_of(got, got + length, [](uint8_t b) { return b == 0; }));
        }
    }
}

}  // namespace
}  // namespace tests
