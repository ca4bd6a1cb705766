// No IV seals twice, whatever happens between two messages of a context: an init of any kind, an
// error, a copy, another direction.
#include <functional>
#include <unordered_set>

#include "cipher.h"
#include "direct.h"

namespace {

using namespace tests;

constexpr size_t text_bytes = 64;

// Seals zeros, so that the output is keystream: no block of it may repeat.
class Keystream {
public:
    // Returns false if it was refused, or if the text was not available.
    bool seal(Evp& one, bool ccm) {
        const Bytes zeros(text_bytes);
        Bytes out(text_bytes + 16);
        size_t made = 0;
        int announced = 0;
        if (ccm && EVP_CipherUpdate(one.get(), nullptr, &announced, nullptr, text_bytes) != 1)
            return false;
        if (!one.update(zeros.data(), zeros.size(), out.data(), &made) || made != text_bytes)
            return false;
        for (size_t at = 0; at < text_bytes; at += 16) {
            const auto from = out.begin() + static_cast<ptrdiff_t>(at);
            if (!seen_.emplace(from, from + 16).second) ++repeated_;
        }
        return true;
    }
    size_t repeated() const { return repeated_; }

private:
    std::unordered_set<std::string> seen_;
    size_t repeated_ = 0;
};

struct Step {
    const char* name;
    std::function<bool(Evp&)> work;  // false is not a test failure: some are refused
    bool ends = false;               // the message
    bool begins = true;              // a new message
};

class IvIsUsedOnce : public testing::TestWithParam<const char*> {
protected:
    IvIsUsedOnce()
        : cipher_(our_cipher(GetParam())),
          key_(random_.text(key_bytes(cipher_))),
          iv_(random_.text(16)) {}
    bool ccm() const { return mode(cipher_) == EVP_CIPH_CCM_MODE; }
    bool aead() const { return authenticated(cipher_); }
    Bytes read_tag(Evp& one) const {
        Bytes tag(ccm() ? 12 : 16);
        (void)one.control(EVP_CTRL_AEAD_GET_TAG, tag.size(), tag.data());
        return tag;
    }

    // Events after a message was sealed under the IV, or was started.
    std::vector<Step> ends() const {
        return {{"nothing", [](Evp&) { return true; }},
                {"an end", [](Evp& one) { return end(one); }, true},
                {"a tag", [this](Evp& one) { return end(one) && !read_tag(one).empty(); }, true},
                {"additional data too late",
                 [](Evp& one) { return one.aad(reinterpret_cast<const uint8_t*>("late"), 4); }},
                {"a wrong parameter",
                 [](Evp& one) { return one.control(EVP_CTRL_AEAD_SET_IVLEN, 0, nullptr); }},
                {"two ends", [](Evp& one) { return end(one) && end(one); }, true}};
    }
    // Then an init without an IV, of every kind.
    std::vector<Step> inits() const {
        return {{"none", [](Evp&) { return true; }, false, false},
                {"nothing given", [](Evp& one) { return one.more(nullptr, nullptr); }},
                {"the key", [this](Evp& one) { return one.more(key_.data(), nullptr); }},
                {"the direction", [](Evp& one) { return one.turn(true); }},
                {"to opening and back", [](Evp& one) { return one.turn(false) && one.turn(true); }},
                {"the key to opening and back",
                 [this](Evp& one) { return open_key(one) && one.turn(true); }},
                {"opened something",
                 [this](Evp& one) { return open_key(one) && open_text(one) && one.turn(true); }},
                {"another key and back",
                 [this](Evp& one) { return another_key(one) && one.more(key_.data(), nullptr); }},
                {"the length of the IV",
                 [this](Evp& one) {
                     return one.control(EVP_CTRL_AEAD_SET_IVLEN, ccm() ? 7 : 12, nullptr);
                 },
                 false, false},
                {"another length and back", [this](Evp& one) { return other_length(one); }},
                {"a failed init",
                 [this](Evp& one) { return failed_init(one) || one.more(key_.data(), nullptr); }}};
    }

