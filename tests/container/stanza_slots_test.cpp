// Slots whose file key the program wraps and unwraps: stanzas seal, and unwrappers open.
#include "stanzas.h"

#include "container/bytes.h"
#include "container/header/tries.h"
#include "container/slots.h"
#include "recipients.h"

namespace tests {
namespace {

namespace container = warpseal::container;

constexpr size_t copy_bytes = container::copy_bytes_default;
constexpr size_t slots_at = 4096 + 16;

constexpr const auto& all_types = all_stanza_types;

class StanzaSlots : public testing::Test {
protected:
    const Data text = Random(720).text(20'000);
    Data for_one(uint16_t type, uint8_t file_key = 5) const {
        Options to;
        return sealed(text, to.add(stanza_type, stanza(type, file_key)));
    }
};

TEST_F(StanzaSlots, OpenByTheirFileKeyAlone) {
    for (const uint16_t type : all_types) {
        Options to, key;
        const Data file = sealed(text, to.key().add(stanza_type, stanza(type, 5)));
        EXPECT_EQ(run(Operation::open, file, key.key()).out, text) << type;
        Asked asked;
        EXPECT_EQ(opened(file, asked).out, text) << type;
        EXPECT_EQ(asked.types, std::vector<uint16_t>{type});
        const Data given = stanza(type, 5);
        EXPECT_EQ(
            asked.parameters,
            std::vector<Data>{Data(given.begin() + container::stanza_head_bytes, given.end())});
        // The file key belongs to the slot, so a body that it does not open was changed.
        Asked wrong;
        wrong.mask = 1;
        const Outcome refused = opened(file, wrong);
        EXPECT_EQ(refused.status, WARPSEAL_NOT_AUTHENTIC) << type;
        EXPECT_STREQ(refused.result.message, "a slot was changed");
        Asked other = refusing(WARPSEAL_WRONG_KEY);
        const Outcome none = opened(file, other);
        EXPECT_EQ(none.status, WARPSEAL_WRONG_KEY) << type;
        EXPECT_STREQ(none.result.message,
                     "wrong key file, passphrase or identity: it does not open this file");
        const MemoryFile in(file);
        warpseal_file_info info = {};
        warpseal_file_result result = {};
        ASSERT_EQ(container::info(in.get(), info, result), WARPSEAL_OK);
        EXPECT_EQ(info.slots[1].type, type);
    }
}

TEST_F(StanzaSlots, AStreamOpensToo) {
    Asked asked;
    Options with;
    EXPECT_EQ(
        run(Operation::open, for_one(WARPSEAL_SLOT_STANZA), with.add(late, asked.secret()), 1, true)
            .out,
        text);
}

// All bytes of the slot are bound to its body, and the body to the file.
TEST_F(StanzaSlots, NoChangedByteOpensTheFile) {
    for (const uint16_t type : all_types) {
        const Data file = for_one(type);
        const size_t bytes = container::slot_bytes_with(parameters_of(type));
        for (size_t at = 2; at < bytes; ++at) {  // after the type
            Data changed = file, once = file;
            once[slots_at + at] ^= 0x10;
            for (const size_t copy : {size_t{0}, copy_bytes}) changed[slots_at + copy + at] ^= 0x10;
            Asked asked, again;
            if (at == 4 + key_at(type)) asked.mask = 0x10;  // the file key stays the same
            EXPECT_EQ(opened(changed, asked).status, WARPSEAL_NOT_AUTHENTIC) << type << " " << at;
            EXPECT_EQ(opened(once, again).out, text) << type << " " << at;
        }
    }
}

// What a plugin's slot says of its strength cannot be changed.
TEST_F(StanzaSlots, TheFlagsAreBound) {
    for (const bool post_quantum : {false, true}) {
        Options to;
        const Data file =
            sealed(text, to.add(stanza_type, stanza(WARPSEAL_SLOT_STANZA, 5, 68, post_quantum)));
        EXPECT_EQ(file[slots_at + 4], post_quantum ? 1 : 0);
        Data changed = file;
        for (const size_t copy : {size_t{0}, copy_bytes}) changed[slots_at + copy + 4] ^= 1;
        Asked asked, again;
        const Outcome refused = opened(changed, asked);
        EXPECT_EQ(refused.status, WARPSEAL_NOT_AUTHENTIC);
        EXPECT_STREQ(refused.result.message, "a slot was changed");
        EXPECT_EQ(opened(file, again).out, text);
    }
}

TEST_F(StanzaSlots, ASlotOfAnotherFileOpensNothing) {
    for (const uint16_t type : all_types) {
        Data file = for_one(type);
        const Data other = for_one(type);  // with the same file key
        std::copy(other.begin() + 4096, other.begin() + payload_at, file.begin() + 4096);
        Asked asked;
        EXPECT_EQ(opened(file, asked).status, WARPSEAL_NOT_AUTHENTIC) << type;
    }
}

// Nothing of two slots with one file key is equal but what the caller gave.
TEST_F(StanzaSlots, OneFileKeyForSeveral) {
    Options to;
    for (const uint16_t type : {WARPSEAL_SLOT_STANZA, WARPSEAL_SLOT_STANZA})
        to.add(stanza_type, stanza(static_cast<uint16_t>(type), 9));
    const Data file = sealed(text, to);
    const size_t bytes = container::slot_bytes_with(68);
    for (size_t at = 4 + 68 + 2; at + 16 < bytes; at += 16) {
        const auto first = file.begin() + static_cast<std::ptrdiff_t>(slots_at + at);
        EXPECT_FALSE(std::equal(first, first + 16, first + static_cast<std::ptrdiff_t>(bytes)))
            << at;
    }
    Asked asked;
    EXPECT_EQ(opened(file, asked).out, text);
}

// Slots of several file keys, as `key add` makes them: one that is damaged leaves the next.
TEST_F(StanzaSlots, EachSlotHasItsFileKey) {
    Options to;
    for (const uint8_t file_key : {1, 2, 3}) to.add(stanza_type, stanza(all_types[0], file_key));
    const Data file = sealed(text, to);
    Data damaged = file;
    const size_t body = slots_at + 4 + 68 + 2;
    for (const size_t copy : {size_t{0}, copy_bytes}) damaged[body + copy] ^= 1;
    Asked asked;
    // The header's MAC does not verify, but the second slot has given the data key.
    EXPECT_STREQ(opened(damaged, asked).result.message,
                 "the file's header was changed: a slot opens, but no copy of the header verifies");
    EXPECT_EQ(asked.types.size(), 2u);
    Asked once;
    damaged[body + copy_bytes] ^= 1;
    EXPECT_EQ(opened(damaged, once).out, text);
}

TEST_F(StanzaSlots, TellThoseOfTheirType) {
    Options to;
    for (const uint8_t file_key : {1, 2}) to.add(stanza_type, stanza(all_types[2], file_key));
    const Data file = sealed(text, to.add(stanza_type, stanza(all_types[1], 3)));
    const auto parameters = [](uint16_t type, uint8_t file_key) {
        const Data whole = stanza(type, file_key);
        return Data(whole.begin() + container::stanza_head_bytes, whole.end());
    };
    const Data one = parameters(all_types[2], 1), two = parameters(all_types[2], 2);
    Asked asked;
    EXPECT_EQ(opened(file, asked).out, text);
    EXPECT_EQ(asked.alike, (std::vector<Data>{one, two, one, two}));  // of both copies
    // Not those of a copy that is damaged.
    Data damaged = file;
    damaged[4096 + 12] ^= 1;
    EXPECT_EQ(opened(damaged, asked).out, text);
    EXPECT_EQ(asked.alike, (std::vector<Data>{one, two}));
    // A change of slots tells them too: the slot that opened the file is removed.
    const MemoryFile changed(file);
    warpseal_file_result result = {};
    warpseal_slots_change change = {};
    change.struct_bytes = sizeof change;
    const uint32_t first = 0;
    change.remove = &first;
    change.remove_count = 1;
    Options with;
    ASSERT_EQ(container::change_slots(engine(), changed.get(), with.add(late, asked.secret()),
                                      change, result),
              WARPSEAL_OK)
        << result.message;
    EXPECT_EQ(asked.parameters.back(), two);
    EXPECT_EQ(asked.alike, (std::vector<Data>{one, two, one, two}));
}

TEST_F(StanzaSlots, OtherSecretsComeFirst) {
    const Person person(x25519);
    Options to;
    for (const uint16_t type : all_types) to.add(stanza_type, stanza(type, 1));
    const Data file = sealed(text, person.seal(to).passphrase("word").key());
    Asked first, last;
    const auto opens_with = [&](const auto& add_one) {
        Options with;
        with.add(late, last.secret()).add(early, first.secret());
        add_one(with);
        EXPECT_EQ(run(Operation::open, file, with).out, text);
    };
    opens_with([](Options& with) { with.key(); });
    opens_with([&](Options& with) { person.open(with); });
    EXPECT_TRUE(first.types.empty());
    // SSH keys without a passphrase come before passphrases, and are not asked about plugins.
    first = refusing(WARPSEAL_WRONG_KEY);
    opens_with([](Options& with) { with.passphrase("word"); });
    EXPECT_EQ(first.types, (std::vector<uint16_t>{all_types[0], all_types[1]}));
    EXPECT_TRUE(last.types.empty());
    // Of the late ones, plugins come first.
    last = refusing(WARPSEAL_WRONG_KEY);
    Options with;
    with.add(late, last.secret()).passphrase("another");
    EXPECT_EQ(run(Operation::open, file, with).status, WARPSEAL_WRONG_KEY);
    EXPECT_EQ(last.types, (std::vector<uint16_t>{all_types[2], all_types[0], all_types[1]}));
    // Equal slots of both copies are asked about once, and other ones each.
    first = {};
    Options alone;
    EXPECT_EQ(run(Operation::open, file, alone.add(early, first.secret())).out, text);
    EXPECT_EQ(first.types, std::vector<uint16_t>{all_types[0]});
}

TEST_F(StanzaSlots, AFailureLeavesTheOtherSlots) {
    Options to;
    const Data file = sealed(
        text,
        to.add(stanza_type, stanza(all_types[0], 1)).add(stanza_type, stanza(all_types[1], 2)));
    for (const warpseal_status status :
         {WARPSEAL_IO, WARPSEAL_UNSUPPORTED, WARPSEAL_INVALID_ARGUMENT, WARPSEAL_NOT_AUTHENTIC,
          WARPSEAL_LIMIT_EXCEEDED, WARPSEAL_WRONG_KEY, WARPSEAL_WEAK_KEY, WARPSEAL_TRUNCATED}) {
        Asked asked;
        asked.status = status;
        asked.message = "no card";
        asked.refused = {all_types[0]};
        EXPECT_EQ(opened(file, asked).out, text) << status;
        // If none opens the file, the reason is said.
        Asked none = refusing(status, "no card");
        const Outcome failed = opened(file, none);
        EXPECT_EQ(failed.status, status);
        EXPECT_STREQ(failed.result.message, "no card");
        EXPECT_EQ(none.types.size(), 2u);
    }
    for (const warpseal_status status : {WARPSEAL_CANCELLED, WARPSEAL_OUT_OF_MEMORY,
                                         WARPSEAL_NO_RANDOM, WARPSEAL_SELF_TEST_FAILED}) {
        Asked asked = refusing(status, "stopped");
        EXPECT_EQ(opened(file, asked).status, status);
        EXPECT_EQ(asked.types.size(), 1u) << "asked on";
    }
    Asked silent = refusing(WARPSEAL_IO);
    EXPECT_STREQ(opened(file, silent).result.message, "a recipient's slot could not be opened");
    const std::string endless(500, 'x');
    Asked loud = refusing(WARPSEAL_IO, endless.c_str());
    EXPECT_EQ(std::string(opened(file, loud).result.message), std::string(239, 'x'));
}

// A wrong passphrase of a private key says more than that no secret opens the file, and less than
// a plugin that failed.
TEST_F(StanzaSlots, TheFirstReasonIsSaid) {
    Options to;
    const Data file = sealed(text, to.add(stanza_type, stanza(all_types[0], 1)));
    const auto said = [&](std::vector<Asked> all) {
        Options with;
        for (Asked& asked : all) with.add(late, asked.secret());
        return std::string(run(Operation::open, file, with).result.message);
    };
    const Asked other = refusing(WARPSEAL_WRONG_KEY), one = refusing(WARPSEAL_WRONG_KEY, "one"),
                two = refusing(WARPSEAL_WRONG_KEY, "two"), card = refusing(WARPSEAL_IO, "card"),
                damage = refusing(WARPSEAL_NOT_AUTHENTIC, "damage");
    EXPECT_EQ(said({other, one, two}), "one");
    EXPECT_EQ(said({one, card, damage}), "card");
    EXPECT_EQ(said({damage, one, card}), "damage");
}

TEST_F(StanzaSlots, OtherFormsAreRefused) {
    const auto refused = [](Operation operation, warpseal_secret_type type, const Data& bytes) {
        Options options;
        options.key().add(type, bytes);
        return run(operation, Data(), options).status == WARPSEAL_INVALID_ARGUMENT;
    };
    const Data good = stanza(WARPSEAL_SLOT_SSH_ED25519, 1);
    EXPECT_FALSE(refused(Operation::seal, stanza_type, good));
    EXPECT_TRUE(refused(Operation::open, stanza_type, good));
    EXPECT_TRUE(refused(Operation::seal, stanza_type, Data(good.begin(), good.end() - 1)));
    for (const size_t bytes : {1, 2, 17, 18})
        EXPECT_TRUE(
            refused(Operation::seal, stanza_type, Data(good.begin(), good.begin() + bytes)));
    // Of other types, with the lengths that these have.
    const std::pair<uint16_t, size_t> others[] = {{0, 68},   {1, 0},    {2, 24}, {3, 64},
                                                  {4, 1152}, {9, 1294}, {7, 68}, {17, 68}};
    for (const auto& [type, bytes] : others)
        EXPECT_TRUE(refused(Operation::seal, stanza_type, stanza(type, 1, bytes))) << type;
    for (const uint8_t flags : {2, 3, 0x80}) {
        Data unknown = stanza(WARPSEAL_SLOT_STANZA, 1);
        unknown[container::stanza_head_bytes] = flags;
        EXPECT_TRUE(refused(Operation::seal, stanza_type, unknown)) << int{flags};
    }
    const struct {
        uint16_t type;
        size_t least, most;
    } bounded[] = {{WARPSEAL_SLOT_SSH_ED25519, 68, 68},
                   {WARPSEAL_SLOT_SSH_RSA, 260, 2052},
                   {WARPSEAL_SLOT_STANZA, 2, 8192}};
    for (const auto& [type, least, most] : bounded) {
        for (const size_t bytes : {least, most})
            EXPECT_FALSE(refused(Operation::seal, stanza_type, stanza(type, 1, bytes))) << type;
        for (const size_t bytes : {least - 1, most + 1})
            EXPECT_TRUE(refused(Operation::seal, stanza_type, stanza(type, 1, bytes))) << type;
    }
    Asked asked;
    for (const warpseal_secret_type type : {early, late}) {
        EXPECT_TRUE(refused(Operation::seal, type, asked.secret()));
        EXPECT_FALSE(refused(Operation::open, type, asked.secret()));
        EXPECT_TRUE(refused(Operation::open, type, Data(sizeof(warpseal_internal_unwrapper) - 1)));
        EXPECT_TRUE(refused(Operation::open, type, Data(sizeof(warpseal_internal_unwrapper) + 1)));
    }
}

TEST_F(StanzaSlots, NoMixtureWithPostQuantumRecipients) {
    const auto status = [&](const Person* person, const std::vector<Data>& stanzas) {
        Options to;
        if (person != nullptr) person->seal(to);
        for (const Data& one : stanzas) to.add(stanza_type, one);
        return run(Operation::seal, text, to).status;
    };
    const Person strong(hybrid), weak(x25519);
    const Data strong_plugin = stanza(WARPSEAL_SLOT_STANZA, 1, 68, true),
               weak_plugin = stanza(WARPSEAL_SLOT_STANZA, 1, 68, false);
    for (const uint16_t type : all_types) {
        EXPECT_EQ(status(&strong, {stanza(type, 1)}), WARPSEAL_INVALID_ARGUMENT) << type;
        EXPECT_EQ(status(&weak, {stanza(type, 1)}), WARPSEAL_OK) << type;
    }
    EXPECT_EQ(status(&strong, {strong_plugin}), WARPSEAL_OK);
    EXPECT_EQ(status(&weak, {strong_plugin}), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(status(nullptr, {strong_plugin, weak_plugin}), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(status(nullptr, {strong_plugin, stanza(WARPSEAL_SLOT_SSH_RSA, 1)}),
              WARPSEAL_INVALID_ARGUMENT);
}

TEST_F(StanzaSlots, ChangeInPlace) {
    Options to, key, more, stronger;
    const MemoryFile file(sealed(text, to.key(9).add(stanza_type, stanza(all_types[2], 1))));
    warpseal_file_result result = {};
    warpseal_slots_change change = {};
    change.struct_bytes = sizeof change;
    const auto changed = [&](Asked& asked, const warpseal_secret* added, uint32_t removed) {
        Options with;
        change.add = added;
        change.add_count = added != nullptr ? 1 : 0;
        change.remove = &removed;
        change.remove_count = removed == UINT32_MAX ? 0 : 1;
        return container::change_slots(engine(), file.get(), with.add(late, asked.secret()), change,
                                       result);
    };
    constexpr uint32_t none = UINT32_MAX;
    // Its own slot cannot go, and an unwrapper that fails opens no other.
    Asked asked, failing;
    EXPECT_EQ(changed(asked, nullptr, 1), WARPSEAL_INVALID_ARGUMENT);
    ASSERT_EQ(changed(asked, more.add(stanza_type, stanza(all_types[0], 2)).secrets, none),
              WARPSEAL_OK)
        << result.message;
    EXPECT_EQ(change.slot_count, 3u);
    failing.status = WARPSEAL_IO;
    failing.message = "no card";
    failing.refused = {all_types[0]};
    EXPECT_EQ(changed(failing, nullptr, 1), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_STREQ(
        result.message,
        "the given key or passphrase would not open the file any more; another slot failed: "
        "no card");
    // What is no failure of one slot ends the change.
    for (const warpseal_status status :
         {WARPSEAL_CANCELLED, WARPSEAL_OUT_OF_MEMORY, WARPSEAL_SELF_TEST_FAILED}) {
        failing.status = status;
        EXPECT_EQ(changed(failing, nullptr, 1), status);
    }
    // No SSH key beside a post-quantum recipient, in whatever order they come.
    const Person strong(hybrid);
    EXPECT_EQ(changed(asked, strong.seal(stronger).secrets, none), WARPSEAL_INVALID_ARGUMENT);
    ASSERT_EQ(changed(asked, nullptr, 1), WARPSEAL_OK) << result.message;
    ASSERT_EQ(changed(asked, nullptr, 0), WARPSEAL_OK) << result.message;
    Asked last;
    EXPECT_EQ(opened(file.data(), last).out, text);
    EXPECT_EQ(last.types, std::vector<uint16_t>{all_types[0]});
    EXPECT_EQ(run(Operation::open, file.data(), key.key(9)).status, WARPSEAL_WRONG_KEY);
}

TEST_F(StanzaSlots, FillAHeader) {
    Options to;
    for (uint8_t i = 0; i < 3; ++i) to.add(stanza_type, stanza(WARPSEAL_SLOT_STANZA, i, 8192));
    Asked asked;
    EXPECT_EQ(opened(sealed(text, to), asked).out, text);
    EXPECT_EQ(run(Operation::seal, text, to.add(stanza_type, stanza(WARPSEAL_SLOT_STANZA, 4, 8192)))
                  .status,
              WARPSEAL_LIMIT_EXCEEDED);
}

}  // namespace
}  // namespace tests
