// Changes of key slots in place: the order of the writes, every interruption, and what is refused.
#include "container/slots.h"

#include <sys/file.h>

#include <algorithm>
#include <set>

#include "calls.h"
#include "container/bytes.h"
#include "container/header/header.h"

namespace tests {
namespace {

namespace container = warpseal::container;

constexpr size_t copy_bytes = 28672;
constexpr off_t copies_at[2] = {4096, 4096 + copy_bytes};

struct Change : warpseal_slots_change {
    Options added;
    std::vector<uint32_t> numbers;

    Change() : warpseal_slots_change{} { struct_bytes = sizeof(warpseal_slots_change); }
    Change& key(uint8_t which) { return take(added.key(which)); }
    Change& passphrase(std::string_view text) { return take(added.passphrase(text)); }
    Change& removing(uint32_t number) {
        numbers.push_back(number);
        remove = numbers.data();
        remove_count = numbers.size();
        return *this;
    }
    Change& replacing() {
        remove_opened = 1;
        return *this;
    }

private:
    Change& take(const Options& options) {
        add = options.secrets;
        add_count = options.secret_count;
        return *this;
    }
};

class SlotsChange : public Faults {
protected:
    SlotsChange() : small(Random(301).text(chunk + 5)), file(sealed(small, options)) {
        new_key.key(2);
        word.passphrase("first word");
        other_word.passphrase("second word");
    }
    warpseal_status change(const Options& with, Change& wanted) {
        result = {};
        return container::change_slots(engine(), file.get(), with, wanted, result);
    }
    warpseal_status open(const Data& data, const Options& with) {
        const Outcome back = run(Operation::open, data, with);
        EXPECT_TRUE(back.status == WARPSEAL_OK ? back.out == small : back.out.empty());
        return back.status;
    }
    warpseal_status open(const Options& with) { return open(file.data(), with); }
    static Data copy(const Data& data, int index) {
        const auto begin = data.begin() + copies_at[index];
        return {begin, begin + copy_bytes};
    }
    warpseal_file_info info() {
        warpseal_file_info info = {};
        warpseal_file_result ignored = {};
        EXPECT_EQ(container::info(file.get(), info, ignored), WARPSEAL_OK);
        EXPECT_EQ(ignored.header_copies_differ, copy(file.data(), 0) != copy(file.data(), 1));
        return info;
    }
    bool message_has(std::string_view words) const {
        return std::string_view(result.message).find(words) != std::string_view::npos;
    }
    // Expects a failure that leaves every byte of the file.
    void refused(warpseal_status status, std::string_view words, const Options& with,
                 Change& wanted) {
        const Data before = file.data();
        EXPECT_EQ(change(with, wanted), status) << result.message;
        EXPECT_TRUE(message_has(words)) << result.message;
        EXPECT_EQ(file.data(), before);
        EXPECT_EQ(wanted.in_force, 0);
        EXPECT_EQ(flock(file.get(), LOCK_EX | LOCK_NB), 0);
    }
    // Writes the copy again with another list of slots and a valid MAC.
    void rewrite(int index, uint64_t generation, uint32_t count, const Data& slots) {
        const Data data = file.data();
        container::Header header;
        container::Fault fault;
        warpseal::Secret<container::data_key_bytes> data_key;
        int in_force = 0;
        header.bytes.assign(data.begin(), data.begin() + payload_at);
        ASSERT_EQ(container::parse_first_block(data.data(), 4096, header.fixed, fault),
                  WARPSEAL_OK);
        container::parse_copies(header);
        ASSERT_EQ(
            container::unlock(engine(), header, options.secrets, 1, data_key, in_force, fault),
            WARPSEAL_OK);
        Data out(copy_bytes);
        container::write_copy(header.bytes.data(), header.fixed, generation, count,
                              {slots.data(), slots.size()}, data_key, out.data());
        file.put(out, copies_at[index]);
    }

