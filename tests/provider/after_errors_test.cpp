// State of a context after each kind of error: docs/provider.md, "After an error", compared with
// OpenSSL where it does the same.
#include "direct.h"

namespace {

using namespace tests;

bool is_ccm(const Cipher& cipher) { return mode(cipher) == EVP_CIPH_CCM_MODE; }
Bytes iv_of(const Cipher& cipher, Random& random) {
    return random.text(is_ccm(cipher) ? 7 : iv_bytes(cipher));
}

// ---- too little room

// Refused, nothing written, and the message continues as if the call had not been made.
TEST(AfterTooLittleRoom, AnUpdateChangesNothing) {
    Random random(61);
    for (const std::string& name : our_ciphers()) {
        const Cipher mine = our_cipher(name), other = stock_cipher(name);
        const Bytes key = random.text(key_bytes(mine)), iv = iv_of(mine, random),
                    text = random.text(64);
        Direct one(mine), whole(mine);
        Bytes expected(96), out(96), untouched(96, 0xa5);
        size_t made = 0;
        ASSERT_TRUE(one.init(true, key, iv) && whole.init(true, key, iv) &&
                    whole.update(text, expected.data(), 96, &made))
            << name;
        for (const size_t capacity : {size_t{0}, size_t{1}, size_t{63}}) {
            out = untouched;
            EXPECT_FALSE(one.update(text, out.data(), capacity, &made)) << name << " " << capacity;
            EXPECT_EQ(out, untouched) << name << " " << capacity;
            EXPECT_EQ(made, 0u) << name;
            if (other == nullptr || is_ccm(other))
                continue;  // OpenSSL's CCM does not check the size
            Direct theirs(other);
            ASSERT_TRUE(theirs.init(true, key, iv));
            EXPECT_FALSE(theirs.update(text, out.data(), capacity, &made))
                << name << " " << capacity;
        }
        ASSERT_TRUE(one.update(text, out.data(), 64, &made)) << name;
        EXPECT_EQ(Bytes(out.begin(), out.begin() + 64),
                  Bytes(expected.begin(), expected.begin() + 64))
            << name;
    }
    ERR_clear_error();
}

// When sealing, the final call can be repeated. When opening, the last block is decrypted and
// zeroized: the message is over.
TEST(AfterTooLittleRoom, TheEndOfPaddedText) {
    Random random(62);
    for (const char* name : {"AES-128-CBC", "AES-128-ECB", "DES-EDE3-CBC"}) {
        const Cipher mine = our_cipher(name);
        const size_t block = static_cast<size_t>(EVP_CIPHER_get_block_size(mine.get()));
        const Bytes key = random.text(key_bytes(mine)), iv = iv_of(mine, random),
                    text = random.text(block + 3);
        Bytes out(64), untouched(64, 0xa5);
        size_t made = 0, more = 0;
        for (const bool again : {false, true}) {
            Direct one(mine);
            ASSERT_TRUE(one.init(true, key, iv) && one.update(text, out.data(), 64, &made));
            if (again) {
                Bytes last = untouched;
                EXPECT_FALSE(one.final(last.data(), block - 1, &more)) << name;
                EXPECT_EQ(last, untouched);
            }
            ASSERT_TRUE(one.final(out.data() + made, block, &more)) << name;
            Direct back(mine);
            Bytes opened(64), last = untouched;
            ASSERT_TRUE(
                back.init(false, key, iv) &&
                back.update(Bytes(out.begin(), out.begin() + 2 * static_cast<ptrdiff_t>(block)),
                            opened.data(), 64, &made));
            if (again) {
                EXPECT_FALSE(back.final(last.data(), 2, &more));
                EXPECT_EQ(last, untouched);
                EXPECT_FALSE(back.final(last.data(), block, &more)) << "no state remains";
                EXPECT_EQ(last, untouched);
                continue;
            }
            ASSERT_TRUE(back.final(opened.data() + made, block, &more)) << name;
            EXPECT_EQ(Bytes(opened.begin(), opened.begin() + static_cast<ptrdiff_t>(made + more)),
                      text)
                << name;
        }
    }
    ERR_clear_error();
}

// ---- a start that fails

// By a parameter that the class of cipher refuses: no key remains, whatever message was in
// progress.
TEST(AfterAFailedStart, NothingContinuesWithoutAKey) {
    Random random(63);
    for (const char* name : {"AES-128-CBC", "AES-128-ECB", "AES-128-CTR", "AES-128-OFB",
                             "AES-128-CFB", "AES-128-GCM", "AES-128-CCM", "AES-128-XTS"}) {
        const Cipher mine = our_cipher(name);
        const Bytes key = random.text(key_bytes(mine)), iv = iv_of(mine, random),
                    text = random.text(32);
        size_t wrong = 77;
        uint8_t no_number = 1;
        const OSSL_PARAM refused[] = {
            OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_PADDING, &no_number, 1),
            OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_NUM, &wrong),
            OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_IVLEN, &no_number, 1),
            OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_KEYLEN, &wrong),
            OSSL_PARAM_construct_end()};
        for (const bool begun : {false, true}) {
            Direct one(mine);
            Bytes out(64), untouched(64, 0xa5);
            size_t made = 0;
            ASSERT_TRUE(one.init(true, key, iv));
            if (begun) {
                ASSERT_TRUE(one.update(text, out.data(), 64, &made));
            }
            ASSERT_FALSE(one.init(true, key, iv, refused)) << name;
            out = untouched;
            EXPECT_FALSE(one.update(text, out.data(), 64, &made)) << name;
            EXPECT_FALSE(one.final(out.data(), 64, &made)) << name;
            EXPECT_EQ(out, untouched) << name;
            ASSERT_TRUE(one.init(true, key, iv) && one.update(text, out.data(), 64, &made)) << name;
        }
    }
    ERR_clear_error();
}

