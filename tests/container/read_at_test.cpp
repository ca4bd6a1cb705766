// Reads of sealed files at every class of offset and length, by many threads, and in forked
// children.
#include <sys/wait.h>

#include <set>

#include "container/reader.h"
#include "readers.h"

namespace tests {
namespace {

namespace container = warpseal::container;

// Offsets and ends where a read meets another case: around each chunk's ends.
std::set<size_t> edges(size_t size) {
    std::set<size_t> found = {0, 1, size, size + 1, size / 2};
    if (size > 0) found.insert(size - 1);
    for (const size_t number :
         {size_t{1}, size_t{2}, size_t{4}, size_t{16}, size_t{17}, size_t{32}, size / chunk})
        for (const size_t at : {number * chunk - 1, number * chunk, number * chunk + 1})
            if (number > 0 && at <= size) found.insert(at);
    return found;
}

// A read that covers too few or too many chunks, or copies from a wrong place, gives other bytes.
void check_every_range(const Reader& reader, const Data& text) {
    ASSERT_EQ(reader.status, WARPSEAL_OK) << reader.result.message;
    ASSERT_EQ(reader.size(), text.size());
    const std::set<size_t> at = edges(text.size());
    for (const size_t begin : at) {
        for (const size_t end : at) {
            if (end < begin) continue;
            const Reader::Got got = reader.read(begin, end - begin);
            ASSERT_EQ(got.status, WARPSEAL_OK) << got.result.message;
            ASSERT_EQ(got.result.message[0], 0);
            ASSERT_TRUE(got.text() == part(text, begin, end - begin)) << begin << " to " << end;
            const Data rest(got.out.begin() + static_cast<ptrdiff_t>(got.bytes), got.out.end());
            ASSERT_EQ(rest, Data(rest.size(), 0xa5)) << "written past the text";
        }
    }
}

class ReadAt : public testing::Test {
protected:
    ReadAt() { options.key(); }
    Options options;
};

TEST(ReadAtCallback, IsNeverAskedBeyondTheEnd) {
    uint64_t furthest = 0;
    const container::ReaderInput input = container::input_of_callback(
        [](void* user, uint64_t offset, void* out, size_t bytes) {
            auto& end = *static_cast<uint64_t*>(user);
            end = std::max(end, offset + bytes);
            std::memset(out, 7, bytes);
            return static_cast<int64_t>(bytes);
        },
        &furthest, 100);
    for (const uint64_t offset : {uint64_t{0}, uint64_t{90}, uint64_t{100}, uint64_t{101},
                                  uint64_t{1} << 40, UINT64_MAX - 4}) {
        uint8_t out[20];
        size_t got = 99;
        container::Fault fault;
        EXPECT_EQ(input.read(offset, out, sizeof out, got, fault), WARPSEAL_OK);
        EXPECT_EQ(got, offset >= 100 ? 0 : std::min<uint64_t>(20, 100 - offset)) << offset;
    }
    EXPECT_EQ(furthest, 100u);
}

TEST_F(ReadAt, EveryRangeOfEverySize) {
    for (const size_t size : {size_t{0}, size_t{1}, chunk - 1, chunk, chunk + 1, 4 * chunk,
                              16 * chunk + 5, 70 * chunk + 3}) {
        const Data text = Random(size).text(size);
        CallbackInput input{sealed(text, options), {}};
        const MemoryFile file(input.data);
        for (const unsigned threads : {1u, 4u}) {
            check_every_range(Reader(file.get(), options, threads), text);
            check_every_range(Reader(input, input.data.size(), options, threads), text);
        }
    }
}

TEST_F(ReadAt, EverySuiteFormatAndSecret) {
    const Data text = Random(1).text(3 * chunk + 100);
    for (const char* suite : {"aes-256-gcm", "aes-128-gcm", "aria-256-gcm", "camellia-256-gcm"}) {
        Options given;
        given.key(3).passphrase("correct horse").suite = suite;
        const MemoryFile file(sealed(text, given));
        Options passphrase;
        passphrase.passphrase("correct horse");
        check_every_range(Reader(file.get(), passphrase), text);
    }
    for (const size_t key_bytes : {16, 32}) {
        Options bare;
        bare.bare(key_bytes);
        bare.context = "ctx";
        bare.context_bytes = 3;
        const MemoryFile file(sealed(text, bare));
        check_every_range(Reader(file.get(), bare), text);
        bare.context = "cty";
        EXPECT_EQ(Reader(file.get(), bare).status, WARPSEAL_WRONG_KEY);
    }
}

TEST_F(ReadAt, SizesOfTheResult) {
    const Data text = Random(2).text(2 * chunk + 9);
    const Data data = sealed(text, options);
    const MemoryFile file(data);
    const Reader reader(file.get(), options);
    EXPECT_EQ(reader.result.file_bytes, data.size());
    EXPECT_EQ(reader.result.plaintext_bytes, text.size());
    EXPECT_EQ(reader.read(chunk, 2 * chunk).result.plaintext_bytes, chunk + 9);
    EXPECT_STRNE(reader.read(0, 1).result.target, "");
    EXPECT_EQ(reader.read(UINT64_MAX, 1).bytes, 0u);
    EXPECT_EQ(reader.read(UINT64_MAX - 5, 100).status, WARPSEAL_OK);
}

TEST_F(ReadAt, BeginsAtTheDescriptorsPosition) {
    const Data text = Random(3).text(chunk + 77);
    Data data = sealed(text, options);
    data.insert(data.begin(), 1000, 0x5a);
    const MemoryFile file(data);
    lseek(file.get(), 1000, SEEK_SET);
    const Reader reader(file.get(), options);
    lseek(file.get(), 5, SEEK_SET);
    check_every_range(reader, text);
    EXPECT_EQ(lseek(file.get(), 0, SEEK_CUR), 5) << "the position was moved";
}

TEST_F(ReadAt, SecretsAreNotNeededOnceOpened) {
    const Data text = Random(4).text(chunk + 77);
    const MemoryFile file(sealed(text, options));
    int used = 0;
    options.secrets_used = [](void* count) { ++*static_cast<int*>(count); };
    options.secrets_user = &used;
    const Reader reader(file.get(), options);
    EXPECT_EQ(used, 1);
    for (Data& held : options.held) std::fill(held.begin(), held.end(), uint8_t{0});
    check_every_range(reader, text);
}

TEST_F(ReadAt, ManyThreadsAtTheSameTime) {
    const Data text = Random(5).text(60 * chunk + 123);
    const MemoryFile file(sealed(text, options));
    for (const unsigned threads : {1u, 4u}) {
        const Reader reader(file.get(), options, threads);
        std::vector<std::thread> readers;
        std::atomic<int> wrong{0};
        for (unsigned who = 0; who < 8; ++who)
            readers.emplace_back([&, who] {
                Random random(100 + who);
                for (int i = 0; i < 40; ++i) {
                    const Data dice = random.text(6);
                    const size_t offset = (dice[0] | dice[1] << 8 | dice[2] << 16) % text.size();
                    const size_t bytes = dice[3] | dice[4] << 8 | (dice[5] & 7) << 16;
                    const Reader::Got got = reader.read(offset, bytes);
                    if (got.status != WARPSEAL_OK || got.text() != part(text, offset, bytes))
                        ++wrong;
                }
            });
        for (std::thread& one : readers) one.join();
        EXPECT_EQ(wrong, 0);
    }
}

// A child has neither its parent's threads nor the work that they had begun.
TEST_F(ReadAt, ForkedChildrenOfBusyParents) {
    const Data text = Random(6).text(40 * chunk + 1);
    const MemoryFile file(sealed(text, options));
    const Reader reader(file.get(), options, 4);
    std::atomic<bool> done{false};
    std::thread busy([&] {
        while (!done) (void)reader.read(0, text.size());
    });
    for (int i = 0; i < 20; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(60);
            const Reader::Got got = reader.read(5, text.size());
            _exit(got.status == WARPSEAL_OK && got.text() == part(text, 5, text.size()) ? 0 : 1);
        }
        int status = 0;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    done = true;
    busy.join();
}

}  // namespace
}  // namespace tests
