// Header copies, generations and slots after a complete or interrupted rewrite, and the info
// command's view of each.
#include <algorithm>

#include "container/bytes.h"
#include "container/header/header.h"
#include "container/header/tries.h"
#include "files.h"

namespace tests {
namespace {

namespace container = warpseal::container;

// A file whose header this test rewrites as docs/file-format.md specifies.
class Rewrite : public testing::Test {
protected:
    Rewrite() : text(Random(200).text(chunk + 5)) {
        old_key.key(1);
        new_key.key(2);
        file = sealed(text, old_key);
        header.bytes.assign(file.begin(), file.begin() + payload_at);
        container::Fault fault;
        EXPECT_EQ(container::parse_first_block(header.bytes.data(), 4096, header.fixed, fault),
                  WARPSEAL_OK);
        container::parse_copies(header);
        int in_force = -1;
        EXPECT_EQ(
            container::unlock(engine(), header, old_key.list.data(), 1, data_key, in_force, fault),
            WARPSEAL_OK)
            << fault.message;
        EXPECT_EQ(in_force, 0);
    }
    // Returns a copy of the next generation, with one slot for a secret.
    Data copy(uint64_t generation, const warpseal_secret& secret) {
        uint8_t slot[container::passphrase_slot_bytes];
        size_t slot_bytes = 0;
        container::Fault fault;
        EXPECT_EQ(container::seal_slot(engine(), header.fixed.bytes, secret, {1, 64}, data_key,
                                       slot, slot_bytes, fault),
                  WARPSEAL_OK);
        Data out(28672);
        container::write_copy(header.bytes.data(), header.fixed, generation, 1, {slot, slot_bytes},
                              data_key, out.data());
        return out;
    }
    static Data with(Data whole, int index, const Data& part, size_t bytes) {
        std::copy(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(bytes),
                  whole.begin() + 4096 + 28672 * index);
        return whole;
    }
    warpseal_status open(const Data& changed, const Options& options) {
        const Outcome back = run(Operation::open, changed, options);
        EXPECT_TRUE(back.status == WARPSEAL_OK ? back.out == text : back.out.empty());
        return back.status;
    }
    // Returns the copy with a valid MAC over its changed content.
    Data authenticated(Data copy) {
        const char label[] = "warpseal/header-mac/v1";
        const warpseal::Bytes info = {reinterpret_cast<const uint8_t*>(label), sizeof label - 1};
        uint8_t key[container::hmac_bytes];
        container::expand({data_key.data(), data_key.size()}, {&info, 1}, key, sizeof key);
        const warpseal::Bytes parts[] = {{header.bytes.data(), 4096},
                                         {copy.data(), copy.size() - sizeof key}};
        container::hmac({key, sizeof key}, {parts, 2}, copy.data() + copy.size() - sizeof key);
        return copy;
    }
    uint64_t generation(const Data& changed) {
        const MemoryFile in(changed);
        warpseal_file_info info = {};
        warpseal_file_result result = {};
        return container::info(in.get(), info, result) == WARPSEAL_OK ? info.generation : 0;
    }