// ---- block ciphers

// A partial block is kept: with more text the final call succeeds. Ours and OpenSSL's.
TEST(AfterAnErrorOfBlocks, APartialBlockCanBeCompleted) {
    Random random(64);
    const Cipher mine = our_cipher("AES-128-CBC"), other = stock_cipher("AES-128-CBC");
    const Bytes key = random.text(16), iv = random.text(16), text = random.text(32);
    std::vector<Bytes> made_by;
    for (const EVP_CIPHER* cipher : {mine.get(), other.get()}) {
        Evp one(cipher);
        Bytes out(64);
        size_t made = 0, more = 0;
        ASSERT_TRUE(one.init(true, key.data(), iv.data()) && one.pad(false) &&
                    one.update(text.data(), 20, out.data(), &made));
        EXPECT_FALSE(one.final(out.data() + made, &more));
        ASSERT_TRUE(one.update(text.data() + 20, 12, out.data() + made, &more) &&
                    one.final(out.data() + 32, &made));
        made_by.push_back(out);
    }
    EXPECT_EQ(made_by[0], made_by[1]);
    ERR_clear_error();
}

// Wrong padding releases nothing of its block; an init restarts the context.
TEST(AfterAnErrorOfBlocks, WrongPaddingReleasesNothing) {
    Random random(65);
    for (const char* name : {"AES-128-CBC", "AES-128-ECB", "DES-EDE3-CBC"}) {
        const Cipher mine = our_cipher(name);
        const size_t block = static_cast<size_t>(EVP_CIPHER_get_block_size(mine.get()));
        const Bytes key = random.text(key_bytes(mine)), iv = random.text(16);
        Bytes text = random.text(2 * block), sealed(64), out(64), untouched(64, 0xa5);
        text.back() = 0;
        size_t made = 0;
        Evp sealer(mine.get()), opener(mine.get());
        ASSERT_TRUE(sealer.init(true, key.data(), iv.data()) && sealer.pad(false) &&
                    sealer.update(text.data(), text.size(), sealed.data(), &made));
        ASSERT_TRUE(opener.init(false, key.data(), iv.data()) &&
                    opener.update(sealed.data(), 2 * block, out.data(), &made));
        EXPECT_EQ(made, block);
        out = untouched;
        EXPECT_FALSE(opener.final(out.data(), &made)) << name;
        EXPECT_EQ(out, untouched) << name;
        EXPECT_FALSE(opener.final(out.data(), &made)) << "no state remains";
        EXPECT_TRUE(opener.update(sealed.data(), block, out.data(), &made) && made == 0)
            << "no state remains";
        EXPECT_EQ(out, untouched) << name;
        ASSERT_TRUE(opener.more(nullptr, iv.data()) && opener.pad(false) &&
                    opener.update(sealed.data(), 2 * block, out.data(), &made));
        EXPECT_EQ(Bytes(out.begin(), out.begin() + static_cast<ptrdiff_t>(2 * block)), text)
            << name;
    }
    ERR_clear_error();
}

