// Slots whose file key the caller wraps: stanzas seal, and file keys open.
#include "container/header/slot.h"
#include "files.h"

namespace tests {
namespace {

using warpseal::container::file_key_secret;
using warpseal::container::stanza_secret;

constexpr uint16_t all_types[] = {WARPSEAL_SLOT_SSH_ED25519, WARPSEAL_SLOT_SSH_RSA,
                                  WARPSEAL_SLOT_STANZA};

Data stanza(uint16_t type, uint8_t file_key, size_t parameter_bytes) {
    Data bytes = {static_cast<uint8_t>(type >> 8), static_cast<uint8_t>(type)};
    bytes.insert(bytes.end(), 16, file_key);
    for (size_t i = 0; i < parameter_bytes; ++i) bytes.push_back(static_cast<uint8_t>(i * 7));
    return bytes;
}
size_t parameters_of(uint16_t type) { return type == WARPSEAL_SLOT_SSH_RSA ? 260 : 68; }
warpseal_secret_type number(uint32_t type) { return static_cast<warpseal_secret_type>(type); }

warpseal_status opened(const Data& file, const Data& text, uint8_t file_key) {
    Options options;
    options.add(number(file_key_secret), Data(16, file_key));
    const Outcome outcome = run(Operation::open, file, options);
    if (outcome.status == WARPSEAL_OK) {
        EXPECT_EQ(outcome.out, text);
    }
    return outcome.status;
}

TEST(StanzaSlots, OpenWithTheirFileKeyAlone) {
    Random random(720);
    const Data text = random.text(20'000);
    for (const uint16_t type : all_types) {
        Options options;
        options.key();
        options.add(number(stanza_secret), stanza(type, 5, parameters_of(type)));
        const Data file = sealed(text, options);
        EXPECT_EQ(opened(file, text, 5), WARPSEAL_OK) << type;
        EXPECT_EQ(opened(file, text, 6), WARPSEAL_WRONG_KEY) << type;
        Options key;
        key.key();
        EXPECT_EQ(run(Operation::open, file, key).out, text) << type;
        // The parameters are bound to the slot. The slot of the key is the first, of 110 bytes.
        Data changed = file;
        for (const size_t copy : {size_t{0}, size_t{28672}})
            changed[4096 + 16 + 110 + 10 + copy] ^= 1;
        EXPECT_EQ(opened(changed, text, 5), WARPSEAL_WRONG_KEY) << type;
    }
}

TEST(StanzaSlots, OneFileKeyForSeveral) {
    Random random(721);
    const Data text = random.text(100);
    Options options;
    for (const uint16_t type : all_types)
        options.add(number(stanza_secret), stanza(type, 9, parameters_of(type)));
    EXPECT_EQ(opened(sealed(text, options), text, 9), WARPSEAL_OK);
}

TEST(StanzaSlots, OtherFormsAreRefused) {
    const auto refused = [](Operation operation, uint32_t type, const Data& bytes) {
        Options options;
        options.key().add(number(type), bytes);
        const Outcome outcome = run(operation, Data(), options);
        return outcome.status == WARPSEAL_INVALID_ARGUMENT;
    };
    const Data good = stanza(WARPSEAL_SLOT_SSH_ED25519, 1, 68);
    EXPECT_FALSE(refused(Operation::seal, stanza_secret, good));
    EXPECT_TRUE(refused(Operation::open, stanza_secret, good));
    EXPECT_TRUE(refused(Operation::seal, stanza_secret, Data(good.begin(), good.end() - 1)));
    EXPECT_TRUE(refused(Operation::seal, stanza_secret, Data(good.begin(), good.begin() + 18)));
    EXPECT_TRUE(refused(Operation::seal, stanza_secret, Data(1, 0)));
    for (const uint16_t type : {1, 2, 3, 4, 7, 9, 17})
        EXPECT_TRUE(refused(Operation::seal, stanza_secret, stanza(type, 1, 68))) << type;
    EXPECT_TRUE(refused(Operation::seal, file_key_secret, Data(16, 1)));
    EXPECT_TRUE(refused(Operation::open, file_key_secret, Data(15, 1)));
    EXPECT_TRUE(refused(Operation::open, file_key_secret, Data(17, 1)));
}

TEST(StanzaSlots, NoMixtureWithPostQuantumRecipients) {
    warpseal::container::RecipientKinds kinds;
    kinds.add(WARPSEAL_SLOT_SSH_ED25519);
    warpseal::container::Fault fault;
    EXPECT_EQ(kinds.check(fault), WARPSEAL_OK);
    kinds.add(WARPSEAL_SLOT_MLKEM768_X25519);
    EXPECT_EQ(kinds.check(fault), WARPSEAL_INVALID_ARGUMENT);
    warpseal::container::RecipientKinds rsa;
    rsa.add(WARPSEAL_SLOT_NTRU_X25519);
    rsa.add(WARPSEAL_SLOT_SSH_RSA);
    EXPECT_EQ(rsa.check(fault), WARPSEAL_INVALID_ARGUMENT);
    warpseal::container::RecipientKinds plugin;
    plugin.add(WARPSEAL_SLOT_STANZA);
    plugin.add(WARPSEAL_SLOT_NTRU_X25519);
    EXPECT_EQ(plugin.check(fault), WARPSEAL_OK);
}

}  // namespace
}  // namespace tests
