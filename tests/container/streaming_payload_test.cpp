// Messages in updates of any size: the same bytes as whole files, and no text before it is
// verified.
#include <sys/wait.h>

#include "calls.h"
#include "container/pipeline/streaming_payload.h"
#include "streams.h"

namespace tests {
namespace {

// Access to the number of the next chunk: no test can seal 2^38 of them. The rules for access do
// not apply to an explicit instantiation.
uint64_t& next_chunk(warpseal::container::StreamingPayload& message);
template <auto member>
struct NextChunk {
    friend uint64_t& next_chunk(warpseal::container::StreamingPayload& message) {
        return message.*member;
    }
};
template struct NextChunk<&warpseal::container::StreamingPayload::chunk_>;

const Data key(32, 7), context = {'c', 't', 'x'};

Options& bare(Options& options, size_t key_bytes) {
    options.bare(key_bytes);
    options.context = context.data();
    options.context_bytes = context.size();
    return options;
}

// A text of each length class, and steps that meet every way to fill a chunk.
constexpr size_t sizes[] = {0,         1,         15,        chunk - 1,     chunk,
                            chunk + 1, 2 * chunk, 5 * chunk, 70 * chunk + 3};
constexpr size_t steps[] = {
    1009,    chunk - 1, chunk, chunk + 1, sealed_chunk, 56, sealed_chunk + 1, 3 * chunk + 1000,
    SIZE_MAX};

TEST(StreamingPayload, SealsWhatFilesOpen) {
    for (const size_t key_bytes : {16, 32}) {
        Options options;
        bare(options, key_bytes);
        for (const size_t size : sizes) {
            const Data text = Random(size).text(size);
            for (const size_t step : steps) {
                Message message(Operation::seal, Data(key_bytes, 7), context, step == 1009 ? 1 : 4);
                ASSERT_EQ(message.run(text, step), WARPSEAL_OK) << warpseal_last_error_message();
                const Outcome back = tests::run(Operation::open, message.out, options);
                ASSERT_EQ(back.status, WARPSEAL_OK) << back.result.message;
                ASSERT_TRUE(back.out == text) << size << " in steps of " << step;
            }
        }
    }
}

TEST(StreamingPayload, OpensWhatFilesSeal) {
    for (const size_t key_bytes : {16, 32}) {
        Options options;
        bare(options, key_bytes);
        for (const size_t size : sizes) {
            const Data text = Random(size).text(size), file = sealed(text, options);
            for (const size_t step : steps) {
                Message message(Operation::open, Data(key_bytes, 7), context, step == 1009 ? 1 : 4);
                ASSERT_EQ(message.run(file, step), WARPSEAL_OK) << warpseal_last_error_message();
                ASSERT_TRUE(message.out == text) << size << " in steps of " << step;
            }
        }
    }
}

// Every byte alone: the head, and each end of a chunk, may come in any pieces.
TEST(StreamingPayload, ByteByByte) {
    const Data text = Random(1).text(chunk + 20);
    Message seal(Operation::seal, key);
    ASSERT_EQ(seal.run(text, 1), WARPSEAL_OK);
    Message open(Operation::open, key);
    ASSERT_EQ(open.run(seal.out, 1), WARPSEAL_OK);
    EXPECT_TRUE(open.out == text);
}

// Everything that can be written is written with the update that brings it, and not later.
TEST(StreamingPayload, NothingIsKeptBackThatCouldBeWritten) {
    Message seal(Operation::seal, key);
    EXPECT_EQ(warpseal_cobblestone_finish_bytes(seal.get()), 56u + 16);
    ASSERT_EQ(seal.update(Data(40000)), WARPSEAL_OK);
    EXPECT_EQ(seal.out.size(), 56 + 2 * sealed_chunk);
    ASSERT_EQ(seal.update(Data()), WARPSEAL_OK);
    EXPECT_EQ(seal.out.size(), 56 + 2 * sealed_chunk);
    ASSERT_EQ(seal.finish(), WARPSEAL_OK);
    EXPECT_EQ(seal.out.size(), 56 + 40000 + 3 * 16u);
    Message open(Operation::open, key);
    ASSERT_EQ(open.update(seal.out.data(), 56 + sealed_chunk - 1), WARPSEAL_OK);
    EXPECT_EQ(open.out.size(), 0u);
    ASSERT_EQ(open.update(seal.out.data() + 56 + sealed_chunk - 1, 1), WARPSEAL_OK);
    EXPECT_EQ(open.out.size(), chunk);
    Message head(Operation::seal, key);
    ASSERT_EQ(head.update(Data()), WARPSEAL_OK);
    EXPECT_EQ(head.out.size(), 56u);
}

// The last chunk, which may be empty, has the number 2^38 - 1 at most.
TEST(StreamingPayload, NoMessageHasMoreChunksThanItsNumbersAllow) {
    namespace container = warpseal::container;
    for (const bool held : {false, true}) {  // whole chunks from the input, or one collected first
        std::unique_ptr<container::StreamingPayload> message;
        container::Fault fault;
        ASSERT_EQ(container::StreamingPayload::create(engine(), warpseal::Direction::encrypt,
                                                      {key.data(), key.size()}, {}, message, fault),
                  WARPSEAL_OK);
        const Data text(chunk);
        Data out(sealed_chunk + 56);
        size_t wrote = 0;
        const auto seal_a_chunk = [&] {
            const size_t some = held ? 100 : 0;
            const warpseal_status status =
                held ? message->update(text.data(), some, out.data(), wrote, fault) : WARPSEAL_OK;
            return status != WARPSEAL_OK ? status
                                         : message->update(text.data() + some, chunk - some,
                                                           out.data(), wrote, fault);
        };
        next_chunk(*message) = container::max_chunks - 2;
        ASSERT_EQ(seal_a_chunk(), WARPSEAL_OK);
        ASSERT_EQ(next_chunk(*message), container::max_chunks - 1);
        EXPECT_EQ(seal_a_chunk(), WARPSEAL_LIMIT_EXCEEDED);
        EXPECT_NE(std::string(fault.message).find("more than 274877906944 chunks"),
                  std::string::npos)
            << fault.message;
    }
}

TEST(StreamingPayload, WrongKeyOrContextEndsWithTheHead) {
    Message seal(Operation::seal, key, context);
    ASSERT_EQ(seal.run(Data(100), 100), WARPSEAL_OK);
    for (const auto& [other_key, other_context] :
         {std::pair<Data, Data>{Data(32, 8), context}, {key, {}}, {Data(16, 7), context}}) {
        Message open(Operation::open, other_key, other_context);
        ASSERT_EQ(open.update(seal.out.data(), 55), WARPSEAL_OK);
        EXPECT_EQ(open.update(seal.out.data() + 55, 1), WARPSEAL_WRONG_KEY);
        EXPECT_EQ(open.update(seal.out.data() + 56, 1), WARPSEAL_INVALID_ARGUMENT);
        EXPECT_NE(std::string(warpseal_last_error_message()).find("has failed"), std::string::npos);
        EXPECT_EQ(open.finish(), WARPSEAL_INVALID_ARGUMENT);
    }
}

TEST(StreamingPayload, CutMessagesFailAtTheEnd) {
    Options options;
    const Data text = Random(2).text(3 * chunk + 50), file = sealed(text, bare(options, 32));
    for (const size_t bytes : {size_t{0}, size_t{1}, size_t{55}, size_t{56}, 56 + sealed_chunk,
                               56 + 3 * sealed_chunk, 56 + 3 * sealed_chunk + 15}) {
        Message open(Operation::open, key, context);
        EXPECT_EQ(open.run(Data(file.begin(), file.begin() + static_cast<ptrdiff_t>(bytes)), 5000),
                  WARPSEAL_TRUNCATED)
            << bytes;
        EXPECT_EQ(std::strstr(warpseal_last_error_message(), "it begins with") != nullptr,
                  bytes < 56)
            << warpseal_last_error_message();
        EXPECT_TRUE(is_prefix(open.out, text));
    }
    for (const size_t bytes : {size_t{56 + 16}, 56 + sealed_chunk - 1, file.size() - 1}) {
        Message open(Operation::open, key, context);
        EXPECT_EQ(open.run(Data(file.begin(), file.begin() + static_cast<ptrdiff_t>(bytes)), 5000),
                  WARPSEAL_NOT_AUTHENTIC)
            << bytes;
        EXPECT_TRUE(is_prefix(open.out, text));
    }
    Data longer = file;
    longer.push_back(0);
    Message open(Operation::open, key, context);
    EXPECT_EQ(open.run(longer, SIZE_MAX), WARPSEAL_NOT_AUTHENTIC);
}

// An update that holds a changed chunk writes nothing, not even the chunks that verify.
TEST(StreamingPayload, ChangedAndSwappedChunks) {
    Options options;
    const Data text = Random(3).text(40 * chunk + 50), file = sealed(text, bare(options, 32));
    for (const size_t number : {size_t{0}, size_t{7}, size_t{39}, size_t{40}}) {
        for (const size_t byte : {size_t{0}, size_t{65}}) {
            Data changed = file;
            changed[56 + number * sealed_chunk + byte] ^= 1;
            for (const size_t step : {size_t{16401}, SIZE_MAX}) {
                Message open(Operation::open, key, context, 4);
                ASSERT_EQ(open.run(changed, step), WARPSEAL_NOT_AUTHENTIC);
                EXPECT_NE(std::string(warpseal_last_error_message())
                              .find("chunk " + std::to_string(number) + " "),
                          std::string::npos)
                    << warpseal_last_error_message();
                ASSERT_TRUE(is_prefix(open.out, text));
                if (step != SIZE_MAX) {
                    EXPECT_EQ(open.out.size(), number * chunk);
                }
            }
        }
    }
    Data swapped = file;
    std::swap_ranges(swapped.begin() + 56, swapped.begin() + 56 + sealed_chunk,
                     swapped.begin() + 56 + sealed_chunk);
    Message open(Operation::open, key, context);
    EXPECT_EQ(open.run(swapped, SIZE_MAX), WARPSEAL_NOT_AUTHENTIC);
}

TEST(StreamingPayload, EachMessageHasItsOwnSalt) {
    Message one(Operation::seal, key), other(Operation::seal, key);
    ASSERT_EQ(one.run(Data(50), 50), WARPSEAL_OK);
    ASSERT_EQ(other.run(Data(50), 50), WARPSEAL_OK);
    EXPECT_NE(one.out, other.out);
}

TEST(StreamingPayload, MoreThanABatchAtOnce) {
    const Data text = Random(4).text(4100 * chunk + 1);
    Message seal(Operation::seal, key, context, 4);
    ASSERT_EQ(seal.run(text, SIZE_MAX), WARPSEAL_OK);
    Message open(Operation::open, key, context, 4);
    ASSERT_EQ(open.run(seal.out, SIZE_MAX), WARPSEAL_OK);
    EXPECT_TRUE(open.out == text);
}

// Two processes that went on with one message would seal under one nonce.
TEST(StreamingPayload, ForkedChildrenCannotGoOn) {
    Message seal(Operation::seal, key);
    ASSERT_EQ(seal.update(Data(100)), WARPSEAL_OK);
    const pid_t child = fork();
    if (child == 0) {
        const bool refused = seal.update(Data(100)) == WARPSEAL_INVALID_ARGUMENT &&
                             std::strstr(warpseal_last_error_message(), "fork") != nullptr &&
                             seal.finish() == WARPSEAL_INVALID_ARGUMENT;
        Message own(Operation::seal, key);
        _exit(refused && own.run(Data(100), 50) == WARPSEAL_OK ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(seal.finish(), WARPSEAL_OK);
}

TEST_F(Faults, NoSaltNoMessage) {
    drawing.countdown = 0;
    drawing.error = EIO;
    const Message seal(Operation::seal, key);
    EXPECT_EQ(seal.status, WARPSEAL_NO_RANDOM);
    EXPECT_EQ(seal.get(), nullptr);
    drawing.countdown = -1;
}

TEST(StreamingPayload, WrongArgumentsAreNamedAndTakeNothing) {
    const auto refused = [](warpseal_status status, const char* name) {
        EXPECT_EQ(status, WARPSEAL_INVALID_ARGUMENT);
        EXPECT_NE(std::string(warpseal_last_error_message()).find(name), std::string::npos)
            << warpseal_last_error_message();
    };
    warpseal_engine* const engine = c_engine();
    warpseal_cobblestone* made = nullptr;
    for (const auto create : {warpseal_cobblestone_create_seal, warpseal_cobblestone_create_open}) {
        refused(create(nullptr, key.data(), 32, nullptr, 0, &made), "engine");
        refused(create(engine, nullptr, 32, nullptr, 0, &made), "key");
        refused(create(engine, key.data(), 24, nullptr, 0, &made), "key_bytes is 24");
        refused(create(engine, key.data(), 32, nullptr, 1, &made), "context");
        refused(create(engine, key.data(), 32, nullptr, 0, nullptr), "out");
        EXPECT_EQ(made, nullptr);
    }
    Message seal(Operation::seal, key);
    Data text(3 * chunk), out(5 * chunk);
    size_t wrote = 9;
    const auto update = [&](warpseal_cobblestone* message, const void* in, void* to,
                            size_t capacity, size_t* count) {
        return warpseal_cobblestone_update(message, in, text.size(), to, capacity, count);
    };
    refused(update(nullptr, text.data(), out.data(), out.size(), &wrote), "message");
    EXPECT_EQ(wrote, 0u);
    refused(update(seal.get(), nullptr, out.data(), out.size(), &wrote), "in is null");
    refused(update(seal.get(), text.data(), nullptr, out.size(), &wrote), "out is null");
    refused(update(seal.get(), text.data(), out.data(), out.size(), nullptr), "out_bytes");
    refused(update(seal.get(), text.data(), out.data(), 56 + 3 * sealed_chunk - 1, &wrote),
            "give at least 49256 bytes");
    refused(update(seal.get(), out.data() + 3 * sealed_chunk + 55, out.data(), out.size(), &wrote),
            "overlaps");
    EXPECT_EQ(warpseal_cobblestone_update_bytes(seal.get(), SIZE_MAX), SIZE_MAX);
    EXPECT_EQ(warpseal_cobblestone_update_bytes(nullptr, 5), 0u);
    EXPECT_EQ(warpseal_cobblestone_finish_bytes(nullptr), 0u);
    refused(warpseal_cobblestone_finish(nullptr, out.data(), out.size(), &wrote), "message");
    refused(warpseal_cobblestone_finish(seal.get(), out.data(), 71, &wrote), "at least 72");
    refused(warpseal_cobblestone_finish(seal.get(), out.data(), 72, nullptr), "out_bytes");
    // Nothing was taken.
    ASSERT_EQ(seal.run(text, SIZE_MAX), WARPSEAL_OK);
    EXPECT_EQ(seal.update(text), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_NE(std::string(warpseal_last_error_message()).find("finished"), std::string::npos);
    Message open(Operation::open, key);
    ASSERT_EQ(open.run(seal.out, SIZE_MAX), WARPSEAL_OK);
    EXPECT_TRUE(open.out == text);
    warpseal_cobblestone_destroy(nullptr);
}

}  // namespace
}  // namespace tests