// ---- keystream modes and XTS

TEST(AfterAnErrorOfStreams, ALateIvIsAccepted) {
    Random random(66);
    for (const char* name : {"AES-128-CTR", "AES-128-CFB", "AES-128-OFB", "AES-128-XTS"}) {
        const Cipher mine = our_cipher(name);
        const Bytes key = random.text(key_bytes(mine)), iv = random.text(16),
                    text = random.text(32);
        Evp one(mine.get()), whole(mine.get());
        Bytes out(64, 0xa5), untouched = out, expected(64, 0xa5);
        size_t made = 0;
        ASSERT_TRUE(one.init(true, key.data(), nullptr));
        EXPECT_FALSE(one.update(text.data(), 32, out.data(), &made));
        EXPECT_EQ(out, untouched);
        ASSERT_TRUE(one.more(nullptr, iv.data()) && one.update(text.data(), 32, out.data(), &made))
            << name;
        ASSERT_TRUE(whole.init(true, key.data(), iv.data()) &&
                    whole.update(text.data(), 32, expected.data(), &made));
        EXPECT_EQ(out, expected) << name;
    }
    ERR_clear_error();
}

// A data unit has 16 bytes to 2^20 blocks; another size changes nothing. Ours and OpenSSL's.
TEST(AfterAnErrorOfUnits, TheNextIsAccepted) {
    Random random(67);
    const Cipher mine = our_cipher("AES-128-XTS"), other = stock_cipher("AES-128-XTS");
    const Bytes key = random.text(32), iv = random.text(16), text((size_t{16} << 20) + 16, 3);
    std::vector<Bytes> made_by;
    for (const EVP_CIPHER* cipher : {mine.get(), other.get()}) {
        Evp one(cipher);
        Bytes out(text.size(), 0xa5);
        const Bytes untouched = out;
        size_t made = 0;
        ASSERT_TRUE(one.init(true, key.data(), iv.data()));
        EXPECT_FALSE(one.update(text.data(), 15, out.data(), &made));
        EXPECT_FALSE(one.update(text.data(), text.size(), out.data(), &made));
        EXPECT_EQ(out, untouched);
        ASSERT_TRUE(one.update(text.data(), 100, out.data(), &made));
        out.resize(100);
        made_by.push_back(out);
    }
    EXPECT_EQ(made_by[0], made_by[1]);
    ERR_clear_error();
}

// ---- messages with a tag

struct Sealed {
    Bytes text, tag;
};

Sealed sealed(const Cipher& cipher, const Bytes& key, const Bytes& iv, const Bytes& text) {
    Evp one(cipher.get());
    Sealed out{Bytes(text.size()), Bytes(is_ccm(cipher) ? 12 : 16)};
    size_t made = 0;
    if (!one.init(true, key.data(), iv.data()) ||
        !one.update(text.data(), text.size(), out.text.data(), &made) ||
        !one.final(out.text.data() + made, &made) ||
        !one.control(EVP_CTRL_AEAD_GET_TAG, out.tag.size(), out.tag.data()))
        throw std::runtime_error("not sealed");
    return out;
}