    static bool end(Evp& one) {
        Bytes out(32);
        size_t made = 0;
        return one.final(out.data(), &made);
    }
    bool open_key(Evp& one) const {
        return EVP_CipherInit_ex2(one.get(), nullptr, key_.data(), nullptr, 0, nullptr) == 1;
    }
    static bool open_text(Evp& one) {
        Bytes out(32);
        size_t made = 0;
        (void)one.update(out.data(), 16, out.data(), &made);
        return true;
    }
    bool another_key(Evp& one) const {
        Bytes other = key_;
        other[0] ^= 1;
        return one.more(other.data(), nullptr);
    }
    bool other_length(Evp& one) const {
        const size_t bytes = ccm() ? 7 : 12;
        return one.control(EVP_CTRL_AEAD_SET_IVLEN, bytes + 1, nullptr) &&
               one.control(EVP_CTRL_AEAD_SET_IVLEN, bytes, nullptr);
    }
    bool failed_init(Evp& one) const {
        size_t none = 0;
        const OSSL_PARAM params[] = {
            OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_AEAD_IVLEN, &none),
            OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_NUM, &none, sizeof none),
            OSSL_PARAM_construct_end()};
        return EVP_CipherInit_ex2(one.get(), nullptr, key_.data(), nullptr, 1, params) == 1;
    }

    Random random_{51};
    Cipher cipher_;
    Bytes key_, iv_;
};

TEST_P(IvIsUsedOnce, WhateverComesBetween) {
    for (const Step& end : ends())
        for (const Step& init : inits())
            for (const bool copied : {false, true}) {
                Evp first(cipher_.get());
                Keystream keystream;
                ASSERT_TRUE(first.init(true, key_.data(), iv_.data()));
                ASSERT_TRUE(keystream.seal(first, ccm()));
                (void)end.work(first);
                Evp copy(first);  // continues where the first stopped
                Evp& one = copied ? copy : first;
                const bool same_message = !end.ends && !init.begins;
                (void)init.work(one);
                const bool sealed = keystream.seal(one, ccm());
                const std::string what =
                    std::string(end.name) + ", then " + init.name + (copied ? ", of a copy" : "");
                EXPECT_EQ(keystream.repeated(), 0u) << what;
                // GCM continues its message; nothing else seals without a new IV. CTR continues
                // counting.
                if (aead()) {
                    EXPECT_EQ(sealed, same_message && !ccm()) << what;
                }
                // With an IV, any of these contexts seals.
                iv_[0] = static_cast<uint8_t>(iv_[0] + 1);
                EXPECT_TRUE(one.init(true, key_.data(), iv_.data()) && keystream.seal(one, ccm()))
                    << what;
                EXPECT_EQ(keystream.repeated(), 0u) << what;
            }
    ERR_clear_error();
}

// AAD alone is a message of GCM too: its tag would use the IV.
TEST_P(IvIsUsedOnce, AlsoByAdditionalDataAlone) {
    if (!aead() || ccm()) return;
    for (const Step& init : inits()) {
        if (!init.begins) continue;
        Evp one(cipher_.get());
        Keystream keystream;
        ASSERT_TRUE(one.init(true, key_.data(), iv_.data()) && one.aad(key_.data(), 5));
        (void)init.work(one);
        EXPECT_FALSE(keystream.seal(one, false)) << init.name;
    }
    ERR_clear_error();
}

