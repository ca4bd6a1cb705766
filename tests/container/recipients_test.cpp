// Files for recipients: which identity opens which slot, damage, and what is refused.
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "recipients.h"
#include "stanzas.h"

#include "container/derive.h"
#include "container/header/header.h"
#include "container/slots.h"

namespace tests {
namespace {

namespace container = warpseal::container;

constexpr size_t copy_bytes = container::copy_bytes_default;
constexpr size_t slot_at = 4096 + 16;

size_t slot_bytes(container::RecipientType type) {
    switch (type) {
        case x25519: return container::x25519_slot_bytes;
        case hybrid: return container::hybrid_slot_bytes;
        case ntru: break;
    }
    return container::ntru_slot_bytes;
}

class Recipients : public testing::TestWithParam<container::RecipientType> {
protected:
    const container::RecipientType type = GetParam();
    const Person one{type, 1}, two{type, 2};
    const Data text = Random(700).text(chunk + 5);

    warpseal_status open(const Data& file, const Options& with) {
        back = run(Operation::open, file, with);
        EXPECT_TRUE(back.status == WARPSEAL_OK ? back.out == text : back.out.empty());
        return back.status;
    }
    warpseal_status open(const Data& file, const Person& person) {
        Options with;
        return open(file, person.open(with));
    }
    Data sealed_for(const Person& person) {
        Options to;
        return sealed(text, person.seal(to));
    }
    static Data changed(Data file, size_t at, bool both = true) {
        file[at] ^= 0x10;
        if (both) file[at + copy_bytes] ^= 0x10;
        return file;
    }