// The IV is used up: nothing more is opened under it, and the key remains. The caller must discard
// the output of GCM's updates.
TEST(AfterAWrongTag, GcmNeedsANewIv) {
    Random random(68);
    const Cipher mine = our_cipher("AES-128-GCM");
    const Bytes key = random.text(16), iv = random.text(12), text = random.text(40);
    Sealed message = sealed(mine, key, iv, text);
    Evp one(mine.get());
    Bytes out(64), wrong = message.tag;
    size_t made = 0;
    wrong[3] ^= 4;
    ASSERT_TRUE(one.init(false, key.data(), iv.data()) &&
                one.control(EVP_CTRL_AEAD_SET_TAG, 16, wrong.data()));
    ASSERT_TRUE(one.update(message.text.data(), 40, out.data(), &made));
    EXPECT_FALSE(one.final(out.data(), &made));
    EXPECT_FALSE(one.control(EVP_CTRL_AEAD_SET_TAG, 16, message.tag.data()) &&
                 one.final(out.data(), &made))
        << "no second attempt";
    EXPECT_FALSE(one.update(message.text.data(), 40, out.data(), &made));
    ASSERT_TRUE(one.more(nullptr, iv.data()) &&
                one.control(EVP_CTRL_AEAD_SET_TAG, 16, message.tag.data()));
    ASSERT_TRUE(one.update(message.text.data(), 40, out.data(), &made) &&
                one.final(out.data() + 40, &made));
    EXPECT_EQ(Bytes(out.begin(), out.begin() + 40), text);
    ERR_clear_error();
}

