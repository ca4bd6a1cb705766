// Plans and parts: shards that are sealed apart are one ordinary file, and nothing else is joined
// or sealed.
#include "container/shards/part.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "calls.h"
#include "resume/unfinished.h"

namespace {

// Times that this program's statx(2) reports: the file's; those that a client of a network file
// system still has, unless its server must be asked; the same ones for all files.
enum class Times { right, kept, same };
std::atomic<Times> reported_times{Times::right};

}  // namespace

extern "C" int statx(int directory, const char* path, int flags, unsigned mask,
                     struct statx* about) noexcept {
    const int status = static_cast<int>(syscall(SYS_statx, directory, path, flags, mask, about));
    const bool asks = (flags & AT_STATX_SYNC_TYPE) == AT_STATX_FORCE_SYNC;
    if (status == 0 && (reported_times == Times::same || (reported_times == Times::kept && !asks)))
        about->stx_mtime.tv_sec = about->stx_mtime.tv_nsec = about->stx_ctime.tv_sec =
            about->stx_ctime.tv_nsec = 7;
    return status;
}

namespace tests {
namespace {

namespace container = warpseal::container;
using container::Fault;
using container::Plan;
using container::Shard;

constexpr uint8_t some_pin[container::pin_bytes] = {1, 2, 3};
constexpr size_t head = container::part_head_bytes;

std::unique_ptr<Plan> planned(uint64_t bytes, uint32_t shards, const uint8_t* pin = some_pin,
                              unsigned threads = 1) {
    Options options;
    options.key();
    std::unique_ptr<Plan> plan;
    Fault fault;
    EXPECT_EQ(Plan::create(engine(threads), options, bytes, shards, pin, plan, fault), WARPSEAL_OK)
        << fault.message;
    return plan;
}

warpseal_status opened(const Data& data, std::unique_ptr<Plan>& plan, uint8_t key = 1) {
    Options options;
    options.key(key);
    Fault fault;
    const warpseal_status status =
        Plan::open(engine(), {data.data(), data.size()}, options, plan, fault);
    EXPECT_EQ(status, fault.status);
    EXPECT_EQ(status == WARPSEAL_OK, fault.message[0] == 0) << fault.message;
    EXPECT_EQ(status == WARPSEAL_OK, plan != nullptr);
    return status;
}

Data data_of(warpseal::Bytes bytes) { return {bytes.data, bytes.data + bytes.size}; }

struct Sealed {
    warpseal_status status;
    Data data;
    std::vector<uint8_t> fingerprint = Data(container::fingerprint_bytes);
};
Sealed seal(const Plan& plan, uint32_t index, const Data& text) {
    const Shard shard = plan.shard(index);
    Sealed sealed{WARPSEAL_OK, Data(shard.file_bytes, 0xaa)};
    Fault fault;
    sealed.status = plan.seal(index, text.data() + shard.text_offset, sealed.data.data(),
                              sealed.fingerprint.data(), fault);
    EXPECT_EQ(sealed.status == WARPSEAL_OK, fault.message[0] == 0) << fault.message;
    return sealed;
}

// A file of a text, and a plan with its pin.
struct Source {
    explicit Source(const Data& text, uint32_t shards, unsigned threads = 1) : file(text) {
        uint8_t pin[container::pin_bytes];
        Fault fault;
        EXPECT_EQ(container::pin_of_file(file.get(), pin, fault), WARPSEAL_OK);
        plan = planned(text.size(), shards, pin, threads);
    }
    const MemoryFile file;
    std::unique_ptr<Plan> plan;
};

warpseal_status seal_part(const Plan& plan, uint32_t index, const MemoryFile& in,
                          const MemoryFile& out, warpseal_file_result& result) {
    Options options;
    options.any_order = 1;
    result = {};
    in.rewind();
    return container::seal_part(plan, index, in.get(), out.get(), options, result);
}

void expect_opens(const Data& sealed, const Data& text) {
    Options options;
    options.key();
    const Outcome outcome = run(Operation::open, sealed, options);
    EXPECT_EQ(outcome.status, WARPSEAL_OK) << outcome.result.message;
    EXPECT_TRUE(outcome.out == text);
}

TEST(Shards, AreOneFileFromMemoryAndFromAFile) {
    for (const size_t size : {size_t{1}, chunk - 1, chunk, chunk + 1, 5 * chunk, 40 * chunk + 9}) {
        const Data text = Random(size).text(size);
        for (const uint32_t shards : {1u, 2u, 3u, 7u}) {
            if (shards > size / chunk + 1) continue;
            for (const unsigned threads : {1u, 4u}) {
                const Source source(text, shards, threads);
                const Plan& plan = *source.plan;
                Data file = data_of(plan.front());
                for (uint32_t i = 0; i < shards; ++i) {
                    EXPECT_EQ(plan.shard(i).file_offset, file.size());
                    const Data sealed = seal(plan, i, text).data;
                    const MemoryFile out;
                    warpseal_file_result result;
                    ASSERT_EQ(seal_part(plan, i, source.file, out, result), WARPSEAL_OK)
                        << result.message;
                    EXPECT_EQ(result.plaintext_bytes, plan.shard(i).text_bytes);
                    const Data part = out.data();
                    ASSERT_EQ(part.size(), head + sealed.size());
                    EXPECT_TRUE(
                        std::equal(sealed.begin(), sealed.end(), part.begin() + ptrdiff_t{head}));
                    uint32_t found = 99;
                    Fault fault;
                    EXPECT_EQ(container::check_part(plan, out.get(), found, fault), WARPSEAL_OK);
                    EXPECT_EQ(found, i);
                    file.insert(file.end(), sealed.begin(), sealed.end());
                }
                expect_opens(file, text);
            }
        }
    }
}

TEST(Shards, AnEmptyTextHasOneShardInMemory) {
    const std::unique_ptr<Plan> plan = planned(0, 1);
    Data file = data_of(plan->front());
    const Data sealed = seal(*plan, 0, {}).data;
    EXPECT_EQ(sealed.size(), 16u);
    file.insert(file.end(), sealed.begin(), sealed.end());
    expect_opens(file, {});
}

TEST(Shards, CoverTheTextOnceAndEvenly) {
    for (const uint64_t bytes : {uint64_t{99 * chunk}, container::max_text_bytes}) {
        for (const uint32_t shards : {1u, 3u, 64u, 100u}) {
            const std::unique_ptr<Plan> plan = planned(bytes, shards);
            uint64_t text = 0, file = plan->front().size;
            for (uint32_t i = 0; i < shards; ++i) {
                const Shard shard = plan->shard(i);
                EXPECT_EQ(shard.text_offset, text);
                EXPECT_EQ(shard.file_offset, file);
                EXPECT_GE(shard.chunks, (bytes / chunk + 1) / shards);
                EXPECT_LE(shard.chunks, (bytes / chunk + 1) / shards + 1);
                text += shard.text_bytes;
                file += shard.file_bytes;
            }
            EXPECT_EQ(text, bytes);
            EXPECT_EQ(file, chunks_at + bytes + 16 * (bytes / chunk + 1));
        }
    }
}

TEST(Shards, OtherProcessesSealTheSameBytes) {
    const Data text = Random(1).text(3 * chunk + 5);
    const std::unique_ptr<Plan> plan = planned(text.size(), 2);
    std::unique_ptr<Plan> other;
    ASSERT_EQ(opened(data_of(plan->data()), other), WARPSEAL_OK);
    EXPECT_TRUE(std::equal(some_pin, some_pin + sizeof some_pin, other->pin()));
    EXPECT_EQ(other->text_bytes(), text.size());
    for (uint32_t i = 0; i < 2; ++i) {
        const Sealed a = seal(*plan, i, text), b = seal(*other, i, text);
        EXPECT_TRUE(a.data == b.data && a.fingerprint == b.fingerprint);
    }
}

TEST(Shards, RefuseASecondTextAndWipeIt) {
    Data text = Random(2).text(3 * chunk);
    const std::unique_ptr<Plan> plan = planned(text.size(), 2);
    const Sealed first = seal(*plan, 0, text);
    for (const size_t at : {size_t{0}, chunk - 1}) {
        text[at] ^= 1;
        const Sealed second = seal(*plan, 0, text);
        EXPECT_EQ(second.status, WARPSEAL_INVALID_ARGUMENT);
        EXPECT_TRUE(second.data == Data(second.data.size(), 0));
        EXPECT_FALSE(second.fingerprint == first.fingerprint);
        text[at] ^= 1;
    }
    EXPECT_TRUE(seal(*plan, 0, text).data == first.data);
    // The last shard has the short chunk, whose tag counts too.
    const Sealed last = seal(*plan, 1, text);
    text.back() ^= 1;
    EXPECT_EQ(seal(*plan, 1, text).status, WARPSEAL_INVALID_ARGUMENT);
    EXPECT_FALSE(last.fingerprint == first.fingerprint);
}

TEST(Plans, HaveNoShardsWithoutChunks) {
    Options options;
    options.key();
    std::unique_ptr<Plan> plan;
    const auto status = [&](uint64_t bytes, uint32_t shards) {
        Fault fault;
        return Plan::create(engine(), options, bytes, shards, some_pin, plan, fault);
    };
    EXPECT_EQ(status(chunk - 1, 2), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(status(5, 0), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(status(uint64_t{1} << 40, container::max_shards + 1), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(status(container::max_text_bytes + 1, 1), WARPSEAL_LIMIT_EXCEEDED);
    EXPECT_EQ(plan, nullptr);
    EXPECT_EQ(status(uint64_t{1} << 40, container::max_shards), WARPSEAL_OK);
    Options bare;
    bare.bare(32);
    Fault fault;
    plan.reset();
    EXPECT_EQ(Plan::create(engine(), bare, 5, 1, some_pin, plan, fault), WARPSEAL_INVALID_ARGUMENT);
}

// Every byte of a plan is authentic: with any of them changed nothing can be sealed.
TEST(Plans, AreRefusedIfAnyByteIsAnother) {
    const Data data = data_of(planned(5 * chunk, 3)->data());
    std::unique_ptr<Plan> plan;
    size_t step = 1;
    for (size_t at = 0; at < data.size(); at += step) {
        Data changed = data;
        changed[at] ^= 1;
        ASSERT_NE(opened(changed, plan), WARPSEAL_OK) << at;
        step = at < 300 || at > data.size() - 300 ? 1 : 127;
    }
    for (const size_t bytes : {size_t{0}, size_t{7}, size_t{11}, size_t{100}, size_t{5000},
                               data.size() - 64, data.size() - 1})
        EXPECT_NE(opened(Data(data.begin(), data.begin() + static_cast<ptrdiff_t>(bytes)), plan),
                  WARPSEAL_OK);
    Data longer = data;
    longer.push_back(0);
    EXPECT_NE(opened(longer, plan), WARPSEAL_OK);
    EXPECT_EQ(opened(data, plan, 2), WARPSEAL_WRONG_KEY);
    EXPECT_EQ(opened(data, plan), WARPSEAL_OK);
}

TEST(Parts, AreRefusedIfAnyByteOfTheHeadIsAnother) {
    const Data text = Random(3).text(5 * chunk);
    const Source source(text, 3);
    const MemoryFile out;
    warpseal_file_result result;
    ASSERT_EQ(seal_part(*source.plan, 1, source.file, out, result), WARPSEAL_OK);
    const Data part = out.data();
    const auto check = [&](const Data& data) {
        const MemoryFile file(data);
        uint32_t index = 0;
        Fault fault;
        return container::check_part(*source.plan, file.get(), index, fault);
    };
    for (size_t at = 0; at < head; ++at) {
        Data changed = part;
        changed[at] ^= 1;
        ASSERT_NE(check(changed), WARPSEAL_OK) << at;
    }
    EXPECT_EQ(check(Data(part.begin(), part.end() - 1)), WARPSEAL_TRUNCATED);
    EXPECT_EQ(check(Data(part.begin(), part.begin() + 50)), WARPSEAL_TRUNCATED);
    EXPECT_EQ(check({}), WARPSEAL_TRUNCATED);
    Data longer = part;
    longer.push_back(0);
    EXPECT_EQ(check(longer), WARPSEAL_NOT_AUTHENTIC);
    EXPECT_EQ(check(part), WARPSEAL_OK);
    const std::unique_ptr<Plan> other = planned(text.size(), 3);
    uint32_t index = 0;
    Fault fault;
    EXPECT_EQ(container::check_part(*other, out.get(), index, fault), WARPSEAL_INVALID_ARGUMENT);
}

TEST(Parts, AreOfTheTextOfThePlanAlone) {
    const Data text = Random(4).text(5 * chunk);
    const Source source(text, 2);
    const MemoryFile out, longer(Data(text.size() + 1));
    warpseal_file_result result;
    usleep(20000);  // so that its times are other ones
    const MemoryFile later(text);
    EXPECT_EQ(seal_part(*source.plan, 0, later, out, result), WARPSEAL_IO);
    EXPECT_EQ(seal_part(*source.plan, 0, longer, out, result), WARPSEAL_IO);
    EXPECT_EQ(out.size(), 0u);  // no byte was sealed
    const PipeSource pipe(text);
    Options options;
    options.any_order = 1;
    EXPECT_EQ(container::seal_part(*source.plan, 0, pipe.get(), out.get(), options, result = {}),
              WARPSEAL_INVALID_ARGUMENT);
    ASSERT_EQ(seal_part(*source.plan, 0, source.file, out, result), WARPSEAL_OK);
    source.file.put(text[0], 0);  // the same byte, written again
    EXPECT_EQ(seal_part(*source.plan, 1, source.file, out, result), WARPSEAL_IO);
    EXPECT_NE(strstr(result.message, "new plan"), nullptr) << result.message;
}

// What was written in one tick of the clock has the same times.
TEST(Parts, AreNotOfAnotherFileOfTheSameTimes) {
    reported_times = Times::same;
    const Data text = Random(5).text(2 * chunk);
    const Source source(text, 1);
    const MemoryFile other(Data(text.size())), out;
    warpseal_file_result result;
    EXPECT_EQ(seal_part(*source.plan, 0, other, out, result), WARPSEAL_IO);
    EXPECT_EQ(out.size(), 0u);
    EXPECT_EQ(seal_part(*source.plan, 0, source.file, out, result), WARPSEAL_OK) << result.message;
    reported_times = Times::right;
}

class PartFaults : public Faults {
protected:
    ~PartFaults() override { reported_times = Times::right; }
    // Writes to the source while its first shard is read.
    void expect_refused() {
        const Source source(text, 2);
        usleep(20000);
        const MemoryFile out;
        bool written = false;
        const std::function<int(off_t)> change = [&](off_t) {
            if (!std::exchange(written, true)) source.file.put(text[9], 9);
            return 0;
        };
        reading.before = &change;
        warpseal_file_result result;
        EXPECT_EQ(seal_part(*source.plan, 0, source.file, out, result), WARPSEAL_IO);
        EXPECT_TRUE(written);
        EXPECT_NE(strstr(result.message, "while it was read"), nullptr) << result.message;
    }
};

TEST_F(PartFaults, ATextThatIsWrittenMeanwhileGivesNone) { expect_refused(); }

TEST_F(PartFaults, AnotherMachineWritesTheTextMeanwhile) {
    const FrozenTimes frozen;  // of fstat(2)
    reported_times = Times::kept;
    expect_refused();
}

TEST_F(PartFaults, EveryFailedReadAndWriteIsReported) {
    const Source source(text, 3);
    warpseal_file_result result;
    for (Script* script : {&reading, &writing}) {
        int failures = 0;
        for (int call = 0;; ++call) {
            const MemoryFile out;
            script->countdown = call;
            script->error = EIO;
            const warpseal_status status = seal_part(*source.plan, 2, source.file, out, result);
            if (status == WARPSEAL_OK) break;
            EXPECT_EQ(status, WARPSEAL_IO);
            EXPECT_EQ(result.system_error, EIO);
            ++failures;
        }
        EXPECT_GE(failures, 2);
        script->countdown = -1;
    }
    const MemoryFile out;
    reading.at_most = writing.at_most = 1000;
    ASSERT_EQ(seal_part(*source.plan, 2, source.file, out, result), WARPSEAL_OK);
    const Data part = out.data(), sealed = seal(*source.plan, 2, text).data;
    EXPECT_TRUE(Data(part.begin() + ptrdiff_t{head}, part.end()) == sealed);
}

TEST_F(PartFaults, NoRandomBytesNoPlan) {
    for (int call = 0; call < 3; ++call) {
        drawing.countdown = call;
        drawing.error = ENOSYS;
        Options keyed;
        keyed.key();
        std::unique_ptr<Plan> plan;
        Fault fault;
        EXPECT_EQ(Plan::create(engine(), keyed, 5, 1, some_pin, plan, fault), WARPSEAL_NO_RANDOM);
        EXPECT_EQ(plan, nullptr);
    }
}

}  // namespace
}  // namespace tests
