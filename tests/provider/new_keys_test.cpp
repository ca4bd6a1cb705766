// A new key for each message of a context: the output is OpenSSL's, in the process that made the
// context and in its children.
#include <sys/wait.h>
#include <unistd.h>

#include "cipher.h"
#include "direct.h"

namespace {

using namespace tests;

bool is_ccm(const Cipher& cipher) { return mode(cipher) == EVP_CIPH_CCM_MODE; }

// Returns the ciphertext, and the tag where there is one; empty if a call failed.
Bytes seal(Evp& one, const Cipher& cipher, const Bytes& key, const Bytes& iv, const Bytes& text) {
    Bytes out(text.size() + 32), tag(is_ccm(cipher) ? 12 : 16);
    size_t made = 0, more = 0;
    int announced = 0;
    if (!one.more(key.data(), iv.data())) return {};
    if (is_ccm(cipher) && EVP_CipherUpdate(one.get(), nullptr, &announced, nullptr,
                                           static_cast<int>(text.size())) != 1)
        return {};
    if (!one.update(text.data(), text.size(), out.data(), &made) ||
        !one.final(out.data() + made, &more))
        return {};
    out.resize(made + more);
    if (!authenticated(cipher)) return out;
    if (!one.control(EVP_CTRL_AEAD_GET_TAG, tag.size(), tag.data())) return {};
    out.insert(out.end(), tag.begin(), tag.end());
    return out;
}

TEST(NewKeys, AreUsedForTheirMessage) {
    Random random(81);
    for (const std::string& name : our_ciphers()) {
        const Cipher mine = our_cipher(name), other = stock_cipher(name);
        if (other == nullptr) continue;
        Evp one(mine.get()), theirs(other.get());
        ASSERT_TRUE(one.init(true, nullptr, nullptr) && theirs.init(true, nullptr, nullptr));
        std::vector<Bytes> keys(3);
        for (Bytes& key : keys) key = random.text(key_bytes(mine));
        for (int i = 0; i < 40; ++i) {
            const Bytes& key = keys[random.below(3)];
            const Bytes iv = random.text(16), text = random.text(16 + random.length(200));
            const Bytes sealed = seal(one, mine, key, iv, text);
            ASSERT_FALSE(sealed.empty()) << name << i;
            ASSERT_EQ(sealed, seal(theirs, other, key, iv, text)) << name << i;
            if (random.one_in(5)) keys[random.below(3)] = random.text(key_bytes(mine));
        }
    }
}

// A cloned context keeps its key when the other gets a new one.
TEST(NewKeys, BelongToOneContext) {
    Random random(82);
    for (const char* name :
         {"AES-128-GCM", "AES-256-CBC", "AES-128-CTR", "AES-128-XTS", "ARIA-128-CFB"}) {
        const Cipher mine = our_cipher(name), other = stock_cipher(name);
        const Bytes key = random.text(key_bytes(mine)), next = random.text(key_bytes(mine)),
                    iv = random.text(16), text = random.text(64);
        Evp one(mine.get()), theirs(other.get());
        ASSERT_TRUE(one.init(true, key.data(), iv.data()) &&
                    theirs.init(true, key.data(), iv.data()));
        Bytes first(96), second(96);
        size_t made = 0;
        ASSERT_TRUE(one.update(text.data(), 32, first.data(), &made) &&
                    theirs.update(text.data(), 32, first.data(), &made));
        Evp copy(one);
        EXPECT_FALSE(seal(one, mine, next, iv, text).empty()) << name;
        ASSERT_TRUE(copy.update(text.data(), 32, first.data(), &made)) << name;
        ASSERT_TRUE(theirs.update(text.data(), 32, second.data(), &made)) << name;
        EXPECT_EQ(Bytes(first.begin(), first.begin() + 32),
                  Bytes(second.begin(), second.begin() + 32))
            << name;
    }
}

// A child's keys belong to an engine of its own, also in a context of its parent.
TEST(NewKeys, InAChild) {
    Random random(83);
    for (const char* name : {"AES-128-GCM", "AES-256-CBC", "AES-128-CCM"}) {
        const Cipher mine = our_cipher(name), other = stock_cipher(name);
        const Bytes key = random.text(key_bytes(mine)), next = random.text(key_bytes(mine)),
                    iv = random.text(16), text = random.text(64);
        Evp one(mine.get()), theirs(other.get());
        ASSERT_TRUE(one.init(true, nullptr, nullptr) && theirs.init(true, nullptr, nullptr));
        ASSERT_FALSE(seal(one, mine, key, iv, text).empty());
        const Bytes expected = seal(theirs, other, next, iv, text);
        const pid_t child = fork();
        if (child == 0) {
            alarm(60);
            const bool right = seal(one, mine, next, iv, text) == expected &&
                               seal(one, mine, key, iv, text) != expected;
            _exit(right ? 0 : 1);
        }
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0) << name;
    }
}

// A context recognizes its key, so that an init with the same key is cheap.
TEST(NewKeys, OfXtsThatDifferInOneHalfAreOthers) {
    Random random(76);
    const Cipher cipher = our_cipher("AES-256-XTS"), stock = stock_cipher("AES-256-XTS");
    const Bytes iv = random.text(16), text = random.text(64), first = random.text(64);
    for (const size_t changed : {0u, 31u, 32u, 63u}) {
        Bytes key = first, mine(64), theirs(64);
        key[changed] ^= 1;
        size_t made = 0;
        Evp one(cipher.get()), other(stock.get());
        ASSERT_TRUE(one.init(true, first.data(), iv.data()) &&
                    one.update(text.data(), text.size(), mine.data(), &made) &&
                    one.more(key.data(), iv.data()) &&
                    one.update(text.data(), text.size(), mine.data(), &made) &&
                    other.init(true, key.data(), iv.data()) &&
                    other.update(text.data(), text.size(), theirs.data(), &made));
        EXPECT_EQ(mine, theirs) << changed;
    }
}

// libcrypto passes the length that a cipher reports; another caller may not.
TEST(NewKeys, OfAnotherLengthAreRefused) {
    Random random(78);
    for (const char* name : {"AES-128-CBC", "AES-256-GCM", "AES-128-CCM", "AES-128-XTS"}) {
        const Cipher cipher = our_cipher(name);
        const size_t right = key_bytes(cipher);
        const Bytes iv = random.text(mode(cipher) == EVP_CIPH_CCM_MODE ? 7
                                     : authenticated(cipher)           ? 12
                                                                       : 16);
        Direct used(cipher);
        ASSERT_TRUE(used.init(true, random.text(right), iv)) << name;
        for (const size_t bytes : {right - 1, right + 1, right / 2, 2 * right}) {
            Direct fresh(cipher);
            EXPECT_FALSE(fresh.init(true, random.text(bytes), iv)) << name << bytes;
            EXPECT_FALSE(used.init(true, random.text(bytes), iv)) << name << bytes;
            EXPECT_TRUE(used.init(true, random.text(right), iv)) << name << bytes;
        }
    }
    ERR_clear_error();
}

}  // namespace