// The output is zeroized as well, as in OpenSSL.
TEST(AfterAWrongTag, CcmReleasesNothing) {
    Random random(69);
    for (const size_t bytes : {size_t{1}, size_t{40}, size_t{1000}, size_t{70'000}}) {
        const Cipher mine = our_cipher("AES-128-CCM"), other = stock_cipher("AES-128-CCM");
        const Bytes key = random.text(16), iv = random.text(7), text = random.text(bytes);
        Sealed message = sealed(mine, key, iv, text);
        Bytes wrong = message.tag;
        wrong[3] ^= 4;
        for (const EVP_CIPHER* cipher : {mine.get(), other.get()}) {
            Evp one(cipher);
            Bytes out(bytes, 0xa5);
            size_t made = 0;
            ASSERT_TRUE(one.init(false, nullptr, nullptr) &&
                        one.control(EVP_CTRL_AEAD_SET_TAG, 12, wrong.data()) &&
                        one.more(key.data(), iv.data()));
            EXPECT_FALSE(one.update(message.text.data(), bytes, out.data(), &made));
            EXPECT_EQ(out, Bytes(bytes, 0));
            if (cipher == other.get()) continue;
            EXPECT_FALSE(one.control(EVP_CTRL_AEAD_SET_TAG, 12, message.tag.data()) &&
                         one.update(message.text.data(), bytes, out.data(), &made))
                << "no second attempt";
            ASSERT_TRUE(one.more(nullptr, iv.data()) &&
                        one.control(EVP_CTRL_AEAD_SET_TAG, 12, message.tag.data()));
            ASSERT_TRUE(one.update(message.text.data(), bytes, out.data(), &made));
            EXPECT_EQ(out, text);
        }
    }
    ERR_clear_error();
}

// The message continues: the tag can still be given. Ours and OpenSSL's.
TEST(AfterAnErrorOfTags, AMissingTagIsAcceptedLate) {
    Random random(70);
    const Cipher mine = our_cipher("AES-128-GCM"), other = stock_cipher("AES-128-GCM");
    const Bytes key = random.text(16), iv = random.text(12), text = random.text(40);
    Sealed message = sealed(mine, key, iv, text);
    for (const EVP_CIPHER* cipher : {mine.get(), other.get()}) {
        Evp one(cipher);
        Bytes out(64);
        size_t made = 0;
        ASSERT_TRUE(one.init(false, key.data(), iv.data()) &&
                    one.update(message.text.data(), 40, out.data(), &made));
        EXPECT_FALSE(one.final(out.data() + 40, &made));
        ASSERT_TRUE(one.control(EVP_CTRL_AEAD_SET_TAG, 16, message.tag.data()) &&
                    one.final(out.data() + 40, &made));
    }
    ERR_clear_error();
}

// AAD after text is refused, and the message continues. Nothing continues after its end. Ours and
// OpenSSL's.
TEST(AfterAnErrorOfTags, AdditionalDataThatComesLate) {
    Random random(71);
    const Cipher mine = our_cipher("AES-128-GCM"), other = stock_cipher("AES-128-GCM");
    const Bytes key = random.text(16), iv = random.text(12), text = random.text(40);
    const Sealed message = sealed(mine, key, iv, text);
    for (const EVP_CIPHER* cipher : {mine.get(), other.get()}) {
        Evp one(cipher);
        Bytes out(64), tag(16);
        size_t made = 0;
        ASSERT_TRUE(one.init(true, key.data(), iv.data()) &&
                    one.update(text.data(), 17, out.data(), &made));
        EXPECT_FALSE(one.aad(key.data(), 4));
        ASSERT_TRUE(one.update(text.data() + 17, 23, out.data() + 17, &made) &&
                    one.final(out.data() + 40, &made));
        ASSERT_TRUE(one.control(EVP_CTRL_AEAD_GET_TAG, 16, tag.data()));
        EXPECT_EQ(tag, message.tag);
        EXPECT_FALSE(one.update(text.data(), 1, out.data(), &made)) << "after its end";
        EXPECT_FALSE(one.aad(text.data(), 1)) << "after its end";
        EXPECT_TRUE(one.control(EVP_CTRL_AEAD_GET_TAG, 16, tag.data()) && tag == message.tag)
            << "the tag is still there";
    }
    ERR_clear_error();
}

// Text of another length than announced, or with a wrong tag: refused, and the right one is
// accepted.
TEST(AfterAnErrorOfTags, CcmAcceptsTheRightText) {
    Random random(72);
    const Cipher mine = our_cipher("AES-128-CCM");
    const Bytes key = random.text(16), iv = random.text(7), text = random.text(40);
    Sealed message = sealed(mine, key, iv, text);
    Evp sealer(mine.get()), opener(mine.get());
    Bytes out(64, 0xa5), untouched = out, tag(12);
    size_t made = 0;
    int announced = 0;
    ASSERT_TRUE(sealer.init(true, key.data(), iv.data()));
    ASSERT_EQ(EVP_CipherUpdate(sealer.get(), nullptr, &announced, nullptr, 40), 1);
    EXPECT_FALSE(sealer.update(text.data(), 39, out.data(), &made));
    EXPECT_FALSE(sealer.control(EVP_CTRL_AEAD_GET_TAG, 12, tag.data())) << "there is none";
    EXPECT_EQ(out, untouched);
    ASSERT_TRUE(sealer.update(text.data(), 40, out.data(), &made) &&
                sealer.control(EVP_CTRL_AEAD_GET_TAG, 12, tag.data()));
    EXPECT_EQ(tag, message.tag);
    out = untouched;
    ASSERT_TRUE(opener.init(false, key.data(), iv.data()));
    EXPECT_FALSE(opener.update(message.text.data(), 40, out.data(), &made)) << "there is no tag";
    EXPECT_EQ(out, untouched);
    ASSERT_TRUE(opener.control(EVP_CTRL_AEAD_SET_TAG, 12, message.tag.data()) &&
                opener.update(message.text.data(), 40, out.data(), &made));
    EXPECT_EQ(Bytes(out.begin(), out.begin() + 40), text);
    ERR_clear_error();
}

}  // namespace
