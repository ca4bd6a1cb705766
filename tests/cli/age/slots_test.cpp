// Stanzas in key slots, and what the library's callback tells of failures. This file replaces
// operator new of its program.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <set>
#include <string>

#include "cli/age/crypto.h"
#include "cli/age/slots/identities.h"
#include "cli/age/slots/message.h"
#include "cli/age/slots/parameters.h"
#include "cli/age/slots/recipients.h"
#include "cli/age/ssh/keys.h"

namespace {

// The request for memory that fails; none if it is not positive.
thread_local long until_failure = 0;

__attribute__((noinline)) void give_back(void* memory) { std::free(memory); }

}  // namespace

void* operator new(size_t bytes) {
    if (until_failure > 0 && --until_failure == 0) throw std::bad_alloc();
    if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, size_t) noexcept { give_back(memory); }

namespace {

using namespace warpseal::cli;
using namespace warpseal::cli::age;

std::string stored(const std::string& name) {
    std::ifstream file(std::string(WARPSEAL_TEST_VECTORS "/age/ssh/") + name);
    return {std::istreambuf_iterator<char>(file), {}};
}

Recipient recipient(const std::string& name) {
    return *parse_ssh_recipient(stored(name + ".pub"), name);
}

// What the library reads of a secret of a new slot.
struct NewSlot {
    uint32_t type;
    View file_key, parameters;
};
NewSlot read(const MadeSecret& secret) {
    const View bytes{secret.bytes.data(), secret.bytes.size};
    return {uint32_t{bytes[0]} << 8 | bytes[1], bytes.subspan(2, 16), bytes.subspan(18)};
}

TEST(SlotStanzas, AreWrittenAsTheyWereRead) {
    const std::vector<Stanza> stanzas = {{{"one", "a"}, Octets(48, 1)}, {{"two"}, Octets(5, 2)}};
    for (const bool post_quantum : {false, true}) {
        const Octets bytes = plugin_parameters(stanzas, post_quantum);
        EXPECT_EQ(bytes[0], post_quantum ? 1 : 0);
        const std::vector<Stanza> again = stanzas_in_slot(WARPSEAL_SLOT_STANZA, bytes);
        ASSERT_EQ(again.size(), 2u);
        for (size_t i = 0; i < 2; ++i) {
            EXPECT_EQ(again[i].arguments, stanzas[i].arguments);
            EXPECT_EQ(again[i].body, stanzas[i].body);
        }
        // A cut or lengthened text is no list of stanzas, unless a whole stanza is left.
        size_t well_formed = 0;
        for (size_t size = 0; size < bytes.size(); ++size)
            well_formed +=
                stanzas_in_slot(WARPSEAL_SLOT_STANZA, View(bytes).first(size)).empty() ? 0 : 1;
        EXPECT_EQ(well_formed, 1u);
        Octets longer = bytes;
        longer.push_back('\n');
        EXPECT_TRUE(stanzas_in_slot(WARPSEAL_SLOT_STANZA, longer).empty());
    }
}

// Whoever opens one slot of a command must not get the keys of the others.
TEST(SlotStanzas, EachSshKeyHasItsFileKey) {
    const std::vector<MadeSecret> secrets =
        slot_secrets({recipient("ed25519"), recipient("rsa"), recipient("locked")});
    ASSERT_EQ(secrets.size(), 3u);
    std::set<std::string> file_keys;
    for (const MadeSecret& secret : secrets) {
        const View file_key = read(secret).file_key;
        file_keys.insert(std::string(file_key.begin(), file_key.end()));
    }
    EXPECT_EQ(file_keys.size(), 3u);
}

bool is_utf8(const std::string& text) {
    for (size_t i = 0; i < text.size();) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const size_t bytes = byte < 0x80 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
        if (byte >= 0x80 && byte < 0xc0) return false;
        for (size_t k = 1; k < bytes; ++k)
            if (i + k >= text.size() || (static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80)
                return false;
        i += bytes;
    }
    return true;
}

TEST(SlotMessages, KeepTheirAdvice) {
    const std::string advice = "' is under a passphrase: give its passphrase.";
    for (const char* const character : {"x", "ä", "€", "😀"}) {
        std::string name = "identity file '/";
        for (int i = 0; i < 200; ++i) {
            name += character;
            const std::string text = name + advice;
            const std::string said = shortened(text, 180);
            EXPECT_LE(said.size(), 180u);
            EXPECT_TRUE(is_utf8(said)) << said;
            if (text.size() <= 180) {
                EXPECT_EQ(said, text);
                continue;
            }
            EXPECT_GE(said.size(), 180u - 7);
            EXPECT_EQ(said.substr(0, 16), "identity file '/");
            EXPECT_EQ(said.substr(said.size() - advice.size()), advice);
            EXPECT_NE(said.find("…'"), std::string::npos) << said;
        }
    }
    // Without a name, the middle goes, wherever its ends lie within a character.
    std::string text = "begin ";
    for (int i = 0; i < 100; ++i) text += "€";
    for (size_t most = 90; most < 100; ++most) {
        const std::string said = shortened(text + " end", most);
        EXPECT_LE(said.size(), most);
        EXPECT_TRUE(is_utf8(said)) << most;
        EXPECT_EQ(said.substr(0, 6), "begin ");
        EXPECT_EQ(said.substr(said.size() - 4), " end");
    }
}

// The callback of identities, with one slot for them.
class SlotIdentitiesTest : public testing::Test {
protected:
    void take(Identity identity) {
        std::vector<Identity> open;
        open.push_back(std::move(identity));
        const auto owner = std::make_shared<SlotIdentities>(
            std::move(open), std::vector<LockedFile>(), std::vector<SecretBytes>(),
            std::make_shared<UnlockedKeys>(), session_);
        made_ = SlotIdentities::secrets(owner);
        ASSERT_EQ(made_.size(), 1u);
        memcpy(&unwrapper_, made_[0].bytes.data(), sizeof unwrapper_);
    }
    warpseal_status ask(uint32_t type, View parameters) {
        const warpseal_internal_parameters given = {parameters.data(), parameters.size()};
        const warpseal_internal_stanza_slot slot = {type, given, &given, 1};
        message_[0] = 0;
        return unwrapper_.unwrap(unwrapper_.user, &slot, file_key_, message_);
    }