INSTANTIATE_TEST_SUITE_P(Ciphers, IvIsUsedOnce,
                         testing::Values("AES-128-GCM", "AES-256-GCM", "ARIA-192-GCM",
                                         "AES-128-CCM", "AES-256-CCM", "CAMELLIA-128-CCM",
                                         "AES-128-CTR", "CAMELLIA-256-CTR"),
                         [](const auto& info) {
                             std::string name = info.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

// CBC, CFB and OFB restart under the IV that they have, where OpenSSL's do.
TEST(IvOfChains, IsTheLastGivenAsInOpenSsl) {
    Random random(52);
    for (const char* name :
         {"AES-128-CBC", "AES-128-CFB", "AES-128-OFB", "CAMELLIA-256-OFB", "DES-EDE3-CFB"}) {
        const Cipher mine = our_cipher(name), other = stock_cipher(name);
        const Bytes key = random.text(key_bytes(mine)), iv = random.text(16),
                    text = random.text(48);
        Evp one(mine.get()), theirs(other.get());
        std::vector<Bytes> seen[2];
        for (Evp* each : {&one, &theirs}) {
            ASSERT_TRUE(each->init(true, key.data(), iv.data()));
            for (int message = 0; message < 3; ++message) {
                Bytes out(64);
                size_t made = 0;
                ASSERT_TRUE(each->update(text.data(), text.size(), out.data(), &made)) << name;
                seen[each == &theirs].push_back(out);
                ASSERT_TRUE(message == 0 ? each->more(nullptr, nullptr)
                                         : each->more(key.data(), nullptr));
            }
        }
        EXPECT_EQ(seen[0], seen[1]) << name;
        EXPECT_EQ(seen[0][0], seen[0][1]) << name;
    }
}

// libcrypto passes the length that a cipher reports; another caller may not.
TEST(IvLength, OfAnotherLengthIsRefused) {
    Random random(77);
    for (const char* name : {"AES-128-CBC", "AES-128-CTR", "AES-128-OFB", "AES-128-XTS"}) {
        const Cipher cipher = our_cipher(name);
        const Bytes key = random.text(key_bytes(cipher));
        for (const size_t bytes : {1u, 8u, 15u, 16u, 17u, 64u}) {
            Direct one(cipher);
            EXPECT_EQ(one.init(true, key, random.text(bytes)), bytes == 16) << name << bytes;
        }
    }
    ERR_clear_error();
}

TEST(IvLength, OfADrawnIvIsAtLeast12) {
    Random random(79);
    const Bytes key = random.text(16), text = random.text(16);
    for (const size_t bytes : {1u, 8u, 11u, 12u, 16u}) {
        const Cipher cipher = our_cipher("AES-128-GCM");
        Evp one(cipher.get());
        Bytes out(text.size());
        size_t made = 0;
        ASSERT_TRUE(one.init(true, key.data(), nullptr) &&
                    one.control(EVP_CTRL_AEAD_SET_IVLEN, bytes, nullptr));
        EXPECT_EQ(one.update(text.data(), text.size(), out.data(), &made), bytes >= 12) << bytes;
    }
    ERR_clear_error();
}

// The rest of the IV counts, and SP 800-38D 8.2.1 gives it eight bytes here.
TEST(IvLength, OfTheFixedPartLeavesEightBytesToCount) {
    Random random(80);
    const Bytes key = random.text(16);
    for (const size_t iv_bytes : {12u, 16u})
        for (size_t bytes = 1; bytes <= iv_bytes; ++bytes) {
            const Cipher cipher = our_cipher("AES-128-GCM");
            Evp one(cipher.get());
            Bytes fixed = random.text(bytes);
            ASSERT_TRUE(one.init(true, key.data(), nullptr) &&
                        one.control(EVP_CTRL_AEAD_SET_IVLEN, iv_bytes, nullptr));
            EXPECT_EQ(one.control(EVP_CTRL_GCM_SET_IV_FIXED, bytes, fixed.data()),
                      bytes >= 4 && bytes <= iv_bytes - 8)
                << iv_bytes << " " << bytes;
        }
    ERR_clear_error();
}

TEST(IvLength, OfAReceivedPartIsAtMostTheIvs) {
    Random random(81);
    const Bytes key = random.text(16);
    for (const size_t bytes : {1u, 8u, 12u, 13u, 64u}) {
        const Cipher cipher = our_cipher("AES-128-GCM");
        Evp one(cipher.get());
        Bytes fixed = random.text(4), end = random.text(bytes);
        ASSERT_TRUE(one.init(false, key.data(), nullptr) &&
                    one.control(EVP_CTRL_GCM_SET_IV_FIXED, fixed.size(), fixed.data()));
        EXPECT_EQ(one.control(EVP_CTRL_GCM_SET_IV_INV, bytes, end.data()), bytes <= 12) << bytes;
    }
    ERR_clear_error();
}

// The IV that a program reads after a counted message is the next one.
TEST(CountedIv, TheNextOneIsReported) {
    Random random(82);
    const Bytes key = random.text(16), iv = random.text(12);
    std::vector<Bytes> reported;
    for (const Cipher& cipher : {our_cipher("AES-128-GCM"), stock_cipher("AES-128-GCM")}) {
        Evp one(cipher.get());
        Bytes whole = iv, end(8), now(12);
        ASSERT_TRUE(one.init(true, key.data(), nullptr) &&
                    EVP_CIPHER_CTX_ctrl(one.get(), EVP_CTRL_GCM_SET_IV_FIXED, -1, whole.data()) >
                        0);
        for (int i = 0; i < 3; ++i) {
            ASSERT_TRUE(one.control(EVP_CTRL_GCM_IV_GEN, end.size(), end.data()));
            ASSERT_EQ(EVP_CIPHER_CTX_get_updated_iv(one.get(), now.data(), now.size()), 1);
            reported.push_back(now);
        }
    }
    EXPECT_TRUE(std::equal(reported.begin(), reported.begin() + 3, reported.begin() + 3));
    EXPECT_NE(reported[0], reported[1]);
}

TEST(UnitLength, IsAtMostTheOutputs) {
    Random random(83);
    Direct one(our_cipher("AES-128-XTS"));
    ASSERT_TRUE(one.init(true, random.text(32), random.text(16)));
    Bytes out(64, 0xa5);
    size_t made = 1;
    EXPECT_FALSE(one.update(random.text(32), out.data(), 31, &made));
    EXPECT_EQ(made, 0u);
    EXPECT_EQ(out, Bytes(64, 0xa5));
    EXPECT_TRUE(one.update(random.text(32), out.data(), 32, &made));
    ERR_clear_error();
}

}  // namespace