    Outcome back;
};

TEST_P(Recipients, EachOpensWithItsIdentity) {
    Options to;
    const Data file = sealed(text, two.seal(one.seal(to)).key(3).passphrase("word"));
    EXPECT_EQ(file.size(), chunks_at + sealed_chunk + 5 + 16);
    EXPECT_EQ(open(file, one), WARPSEAL_OK);
    EXPECT_EQ(open(file, two), WARPSEAL_OK);
    EXPECT_EQ(open(file, Options().key(3)), WARPSEAL_OK);
    EXPECT_EQ(open(file, Options().passphrase("word")), WARPSEAL_OK);
    EXPECT_EQ(open(file, Person(type, 4)), WARPSEAL_WRONG_KEY);
    EXPECT_STREQ(back.result.message,
                 "wrong key file, passphrase or identity: it does not open this file");
    Options many;
    EXPECT_EQ(open(file, two.open(Person(type, 4).open(many))), WARPSEAL_OK);
    const MemoryFile in(file);
    warpseal_file_info info = {};
    warpseal_file_result result = {};
    ASSERT_EQ(container::info(in.get(), info, result), WARPSEAL_OK);
    EXPECT_EQ(info.slot_count, 4u);
    EXPECT_EQ(info.slots[1].type, type == x25519   ? WARPSEAL_SLOT_X25519
                                  : type == hybrid ? WARPSEAL_SLOT_MLKEM768_X25519
                                                   : WARPSEAL_SLOT_NTRU_X25519);
    EXPECT_EQ(info.slots[1].argon2_passes, 0u);
}

TEST_P(Recipients, TwoSlotsForOneRecipientShareNothing) {
    Options to;
    const Data file = sealed(text, one.seal(one.seal(to)));
    const size_t bytes = slot_bytes(type);
    for (size_t at = 4; at + 16 < bytes; at += 16) {
        const auto first = file.begin() + static_cast<std::ptrdiff_t>(slot_at + at);
        EXPECT_FALSE(std::equal(first, first + 16, first + static_cast<std::ptrdiff_t>(bytes)));
    }
}

// The bytes of the slot and those around it. One copy is enough to open the file.
TEST_P(Recipients, NoChangedByteOpensTheFile) {
    const Data file = sealed_for(one);
    const size_t bytes = slot_bytes(type);
    const size_t step = type == x25519 ? 1 : 7;
    for (size_t at = slot_at - 16; at < slot_at + bytes + 8; at += step) {
        const warpseal_status status = open(changed(file, at), one);
        EXPECT_TRUE(status == WARPSEAL_WRONG_KEY || status == WARPSEAL_NOT_AUTHENTIC)
            << at << " " << status;
    }
    for (size_t at = slot_at; at < slot_at + bytes; at += bytes / 9) {
        EXPECT_EQ(open(changed(file, at, false), one), WARPSEAL_OK) << at;
        EXPECT_EQ(back.result.header_copies_differ, 1);
    }
}

TEST_P(Recipients, DamageIsNamed) {
    const Data file = sealed_for(one);
    const size_t share = slot_at + 4, wrapped = share + container::form_of(type).share_bytes,
                 body = wrapped + container::wrapped_key_bytes + 2;
    EXPECT_EQ(open(changed(file, wrapped), one), WARPSEAL_WRONG_KEY);
    EXPECT_EQ(open(changed(file, body), one), WARPSEAL_NOT_AUTHENTIC);       // its salt
    EXPECT_EQ(open(changed(file, body + 60), one), WARPSEAL_NOT_AUTHENTIC);  // its chunk
    Data low = file;                                                         // a share of order 1
    for (const size_t copy : {size_t{0}, copy_bytes})
        std::fill_n(low.begin() + static_cast<std::ptrdiff_t>(wrapped - 32 + copy), 32, 0);
    EXPECT_EQ(open(low, one), WARPSEAL_NOT_AUTHENTIC);
    EXPECT_STREQ(back.result.message, "the public share of a slot was changed");
}

TEST_P(Recipients, ASlotOfAnotherFileOpensNothing) {
    Data file = sealed_for(one);
    const Data other = sealed_for(one);
    std::copy(other.begin() + 4096, other.begin() + payload_at, file.begin() + 4096);
    EXPECT_EQ(open(file, one), WARPSEAL_NOT_AUTHENTIC);
}

TEST_P(Recipients, SlotsChangeInPlace) {
    const MemoryFile file(sealed_for(one));
    warpseal_file_result result = {};
    Options first, second, added;
    one.open(first), two.open(second), two.seal(added);
    warpseal_slots_change change = {};
    change.struct_bytes = sizeof change;
    change.add = added.secrets;
    change.add_count = 1;
    ASSERT_EQ(container::change_slots(engine(), file.get(), first, change, result), WARPSEAL_OK)
        << result.message;
    EXPECT_EQ(change.slot_count, 2u);
    EXPECT_EQ(open(file.data(), one), WARPSEAL_OK);
    EXPECT_EQ(open(file.data(), two), WARPSEAL_OK);
    change.remove_opened = 1;  // `second` replaces itself, by key 9
    Options key;
    change.add = key.key(9).secrets;
    ASSERT_EQ(container::change_slots(engine(), file.get(), second, change, result), WARPSEAL_OK)
        << result.message;
    EXPECT_EQ(open(file.data(), two), WARPSEAL_WRONG_KEY);
    EXPECT_EQ(open(file.data(), key), WARPSEAL_OK);
    EXPECT_EQ(open(file.data(), one), WARPSEAL_OK);
    change.add_count = change.remove_opened = 0;
    const uint32_t last = 0;
    change.remove = &last;
    change.remove_count = 1;
    EXPECT_EQ(container::change_slots(engine(), file.get(), first, change, result),
              WARPSEAL_INVALID_ARGUMENT);
    ASSERT_EQ(container::change_slots(engine(), file.get(), key, change, result), WARPSEAL_OK);
    EXPECT_EQ(open(file.data(), one), WARPSEAL_WRONG_KEY);
    EXPECT_EQ(open(file.data(), key), WARPSEAL_OK);
}

const char* name_of(container::RecipientType type) {
    switch (type) {
        case x25519: return "x25519";
        case hybrid: return "mlkem768_x25519";
        case ntru: break;
    }
    return "ntru_x25519";
}

INSTANTIATE_TEST_SUITE_P(Types, Recipients, testing::Values(x25519, hybrid, ntru),
                         [](const auto& info) { return name_of(info.param); });

TEST(RecipientLimits, ADefaultHeaderHoldsTwentyHybridSlots) {
    const Data text(3, 7);
    Options to;
    for (uint8_t i = 0; i < 22; ++i) Person(hybrid, i).seal(to);
    const Data file = sealed(text, to);
    for (const uint8_t i : {0, 19, 21}) {
        Options with;
        EXPECT_EQ(run(Operation::open, file, Person(hybrid, i).open(with)).out, text) << int{i};
    }
    const Outcome full = run(Operation::seal, text, Person(hybrid, 22).seal(to));
    EXPECT_EQ(full.status, WARPSEAL_LIMIT_EXCEEDED);
    EXPECT_STREQ(full.result.message,
                 "the key slots need 29026 bytes, and a header has 28592: give fewer recipients, "
                 "of which 22 post-quantum ones fit");
    EXPECT_TRUE(full.out.empty());
    const MemoryFile in(file);
    Options with, more;
    Person(hybrid, 0).open(with);
    Person(hybrid, 30).seal(more);
    warpseal_slots_change change = {};
    warpseal_file_result result = {};
    change.struct_bytes = sizeof change;
    change.add = more.secrets;
    change.add_count = 1;
    EXPECT_EQ(container::change_slots(engine(), in.get(), with, change, result),
              WARPSEAL_LIMIT_EXCEEDED);
    EXPECT_NE(std::string(result.message).find("key slots are full: 23 of at most 32"),
              std::string::npos)
        << result.message;
    EXPECT_EQ(in.data(), file);
}

TEST(RecipientLimits, ClassicalAndPostQuantumDoNotMix) {
    const Person weak(x25519), strong(hybrid);
    Options to, only, with, more;
    EXPECT_EQ(run(Operation::seal, {1}, strong.seal(weak.seal(to))).status,
              WARPSEAL_INVALID_ARGUMENT);
    const MemoryFile file(sealed({1}, strong.seal(only).key()));
    const Data before = file.data();
    warpseal_slots_change change = {};
    warpseal_file_result result = {};
    change.struct_bytes = sizeof change;
    change.add = weak.seal(more).secrets;
    change.add_count = 1;
    EXPECT_EQ(container::change_slots(engine(), file.get(), strong.open(with), change, result),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_STREQ(result.message,
                 "an age1, SSH or plugin recipient is not post-quantum and would weaken the "
                 "post-quantum recipients: take recipients of one kind");
    EXPECT_EQ(file.data(), before);
    change.remove_opened = 1;  // The hybrid slot goes.
    EXPECT_EQ(container::change_slots(engine(), file.get(), with, change, result), WARPSEAL_OK);
}

TEST(RecipientLimits, PostQuantumKindsMix) {
    const Person one(hybrid), two(ntru), weak(x25519);
    Options to, all, with;
    const Data file = sealed({1}, two.seal(one.seal(to)));
    EXPECT_EQ(run(Operation::open, file, two.open(with)).out, Data{1});
    EXPECT_EQ(run(Operation::seal, {1}, weak.seal(two.seal(all))).status,
              WARPSEAL_INVALID_ARGUMENT);
}

TEST(RecipientLimits, ADefaultHeaderHoldsTwentyNtruSlots) {
    const Person person(ntru);
    Options to;
    for (int i = 0; i < 20; ++i) person.seal(to);
    const Data file = sealed({1}, to);
    EXPECT_EQ(file.size(), chunks_at + 1 + 16);
    Options with;
    EXPECT_EQ(run(Operation::open, file, person.open(with)).out, Data{1});
    EXPECT_EQ(run(Operation::seal, {1}, person.seal(to)).status, WARPSEAL_LIMIT_EXCEEDED);
}

// HMAC-SHA-512 of libcrypto.
Data hmac512(const Data& key, const Data& message) {
    Data mac(64);
    unsigned bytes = 0;
    EXPECT_NE(HMAC(EVP_sha512(), key.data(), static_cast<int>(key.size()), message.data(),
                   message.size(), mac.data(), &bytes),
              nullptr);
    return mac;
}

Data text_data(std::string_view text) { return Data(text.begin(), text.end()); }

Data joined(std::initializer_list<Data> parts) {
    Data all;
    for (const Data& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

// RFC 5869 2.3, written again.
Data expanded(const Data& key, std::string_view label, size_t bytes) {
    Data out, block;
    for (uint8_t number = 1; out.size() < bytes; ++number) {
        block = hmac512(key, joined({block, text_data(label), Data{number}}));
        out.insert(out.end(), block.begin(), block.end());
    }
    out.resize(bytes);
    return out;
}

// docs/file-format.md, step by step.
TEST(RecipientLimits, NtruSlotsAreAsDocumented) {
    const auto batch = [](warpseal_kem_batch with) {
        with.struct_bytes = sizeof with;
        with.count = 1;
        return with;
    };
    const auto kem = [](warpseal::KemOperation operation, const char* set,
                        const warpseal_kem_batch& one) {
        EXPECT_EQ(engine().kem(operation, set, one, nullptr, warpseal::KemSide::cores),
                  WARPSEAL_OK);
    };
    const Data seed(32, 5), file_key(16, 9);
    Data coins = expanded(seed, "warpseal/ntru-x25519/seed/ntru/v1", 3927);
    Data scalar_coins = expanded(seed, "warpseal/ntru-x25519/seed/x25519/v1", 32);
    Data public_key(1262), ntru_secret(1590), scalar(32);
    warpseal_kem_batch pair{};
    pair.coins = coins.data();
    pair.public_keys = public_key.data();
    pair.secret_keys = ntru_secret.data();
    kem(warpseal::KemOperation::keypair, "ntruhps4096821", batch(pair));
    pair.coins = scalar_coins.data();
    pair.public_keys = public_key.data() + 1230;
    pair.secret_keys = scalar.data();
    kem(warpseal::KemOperation::keypair, "x25519", batch(pair));
    Data same(1262);
    ASSERT_EQ(container::recipient_public_key(engine(), ntru, seed.data(), same.data()),
              WARPSEAL_OK);
    EXPECT_EQ(same, public_key);

    warpseal::Secret<16> wanted;
    std::copy(file_key.begin(), file_key.end(), wanted.data());
    Data share(1262), wrapped(32), shared(32), scalar_shared(32);
    ASSERT_EQ(container::wrap_file_key(engine(), ntru, public_key.data(), wanted, share.data(),
                                       wrapped.data()),
              WARPSEAL_OK);
    warpseal_kem_batch opened{};
    opened.ciphertexts = share.data();
    opened.secret_keys = ntru_secret.data();
    opened.shared_secrets = shared.data();
    kem(warpseal::KemOperation::decapsulate, "ntruhps4096821", batch(opened));
    opened.ciphertexts = share.data() + 1230;
    opened.secret_keys = scalar.data();
    opened.shared_secrets = scalar_shared.data();
    kem(warpseal::KemOperation::decapsulate, "x25519", batch(opened));
    const Data combined = hmac512(text_data("warpseal/ntru-x25519/combiner/v1"),
                                  joined({shared, scalar_shared, share, public_key}));
    const Data key = expanded(combined, "warpseal/ntru-x25519/wrap/v1", 32);
    Data text(16);
    ASSERT_TRUE(container::start_sodium());
    ASSERT_TRUE(container::chacha_open(key.data(), Data(12).data(), wrapped.data(), wrapped.size(),
                                       text.data()));
    EXPECT_EQ(text, file_key);
}

// Another writer's mixture keeps its slots, and takes keys, but no recipients.
TEST(RecipientLimits, AMixedFileTakesKeysAlone) {
    const Person weak(x25519), strong(hybrid);
    Options to, with, key, more;
    strong.seal(weak.seal(to));
    container::Header header;
    warpseal::Secret<container::data_key_bytes> data_key;
    container::Fault fault;
    ASSERT_EQ(container::new_header(engine(), container::default_suite, to.secrets, to.secret_count,
                                    {}, header, data_key, fault),
              WARPSEAL_OK);
    const MemoryFile file(Data(header.bytes.begin(), header.bytes.end()));
    warpseal_slots_change change = {};
    warpseal_file_result result = {};
    change.struct_bytes = sizeof change;
    change.add = key.key(4).secrets;
    change.add_count = 1;
    EXPECT_EQ(container::change_slots(engine(), file.get(), weak.open(with), change, result),
              WARPSEAL_OK)
        << result.message;
    EXPECT_EQ(change.slot_count, 3u);
    change.add = strong.seal(more).secrets;
    EXPECT_EQ(container::change_slots(engine(), file.get(), with, change, result),
              WARPSEAL_INVALID_ARGUMENT);
}

// A recipient never opens, and an identity never seals. The message does not have the text.
TEST(RecipientLimits, TheWrongHalfIsRefused) {
    for (const auto type : {x25519, hybrid, ntru}) {
        const Person person(type);
        Options right;
        const Data file = sealed({1}, person.seal(right));
        Options public_half, secret_half;
        const Outcome opened = run(Operation::open, file, person.seal(public_half));
        EXPECT_EQ(opened.status, WARPSEAL_INVALID_ARGUMENT);
        EXPECT_STREQ(opened.result.message, "a recipient does not open a file: give its identity");
        const Outcome made = run(Operation::seal, {1}, person.open(secret_half));
        EXPECT_EQ(made.status, WARPSEAL_INVALID_ARGUMENT);
        EXPECT_STREQ(made.result.message, "an identity does not seal a file: give its recipient");
        Options swapped;
        swapped.add(WARPSEAL_SECRET_RECIPIENT, Person::data(person.identity));
        EXPECT_STREQ(run(Operation::seal, {1}, swapped).result.message,
                     "a recipient is an identity, which is secret: give the public half");
    }
}

// As in age, a recipient is in lower case, and an identity in upper case.
TEST(RecipientLimits, TheOtherCaseIsRefused) {
    for (const auto type : {x25519, hybrid}) {
        const Person person(type);
        std::string recipient = person.recipient, identity = person.identity;
        for (char& c : recipient) c = static_cast<char>(std::toupper(c));
        for (char& c : identity) c = static_cast<char>(std::tolower(c));
        Options right, to, with;
        const Data file = sealed({1}, person.seal(right));
        to.add(WARPSEAL_SECRET_RECIPIENT, Person::data(recipient));
        EXPECT_EQ(run(Operation::seal, {1}, to).status, WARPSEAL_INVALID_ARGUMENT);
        with.add(WARPSEAL_SECRET_IDENTITY, Person::data(identity));
        EXPECT_EQ(run(Operation::open, file, with).status, WARPSEAL_INVALID_ARGUMENT);
    }
}

TEST(RecipientLimits, DamagedTextsAreRefused) {
    for (const auto type : {x25519, hybrid, ntru}) {
        const Person person(type);
        std::vector<std::string> bad = {person.recipient + "q",
                                        person.recipient + "\n",
                                        person.recipient.substr(0, person.recipient.size() - 1),
                                        std::string(5000, 'a'),
                                        "age1" + std::string(6000, 'q'),
                                        "ssh-ed25519 AAAA"};
        for (size_t at = 0; at < person.recipient.size(); at += type == x25519 ? 1 : 31) {
            bad.push_back(person.recipient);
            bad.back()[at] = bad.back()[at] == 'q' ? 'p' : 'q';
        }
        for (const std::string& text : bad) {
            Options to;
            to.add(WARPSEAL_SECRET_RECIPIENT, Person::data(text));
            EXPECT_EQ(run(Operation::seal, {1}, to).status, WARPSEAL_INVALID_ARGUMENT) << text;
        }
    }
    const std::string low = Person::text("age", Data(32, 0));  // a point of low order
    Options to;
    to.add(WARPSEAL_SECRET_RECIPIENT, Person::data(low));
    EXPECT_STREQ(run(Operation::seal, {1}, to).result.message,
                 "a recipient is no valid key: ask its owner for another");
}

// A stored slot of a plugin says whether it is post-quantum.
TEST(StanzaSlotsOfRecipients, DoNotMixInAChange) {
    const auto added = [&](bool stored_is_strong, warpseal_secret_type type, const Data& bytes) {
        Options to, more, with;
        const MemoryFile file(
            sealed(Data(100, 7),
                   to.add(stanza_type, stanza(WARPSEAL_SLOT_STANZA, 1, 68, stored_is_strong))));
        Asked asked;
        warpseal_file_result result = {};
        warpseal_slots_change change = {};
        change.struct_bytes = sizeof change;
        change.add = more.add(type, bytes).secrets;
        change.add_count = 1;
        return container::change_slots(engine(), file.get(), with.add(late, asked.secret()), change,
                                       result);
    };
    for (const bool stored : {false, true}) {
        for (const bool fresh : {false, true})
            EXPECT_EQ(added(stored, stanza_type, stanza(WARPSEAL_SLOT_STANZA, 2, 68, fresh)),
                      stored == fresh ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT)
                << stored << fresh;
        EXPECT_EQ(added(stored, stanza_type, stanza(WARPSEAL_SLOT_SSH_ED25519, 2)),
                  stored ? WARPSEAL_INVALID_ARGUMENT : WARPSEAL_OK);
        EXPECT_EQ(added(stored, WARPSEAL_SECRET_KEY, Data(32, 1)), WARPSEAL_OK);
    }
}

}  // namespace
}  // namespace tests