    const Session session_{};
    std::vector<MadeSecret> made_;
    warpseal_internal_unwrapper unwrapper_ = {};
    uint8_t file_key_[16] = {};
    char message_[240] = {};
};

TEST_F(SlotIdentitiesTest, AnyAllocationMayFail) {
    for (const char* const name : {"ed25519", "rsa"}) {
        take(parse_ssh_identity(stored(name), name));
        const std::vector<MadeSecret> secrets = slot_secrets({recipient(name)});
        const NewSlot slot = read(secrets[0]);
        ASSERT_EQ(ask(slot.type, slot.parameters), WARPSEAL_OK) << message_;
        EXPECT_TRUE(std::equal(slot.file_key.begin(), slot.file_key.end(), file_key_));
        long out_of_memory = 0;
        for (long number = 1;; ++number) {
            until_failure = number;
            const warpseal_status status = ask(slot.type, slot.parameters);
            const bool has_failed = until_failure == 0;
            until_failure = 0;
            if (!has_failed) break;
            // Some failures are caught where they happen.
            EXPECT_TRUE(status == WARPSEAL_OK || status == WARPSEAL_OUT_OF_MEMORY) << status;
            if (status != WARPSEAL_OUT_OF_MEMORY) continue;
            EXPECT_STREQ(message_, "out of memory");
            ++out_of_memory;
        }
        EXPECT_GT(out_of_memory, 0) << name;
    }
}

TEST_F(SlotIdentitiesTest, StatusesHaveTheExitCodesOfFailures) {
    take(parse_ssh_identity(stored("ed25519"), "ed25519"));
    const std::vector<MadeSecret> secrets = slot_secrets({recipient("ed25519")});
    const NewSlot slot = read(secrets[0]);
    Octets changed(slot.parameters.begin(), slot.parameters.end());
    std::fill(changed.begin() + 4, changed.begin() + 36, uint8_t{0});
    EXPECT_EQ(ask(slot.type, changed), WARPSEAL_NOT_AUTHENTIC);
    EXPECT_NE(std::string(message_).find("low order"), std::string::npos) << message_;
    changed[0] ^= 1;
    EXPECT_EQ(ask(slot.type, changed), WARPSEAL_WRONG_KEY);
    EXPECT_STREQ(message_, "");
}

}  // namespace