    Options old_key, new_key;
    const Data text;
    Data file;
    container::Header header;
    warpseal::Secret<container::data_key_bytes> data_key;
};

TEST_F(Rewrite, AnInterruptedRewriteStillOpens) {
    const Data next = copy(2, new_key.list[0]);
    for (size_t written = 0; written <= 28672;
         written += written < 160 || written >= 28600 ? 1 : 61) {
        const Data torn = with(file, 1, next, written);
        ASSERT_EQ(open(torn, old_key), WARPSEAL_OK) << written;
        const warpseal_status status = open(torn, new_key);
        ASSERT_TRUE(status == WARPSEAL_OK || written < 28672) << written;
        ASSERT_TRUE(status == WARPSEAL_OK || status == WARPSEAL_WRONG_KEY ||
                    status == WARPSEAL_NOT_AUTHENTIC)
            << written;
        const Data second = with(with(file, 1, next, 28672), 0, next, written);
        ASSERT_EQ(open(second, new_key), WARPSEAL_OK) << written;
    }
    const Data done = with(with(file, 1, next, 28672), 0, next, 28672);
    EXPECT_EQ(open(done, old_key), WARPSEAL_WRONG_KEY);
    EXPECT_EQ(open(done, new_key), WARPSEAL_OK);
    EXPECT_EQ(generation(done), 2u);
}

TEST_F(Rewrite, TheNewerCopyThatVerifiesIsInForce) {
    for (const int index : {0, 1}) {
        const Data newer = with(file, index, copy(7, new_key.list[0]), 28672);
        EXPECT_EQ(open(newer, new_key), WARPSEAL_OK);
        EXPECT_EQ(generation(newer), 7u);
        Data damaged = newer;
        damaged[4096 + 28672 * static_cast<size_t>(index) + 7000] = 1;
        EXPECT_EQ(open(damaged, old_key), WARPSEAL_OK);
    }
    EXPECT_EQ(generation(with(file, 1, copy(UINT64_MAX, new_key.list[0]), 28672)), UINT64_MAX);
    EXPECT_EQ(open(with(file, 1, copy(UINT64_MAX, new_key.list[0]), 28672), new_key), WARPSEAL_OK);
}

TEST_F(Rewrite, APassphraseReplacesAKey) {
    Options passphrase;
    passphrase.passphrase("new");
    const Data next = copy(2, passphrase.list[0]);
    const Data done = with(with(file, 1, next, 28672), 0, next, 28672);
    EXPECT_EQ(open(done, passphrase), WARPSEAL_OK);
    EXPECT_EQ(open(done, old_key), WARPSEAL_WRONG_KEY);
}

TEST_F(Rewrite, EitherCopyMayBeLost) {
    Random random(201);
    for (const int index : {0, 1}) {
        for (int i = 0; i < 50; ++i) {
            const Data junk = i == 0   ? Data(28672, 0)
                              : i == 1 ? Data(28672, 0xff)
                                       : random.text(28672);
            EXPECT_EQ(open(with(file, index, junk, 28672), old_key), WARPSEAL_OK);
            EXPECT_EQ(open(with(with(file, 0, junk, 28672), 1, junk, 28672), old_key),
                      WARPSEAL_NOT_AUTHENTIC);
        }
    }
}

// A header with features unknown to this version is rejected, even with a valid MAC.
TEST_F(Rewrite, BytesThatMustBeZeroAreChecked) {
    const Data next = copy(2, new_key.list[0]);
    const size_t slots_end = 16 + container::key_file_slot_bytes;
    EXPECT_EQ(open(with(file, 1, authenticated(next), 28672), new_key), WARPSEAL_OK);
    for (const size_t at : {size_t{10}, size_t{11}, size_t{15}, slots_end, slots_end + 1,
                            size_t{5000}, size_t{28672 - 65}}) {
        Data bad = next;
        bad[at] = 1;
        bad = authenticated(bad);
        for (const int index : {0, 1}) {
            EXPECT_EQ(open(with(file, index, bad, 28672), new_key), WARPSEAL_WRONG_KEY) << at;
            EXPECT_EQ(open(with(file, index, bad, 28672), old_key), WARPSEAL_OK) << at;
        }
        EXPECT_EQ(open(with(with(file, 0, bad, 28672), 1, bad, 28672), new_key),
                  WARPSEAL_NOT_AUTHENTIC)
            << at;
    }
}

// Nothing without a key checks the MAC, so that this check alone protects the `info` of a file.
TEST_F(Rewrite, InfoRefusesBytesAfterTheFixedPart) {
    EXPECT_EQ(generation(file), 1u);
    for (const size_t at : {container::fixed_part_bytes, size_t{1000}, size_t{4095}}) {
        Data changed = file;
        changed[at] = 1;
        EXPECT_EQ(generation(changed), 0u) << at;
    }
}

TEST_F(Rewrite, ACopyOfMoreSlotsThanAFileMayHaveIsRefused) {
    Data all = copy(2, new_key.list[0]);
    const size_t slot_bytes = container::key_file_slot_bytes;
    for (const size_t count : {size_t{WARPSEAL_MAX_SLOTS}, size_t{WARPSEAL_MAX_SLOTS + 1}}) {
        for (size_t i = 1; i < count; ++i)
            std::copy_n(all.begin() + 16, slot_bytes,
                        all.begin() + static_cast<std::ptrdiff_t>(16 + i * slot_bytes));
        all[9] = static_cast<uint8_t>(count);
        container::Header both = header;
        const Data changed = with(file, 1, authenticated(all), 28672);
        both.bytes.assign(changed.begin(), changed.begin() + payload_at);
        container::parse_copies(both);
        EXPECT_EQ(both.copies[1].well_formed, count == WARPSEAL_MAX_SLOTS) << count;
    }
}

TEST_F(Rewrite, OfEqualGenerationsTheFirstCopyIsInForce) {
    const Data mine = copy(1, old_key.list[0]), other = copy(1, new_key.list[0]);
    for (const bool swapped : {false, true}) {
        container::Header both;
        both.fixed = header.fixed;
        both.bytes.assign(file.begin(), file.begin() + 4096);
        for (const Data* part : {swapped ? &other : &mine, swapped ? &mine : &other})
            both.bytes.insert(both.bytes.end(), part->begin(), part->end());
        container::parse_copies(both);
        EXPECT_EQ(both.newest(), 0);
        Options all;
        all.key(1).key(2);
        for (const bool broken : {false, true}) {
            if (broken) both.bytes[4096 + 28671] ^= 1;
            container::Fault fault;
            int in_force = -1;
            warpseal::Secret<container::data_key_bytes> out;
            EXPECT_EQ(container::unlock(engine(), both, all.list.data(), 2, out, in_force, fault),
                      WARPSEAL_OK)
                << fault.message;
            EXPECT_EQ(in_force, broken ? 1 : 0);
        }
        std::vector<const uint8_t*> order;
        container::visit_tries(both, all.list.data(), 1, 0, [&](const container::Try& next) {
            order.push_back(next.slot->whole.data);
            return false;
        });
        EXPECT_EQ(order, (std::vector<const uint8_t*>{both.copy(0) + 16, both.copy(1) + 16}));
    }
}

TEST_F(Rewrite, ADamagedCopyIsReported) {
    const auto reported = [&](const Data& changed, bool pipe) {
        const Outcome back = run(Operation::open, changed, old_key, 1, pipe);
        EXPECT_EQ(back.status, WARPSEAL_OK) << back.result.message;
        return back.result.header_copies_differ != 0;
    };
    for (const bool pipe : {false, true}) {
        EXPECT_FALSE(reported(file, pipe));
        for (const size_t at : {0, 100, 28671, 28672, 2 * 28672 - 1}) {
            Data damaged = file;
            damaged[4096 + at] ^= 1;
            EXPECT_TRUE(reported(damaged, pipe)) << at;
        }
    }
}

TEST_F(Rewrite, KeysOfAFileDiffer) {
    warpseal::Secret<32> payload_key;
    container::payload_input_key(*header.fixed.suite, data_key, payload_key);
    EXPECT_NE(memcmp(payload_key.data(), data_key.data(), 32), 0);
}

// A slot of an unknown type may have any lengths, as a later version gives it.
TEST(ContainerSlots, HaveTheLengthsOfTheirTypes) {
    const auto parses = [](uint16_t type, size_t parameter_bytes, size_t body_bytes,
                           uint8_t flags = 0) {
        Data raw(container::slot_frame_bytes + parameter_bytes + body_bytes);
        container::put16(raw.data(), type);
        container::put16(raw.data() + 2, parameter_bytes);
        container::put16(raw.data() + 4 + parameter_bytes, body_bytes);
        if (parameter_bytes != 0) raw[4] = flags;
        warpseal::Bytes rest = {raw.data(), raw.size()};
        container::Slot slot;
        return container::parse_slot(rest, slot);
    };
    constexpr size_t body = container::sealed_key_bytes;
    using container::RecipientType, container::recipient_parameter_bytes;
    const struct {
        uint16_t type;
        size_t parameters;
    } known[] = {
        {WARPSEAL_SLOT_KEY, 0},
        {WARPSEAL_SLOT_PASSPHRASE, container::passphrase_parameter_bytes},
        {WARPSEAL_SLOT_X25519, recipient_parameter_bytes(RecipientType::x25519)},
        {WARPSEAL_SLOT_MLKEM768_X25519, recipient_parameter_bytes(RecipientType::mlkem768_x25519)},
    };
    for (const auto& [type, parameters] : known) {
        EXPECT_TRUE(parses(type, parameters, body)) << type;
        EXPECT_FALSE(parses(type, parameters + 1, body)) << type;
        EXPECT_FALSE(parses(type, parameters, body + 1)) << type;
        EXPECT_FALSE(parses(type, parameters, body - 1)) << type;
        if (parameters != 0) {
            EXPECT_FALSE(parses(type, parameters - 1, body)) << type;
        }
    }
    // These have bounds.
    const struct {
        uint16_t type;
        size_t least, most;
    } bounded[] = {{WARPSEAL_SLOT_SSH_ED25519, 68, 68},
                   {WARPSEAL_SLOT_SSH_RSA, 260, 2052},
                   {WARPSEAL_SLOT_STANZA, 2, 8192}};
    for (const auto& [type, least, most] : bounded) {
        for (const size_t bytes : {least, most}) {
            EXPECT_TRUE(parses(type, bytes, body)) << type;
            EXPECT_FALSE(parses(type, bytes, body + 1)) << type;
        }
        EXPECT_FALSE(parses(type, least - 1, body)) << type;
        EXPECT_FALSE(parses(type, most + 1, body)) << type;
    }
    // One flag of a plugin's slot is known.
    for (unsigned flags = 0; flags < 256; ++flags) {
        const auto byte = static_cast<uint8_t>(flags);
        EXPECT_EQ(parses(WARPSEAL_SLOT_STANZA, 68, body, byte), flags < 2) << flags;
        EXPECT_TRUE(parses(WARPSEAL_SLOT_SSH_ED25519, 68, body, byte)) << flags;
    }
    for (const size_t bytes : {size_t{0}, body}) {
        EXPECT_TRUE(parses(999, 3, bytes)) << bytes;
        EXPECT_FALSE(parses(0, 3, bytes)) << "no type, " << bytes;
    }
}

// Random bytes after a valid fixed part, and random changes to a valid copy: no crash, and no
// acceptance of changed data.
TEST_F(Rewrite, ParserTakesAnyBytes) {
    Random random(202);
    for (int i = 0; i < 20000; ++i) {
        Data copy(header.copy(0), header.copy(0) + 28672);
        if (i % 4 == 0) random.fill(copy.data(), 200);
        for (uint64_t hits = random.below(4); hits > 0; --hits)
            copy[random.below(300)] = static_cast<uint8_t>(random.next());
        container::Header changed;
        changed.fixed = header.fixed;
        changed.bytes.assign(file.begin(), file.begin() + 4096);
        for (int twice = 0; twice < 2; ++twice)
            changed.bytes.insert(changed.bytes.end(), copy.begin(), copy.end());
        container::parse_copies(changed);
        container::Fault fault;
        int in_force = 0;
        warpseal::Secret<container::data_key_bytes> out;
        const bool same = std::equal(copy.begin(), copy.end(), header.copy(0));
        ASSERT_EQ(container::unlock(engine(), changed, old_key.list.data(), 1, out, in_force,
                                    fault) == WARPSEAL_OK,
                  same);
    }
}

}  // namespace
}  // namespace tests