    Options new_key, word, other_word;
    const Data small;
    const MemoryFile file;
    warpseal_file_result result = {};
};

TEST_F(SlotsChange, AKeyAndAPassphraseAreAdded) {
    Change add;
    add.key(2).passphrase("first word");
    ASSERT_EQ(change(options, add), WARPSEAL_OK) << result.message;
    EXPECT_EQ(add.slot_count, 3u);
    EXPECT_EQ(add.removed_count, 0u);
    EXPECT_EQ(add.in_force, 1);
    for (const Options* each : {&options, &new_key, &word}) EXPECT_EQ(open(*each), WARPSEAL_OK);
    EXPECT_EQ(open(other_word), WARPSEAL_WRONG_KEY);
    const warpseal_file_info now = info();
    EXPECT_EQ(now.generation, 2u);
    EXPECT_EQ(now.slot_count, 3u);
    EXPECT_EQ(now.slots[2].argon2_memory_kib, 64u);
    EXPECT_EQ(copy(file.data(), 0), copy(file.data(), 1));
    EXPECT_EQ(result.output_bytes, 2 * copy_bytes);
}

TEST_F(SlotsChange, ANewSecretTakesThePlaceOfTheOldOne) {
    Change add, replace, again;
    add.passphrase("first word").key(2);
    ASSERT_EQ(change(options, add), WARPSEAL_OK);
    replace.replacing().passphrase("second word");
    ASSERT_EQ(change(word, replace), WARPSEAL_OK) << result.message;
    EXPECT_EQ(replace.removed_count, 1u);
    EXPECT_EQ(open(word), WARPSEAL_WRONG_KEY);
    EXPECT_EQ(open(other_word), WARPSEAL_OK);
    EXPECT_EQ(info().slots[1].type, uint32_t{WARPSEAL_SECRET_PASSPHRASE});
    EXPECT_EQ(info().generation, 3u);
    again.replacing().key(9);
    ASSERT_EQ(change(options, again), WARPSEAL_OK);
    EXPECT_EQ(open(options), WARPSEAL_WRONG_KEY);
    EXPECT_EQ(open(new_key), WARPSEAL_OK);
}

// Otherwise the old passphrase would still open the file.
TEST_F(SlotsChange, EverySlotOfAReplacedSecretGoes) {
    Change add, replace;
    add.passphrase("first word").passphrase("second word").passphrase("first word").key(1);
    ASSERT_EQ(change(options, add), WARPSEAL_OK);
    replace.replacing().passphrase("third word");
    ASSERT_EQ(change(word, replace), WARPSEAL_OK);
    EXPECT_EQ(replace.removed_count, 2u);
    EXPECT_EQ(replace.slot_count, 4u);
    EXPECT_EQ(open(word), WARPSEAL_WRONG_KEY);
    EXPECT_EQ(open(other_word), WARPSEAL_OK);
    Change keys;
    keys.replacing().key(2);
    ASSERT_EQ(change(options, keys), WARPSEAL_OK);
    EXPECT_EQ(keys.removed_count, 2u);
    EXPECT_EQ(open(options), WARPSEAL_WRONG_KEY);
}

TEST_F(SlotsChange, ASlotIsRemovedByItsNumber) {
    Change add, second;
    add.key(2).passphrase("first word");
    ASSERT_EQ(change(options, add), WARPSEAL_OK);
    second.removing(1);
    ASSERT_EQ(change(options, second), WARPSEAL_OK) << result.message;
    EXPECT_EQ(second.removed_count, 1u);
    EXPECT_EQ(second.slot_count, 2u);
    EXPECT_EQ(open(new_key), WARPSEAL_WRONG_KEY);
    EXPECT_EQ(open(options), WARPSEAL_OK);
    EXPECT_EQ(open(word), WARPSEAL_OK);
    Change missing;
    missing.removing(2);
    refused(WARPSEAL_INVALID_ARGUMENT, "no slot 3", options, missing);
}

TEST_F(SlotsChange, ASlotThatAGivenSecretOpensStays) {
    Change last, own, add, both;
    last.removing(0);
    refused(WARPSEAL_INVALID_ARGUMENT, "last key slot", options, last);
    Change everything;
    everything.replacing();
    refused(WARPSEAL_INVALID_ARGUMENT, "last key slot", options, everything);
    add.key(2);
    ASSERT_EQ(change(options, add), WARPSEAL_OK);
    own.removing(0);
    refused(WARPSEAL_INVALID_ARGUMENT, "would not open", options, own);
    Options two;
    two.key(1).key(2);
    ASSERT_EQ(change(two, own), WARPSEAL_OK) << result.message;
    EXPECT_EQ(open(options), WARPSEAL_WRONG_KEY);
    EXPECT_EQ(open(new_key), WARPSEAL_OK);
}

// It opens under the key, but what it holds opens nothing.
TEST_F(SlotsChange, ASlotWithAnotherDataKeyDoesNotStayForItsKey) {
    const Data before = copy(file.data(), 0);
    Data slots(before.begin() + 16, before.begin() + 16 + container::key_file_slot_bytes);
    slots.resize(2 * slots.size());
    warpseal::Secret<container::data_key_bytes> other;
    size_t bytes = 0;
    container::Fault fault;
    ASSERT_EQ(container::seal_slot(engine(), file.data().data(), options.secrets[0], {1, 64}, other,
                                   slots.data() + slots.size() / 2, bytes, fault),
              WARPSEAL_OK);
    rewrite(0, 5, 2, slots);
    ASSERT_EQ(open(options), WARPSEAL_OK);
    Change remove;
    remove.removing(0);
    refused(WARPSEAL_INVALID_ARGUMENT, "would not open", options, remove);
}

TEST_F(SlotsChange, FullSlotsAreRefused) {
    Change all, more;
    for (uint8_t i = 2; i <= 32; ++i) all.key(i);
    ASSERT_EQ(change(options, all), WARPSEAL_OK) << result.message;
    EXPECT_EQ(info().slot_count, 32u);
    more.key(99);
    refused(WARPSEAL_LIMIT_EXCEEDED, "full: 33 of at most 32", options, more);
    Change exchange;
    exchange.replacing().key(99);
    EXPECT_EQ(change(options, exchange), WARPSEAL_OK);
}

TEST_F(SlotsChange, RoomForBytesIsChecked) {
    Data slots = copy(file.data(), 0);
    slots.assign(slots.begin() + 16, slots.begin() + 16 + container::key_file_slot_bytes);
    Data large(6 + copy_bytes - 80 - slots.size() - 6 - container::key_file_slot_bytes, 0xa5);
    warpseal::container::put16(large.data(), 77);
    warpseal::container::put16(large.data() + 2, 0);
    warpseal::container::put16(large.data() + 4, static_cast<uint16_t>(large.size() - 6));
    slots.insert(slots.end(), large.begin(), large.end());
    rewrite(0, 5, 2, slots);
    Change fits, too_large;
    too_large.passphrase("first word");
    refused(WARPSEAL_LIMIT_EXCEEDED, "28616 of 28592 bytes", options, too_large);
    fits.key(2);
    EXPECT_EQ(change(options, fits), WARPSEAL_OK) << result.message;
    EXPECT_EQ(open(new_key), WARPSEAL_OK);
}

TEST_F(SlotsChange, SlotsOfUnknownTypesAreKept) {
    const Data unknown = {0, 10, 0, 2, 0xaa, 0xbb, 0, 3, 1, 2, 3};
    Data slots = unknown;
    const Data first = copy(file.data(), 0);
    slots.insert(slots.end(), first.begin() + 16,
                 first.begin() + 16 + container::key_file_slot_bytes);
    rewrite(1, 2, 2, slots);
    Change replace;
    replace.replacing().key(2);
    ASSERT_EQ(change(options, replace), WARPSEAL_OK) << result.message;
    EXPECT_EQ(info().slots[0].type, 10u);
    for (const int index : {0, 1}) {
        const Data now = copy(file.data(), index);
        EXPECT_TRUE(std::equal(unknown.begin(), unknown.end(), now.begin() + 16));
    }
    EXPECT_EQ(open(new_key), WARPSEAL_OK);
    Change known;
    known.removing(1);
    refused(WARPSEAL_INVALID_ARGUMENT, "would not open", new_key, known);
    Change its;
    its.removing(0);
    EXPECT_EQ(change(new_key, its), WARPSEAL_OK);
    EXPECT_EQ(info().slot_count, 1u);
}

TEST_F(SlotsChange, WrongKeysAndCostsAreRefused) {
    Change add, costly, many;
    add.key(2);
    refused(WARPSEAL_WRONG_KEY, "wrong key", new_key, add);
    refused(WARPSEAL_WRONG_KEY, "wrong key", word, add);
    Options expensive;
    expensive.key(1).argon2_memory_kib = 1024 * 1024 + 1;
    costly.passphrase("first word");
    refused(WARPSEAL_LIMIT_EXCEEDED, "Argon2id takes", expensive, costly);
    expensive.argon2_memory_kib = 1024 * 1024;
    expensive.argon2_passes = 16;
    many.passphrase("first").passphrase("second").passphrase("third");
    // Unless it is refused before, the call ends without a salt, and not after minutes of work.
    drawing.error = ENOSYS;
    drawing.countdown = 0;
    refused(WARPSEAL_LIMIT_EXCEEDED, "more Argon2id work", expensive, many);
    drawing.countdown = -1;
    Change empty;
    empty.passphrase("");
    refused(WARPSEAL_INVALID_ARGUMENT, "empty", options, empty);
    Options bare;
    bare.bare(32);
    refused(WARPSEAL_INVALID_ARGUMENT, "no key slots", bare, add);
}

TEST_F(SlotsChange, TheLastGenerationIsRefused) {
    const Data first = copy(file.data(), 0);
    rewrite(0, UINT64_MAX, 1,
            {first.begin() + 16, first.begin() + 16 + container::key_file_slot_bytes});
    Change add;
    add.key(2);
    refused(WARPSEAL_LIMIT_EXCEEDED, "too many times", options, add);
}

TEST_F(SlotsChange, DescriptorsThatCannotBeRewritten) {
    const std::string path = "/proc/self/fd/" + std::to_string(file.get());
    Change add;
    add.key(2);
    for (const int flags : {O_RDONLY, O_WRONLY, O_RDWR | O_APPEND}) {
        const int other = ::open(path.c_str(), flags | O_CLOEXEC);
        ASSERT_GE(other, 0);
        EXPECT_EQ(container::change_slots(engine(), other, options, add, result),
                  WARPSEAL_INVALID_ARGUMENT);
        close(other);
    }
    const PipeSink pipe;
    EXPECT_EQ(container::change_slots(engine(), pipe.get(), options, add, result),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_TRUE(message_has("regular file"));
    EXPECT_EQ(open(new_key), WARPSEAL_WRONG_KEY);
}

TEST_F(SlotsChange, ALockedFileIsLeftAlone) {
    const std::string path = "/proc/self/fd/" + std::to_string(file.get());
    const int other = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(flock(other, LOCK_EX | LOCK_NB), 0);
    const Data before = file.data();
    Change add;
    add.key(2);
    EXPECT_EQ(change(options, add), WARPSEAL_IO);
    EXPECT_TRUE(message_has("locked")) << result.message;
    EXPECT_EQ(result.system_error, EWOULDBLOCK);
    EXPECT_EQ(file.data(), before);
    close(other);
    EXPECT_EQ(change(options, add), WARPSEAL_OK);
    EXPECT_EQ(lseek(file.get(), 0, SEEK_CUR), 0);
}

TEST_F(SlotsChange, ADamagedCopyIsRepaired) {
    for (const int index : {0, 1}) {
        file.put(Data(copy_bytes, 0xa5), copies_at[index]);
        Change nothing;
        ASSERT_EQ(change(options, nothing), WARPSEAL_OK) << result.message;
        EXPECT_EQ(result.header_copies_differ, 1);
        EXPECT_EQ(nothing.slot_count, 1u);
        EXPECT_EQ(copy(file.data(), 0), copy(file.data(), 1));
        EXPECT_EQ(open(options), WARPSEAL_OK);
        EXPECT_EQ(info().generation, 2u + static_cast<unsigned>(index));
    }
    file.put(Data(copy_bytes, 0xa5), copies_at[0]);
    file.put(Data(copy_bytes, 0xa5), copies_at[1]);
    Change add;
    add.key(2);
    refused(WARPSEAL_NOT_AUTHENTIC, "both copies", options, add);
}

// A number that a damaged copy gave is not used, because it may mean another slot.
TEST_F(SlotsChange, NumbersOfADamagedCopyAreRefused) {
    Change add, remove;
    add.key(2).key(3);
    ASSERT_EQ(change(options, add), WARPSEAL_OK);
    Data newer = copy(file.data(), 1);
    newer[7] = 9;  // generation: its MAC does not verify
    file.put(newer, copies_at[1]);
    remove.removing(1);
    writing.error = ENOSPC;
    writing.countdown = 1;
    EXPECT_EQ(change(options, remove), WARPSEAL_IO);
    EXPECT_TRUE(message_has("nothing was removed, but")) << result.message;
    EXPECT_EQ(remove.in_force, 0);
    file.put(newer, copies_at[1]);
    EXPECT_EQ(change(options, remove), WARPSEAL_NOT_AUTHENTIC);
    EXPECT_TRUE(message_has("list the slots again")) << result.message;
    EXPECT_EQ(remove.in_force, 0);
    EXPECT_EQ(info().slot_count, 3u);
    EXPECT_EQ(copy(file.data(), 0), copy(file.data(), 1));
    EXPECT_EQ(open(new_key), WARPSEAL_OK);
    EXPECT_EQ(change(options, remove), WARPSEAL_OK);
    EXPECT_EQ(open(new_key), WARPSEAL_WRONG_KEY);
}

// After an interruption both keys open the file, but only the newer one changes it.
TEST_F(SlotsChange, AnOutdatedKeyChangesNothing) {
    const Data before = file.data();
    Change replace, add;
    replace.replacing().key(2);
    ASSERT_EQ(change(options, replace), WARPSEAL_OK);
    file.put(copy(before, 0), copies_at[0]);
    EXPECT_EQ(open(options), WARPSEAL_OK);
    add.key(3);
    refused(WARPSEAL_WRONG_KEY, "outdated", options, add);
    Change again;
    again.replacing().key(3);
    refused(WARPSEAL_WRONG_KEY, "outdated", options, again);
    ASSERT_EQ(change(new_key, add), WARPSEAL_OK);
    EXPECT_EQ(open(options), WARPSEAL_WRONG_KEY);
    EXPECT_EQ(info().generation, 3u);
}

// An interrupted write left new slots without their MAC: both keys open the file, but only the
// older one changes it.
TEST_F(SlotsChange, AKeyOfAnUnfinishedCopyChangesNothing) {
    Change second, replace, add, remove;
    second.key(3);
    ASSERT_EQ(change(options, second), WARPSEAL_OK);
    const Data before = file.data();
    replace.replacing().key(2);
    ASSERT_EQ(change(options, replace), WARPSEAL_OK);
    const Data newer = file.data();
    file.put(before);
    file.put({newer.begin() + copies_at[1], newer.begin() + copies_at[1] + 4096}, copies_at[1]);
    EXPECT_EQ(open(options), WARPSEAL_OK);
    add.key(4);
    refused(WARPSEAL_WRONG_KEY, "unfinished copy", new_key, add);
    EXPECT_TRUE(message_has("the older key")) << result.message;
    remove.removing(1);
    refused(WARPSEAL_WRONG_KEY, "unfinished copy", new_key, remove);
    EXPECT_EQ(open(new_key), WARPSEAL_OK);
    ASSERT_EQ(change(options, add), WARPSEAL_OK) << result.message;
    EXPECT_EQ(open(new_key), WARPSEAL_WRONG_KEY);

    // The second copy of the same change, begun before old slots.
    file.put(before);
    file.put(copy(newer, 1), copies_at[1]);
    file.put({newer.begin() + copies_at[0], newer.begin() + copies_at[0] + 16}, copies_at[0]);
    EXPECT_EQ(open(options), WARPSEAL_OK);
    Change again;
    again.key(4);
    refused(WARPSEAL_WRONG_KEY, "the newer key", options, again);
    EXPECT_EQ(change(new_key, again), WARPSEAL_OK) << result.message;
}

// At each system call the bytes of the file are those that a crash would leave.
TEST_F(SlotsChange, EveryInterruptionLeavesTheOldOrTheNewKey) {
    for (const int newer : {0, 1}) {
        // The copy in force is the other one in the second round.
        if (newer == 1) {
            const Data first = copy(file.data(), 0);
            rewrite(1, 9, 1,
                    {first.begin() + 16, first.begin() + 16 + container::key_file_slot_bytes});
        }
        std::vector<Data> states;
        std::string order;
        const auto record = [&](char what) {
            return [&, what](off_t at) {
                order += what == 'w' ? (at < copies_at[1] ? '0' : '1') : what;
                states.push_back(file.data());
                return 0;
            };
        };
        const std::function<int(off_t)> before_write = record('w'), before_sync = record('s');
        writing.before = &before_write;
        syncing.before = &before_sync;
        writing.at_most = 100;
        Change replace;
        replace.replacing().passphrase("first word");
        ASSERT_EQ(change(newer == 0 ? options : new_key, replace), WARPSEAL_OK) << result.message;
        writing.before = syncing.before = nullptr;
        writing.at_most = SIZE_MAX;
        states.push_back(file.data());
        order.erase(std::unique(order.begin(), order.end()), order.end());
        EXPECT_EQ(order, newer == 0 ? "s1s0s" : "s0s1s");
        ASSERT_GT(states.size(), 160u);
        size_t both = 0;
        for (const Data& state : states) {
            const bool old = open(state, newer == 0 ? options : new_key) == WARPSEAL_OK;
            const bool now = open(state, word) == WARPSEAL_OK;
            ASSERT_TRUE(old || now) << &state - states.data();
            both += old && now ? 1 : 0;
        }
        EXPECT_GT(both, 0u);
        EXPECT_EQ(open(options), WARPSEAL_WRONG_KEY);
        Change back;
        back.replacing().key(2);
        ASSERT_EQ(change(word, back), WARPSEAL_OK);
        options.list[0] = new_key.list[0];
    }
}

// A failing write or sync ends the change before the other copy is touched.
TEST_F(SlotsChange, EveryFailingCall) {
    const Data before = file.data();
    for (Script* script : {&syncing, &writing, &reading}) {
        int failures = 0;
        for (int number = 0;; ++number) {
            file.put(before);
            script->error = script == &writing ? ENOSPC : EIO;
            script->countdown = number;
            Change replace;
            replace.replacing().key(2);
            const warpseal_status status = change(options, replace);
            const bool failed = script->countdown < 0;
            script->countdown = -1;
            if (!failed) break;
            ++failures;
            ASSERT_EQ(status, WARPSEAL_IO) << number;
            EXPECT_EQ(result.system_error, script->error);
            EXPECT_EQ(open(replace.in_force != 0 ? new_key : options), WARPSEAL_OK) << number;
            EXPECT_EQ(message_has("is in force"), replace.in_force != 0) << result.message;
            const Data now = file.data();
            EXPECT_TRUE(copy(now, 0) == copy(before, 0) || replace.in_force != 0) << number;
        }
        EXPECT_EQ(failures, script == &syncing ? 3 : script == &writing ? 2 : 4);
    }
}

}  // namespace
}  // namespace tests
