// Messages with a tag in sequence through one context, each with its key, as in programs that seal
// records: no state of one reaches the next.
#include "cipher.h"

namespace {

using namespace tests;

struct Sealed {
    Bytes iv, aad, text, tag;
};

constexpr size_t tag_bytes = 16;

// Follows EVP_EncryptInit(3): CCM gets the lengths of tag and text first, and its text in one
// segment.
bool begin(Evp& evp, bool ccm, bool seals, const Bytes& key, const Sealed& message,
           size_t text_bytes) {
    int announced = 0;
    const auto bytes = static_cast<int>(text_bytes);
    if (!evp.control(EVP_CTRL_AEAD_SET_IVLEN, message.iv.size(), nullptr)) return false;
    if (ccm && !evp.control(EVP_CTRL_AEAD_SET_TAG, tag_bytes, nullptr)) return false;
    if (!evp.more(key.data(), message.iv.data())) return false;
    if (!seals &&
        !evp.control(EVP_CTRL_AEAD_SET_TAG, tag_bytes, const_cast<uint8_t*>(message.tag.data())))
        return false;
    if (ccm && EVP_CipherUpdate(evp.get(), nullptr, &announced, nullptr, bytes) != 1) return false;
    return message.aad.empty() || evp.aad(message.aad.data(), message.aad.size());
}

bool seal(Evp& evp, bool ccm, const Bytes& key, const Sealed& message, Sealed& out) {
    out = {message.iv, message.aad, {}, Bytes(tag_bytes)};
    return begin(evp, ccm, true, key, message, message.text.size()) &&
           evp.text(message.text, out.text, nullptr) &&
           evp.control(EVP_CTRL_AEAD_GET_TAG, tag_bytes, out.tag.data());
}

bool open(Evp& evp, bool ccm, const Bytes& key, const Sealed& sealed, Bytes& text) {
    return begin(evp, ccm, false, key, sealed, sealed.text.size()) &&
           evp.text(sealed.text, text, nullptr);
}

// OpenSSL's CCM makes no tag without a segment of text.
Sealed message(Random& random, bool ccm) {
    constexpr size_t aad_bytes[] = {0, 1, 13, 14, 15, 16, 29, 30, 31, 300},
                     text_bytes[] = {0, 1, 15, 16, 17, 63, 64, 65, 500, 513, 1100};
    const size_t text = text_bytes[ccm ? 1 + random.below(std::size(text_bytes) - 1)
                                       : random.below(std::size(text_bytes))];
    return {random.text(ccm ? 7 + random.below(7) : 12),
            random.text(aad_bytes[random.below(std::size(aad_bytes))]),
            random.text(text),
            {}};
}

TEST(CipherMessages, LeaveNoStateForTheNext) {
    Random random(1);
    for (const char* name : {"AES-128-GCM", "AES-192-GCM", "AES-256-GCM", "ARIA-128-GCM",
                             "AES-128-CCM", "AES-192-CCM", "AES-256-CCM", "ARIA-128-CCM"}) {
        const Cipher mine = our_cipher(name), other = stock_cipher(name);
        const bool ccm = mode(mine) == EVP_CIPH_CCM_MODE;
        Evp sealer(mine.get()), opener(mine.get()), theirs(other.get());
        ASSERT_TRUE(sealer.init(true, nullptr, nullptr) && opener.init(false, nullptr, nullptr) &&
                    theirs.init(true, nullptr, nullptr));
        Bytes key = random.text(key_bytes(mine));
        for (int i = 0; i < 300; ++i) {
            if (random.one_in(10)) key = random.text(key.size());
            const Sealed given = message(random, ccm);
            Sealed sealed, expected;
            ASSERT_TRUE(seal(sealer, ccm, key, given, sealed) &&
                        seal(theirs, ccm, key, given, expected))
                << name << i;
            ASSERT_EQ(sealed.text, expected.text)
                << name << " " << given.text.size() << " bytes, " << given.aad.size() << " of AAD";
            ASSERT_EQ(sealed.tag, expected.tag)
                << name << " " << given.text.size() << " bytes, " << given.aad.size() << " of AAD";
            Bytes opened;
            if (random.one_in(3)) {
                Sealed forged = sealed;
                Bytes& changed = random.one_in(3) || forged.text.empty() ? forged.tag
                                 : random.one_in(2)                      ? forged.text
                                                                         : forged.iv;
                changed[random.below(changed.size())] ^=
                    static_cast<uint8_t>(1u << random.below(8));
                ASSERT_FALSE(open(opener, ccm, key, forged, opened)) << name << i;
            }
            ASSERT_TRUE(open(opener, ccm, key, sealed, opened)) << name << i;
            ASSERT_EQ(opened, given.text) << name << i;
        }
    }
    ERR_clear_error();
}

// AAD belongs to the message after it, even if that is never sealed.
TEST(CipherMessages, AdditionalDataOfCcmIsOfItsMessage) {
    Random random(3);
    const Cipher ccm = our_cipher("AES-128-CCM");
    const Bytes key = random.text(16), iv = random.text(7), aad = random.text(13),
                text = random.text(40);
    const auto sealed = [&](Evp& each, bool with_aad) {
        int announced = 0;
        Bytes out, tag(12);
        EXPECT_EQ(EVP_CipherUpdate(each.get(), nullptr, &announced, nullptr, 40), 1);
        if (with_aad) {
            EXPECT_TRUE(each.aad(aad.data(), aad.size()));
        }
        EXPECT_TRUE(each.text(text, out, nullptr) &&
                    each.control(EVP_CTRL_AEAD_GET_TAG, tag.size(), tag.data()));
        return tag;
    };
    Evp one(ccm.get()), other(ccm.get()), third(ccm.get());
    for (Evp* each : {&one, &other, &third}) ASSERT_TRUE(each->init(true, key.data(), iv.data()));
    const Bytes with = sealed(one, true), without = sealed(other, false);
    EXPECT_NE(with, without);
    for (Evp* each : {&one, &other}) ASSERT_TRUE(each->more(nullptr, iv.data()));
    EXPECT_EQ(sealed(one, false), without);
    EXPECT_EQ(sealed(other, true), with);
    int announced = 0;
    ASSERT_EQ(EVP_CipherUpdate(third.get(), nullptr, &announced, nullptr, 40), 1);
    ASSERT_TRUE(third.aad(aad.data(), aad.size()) && third.more(nullptr, iv.data()));
    EXPECT_EQ(sealed(third, false), without);
}

// Only the named parameters are written, to the last byte, at any position among others.
TEST(CipherMessages, ParametersAreThoseNamed) {
    Random random(2);
    for (const char* name : {"AES-128-GCM", "AES-128-CCM"}) {
        const Cipher mine = our_cipher(name);
        Evp one(mine.get());
        const Bytes key = random.text(16), iv = random.text(16);
        ASSERT_TRUE(one.init(true, key.data(), iv.data()));
        size_t iv_length = 0, key_length = 0, tag_length = 0, no_number = 77;
        Bytes now(static_cast<size_t>(EVP_CIPHER_CTX_get_iv_length(one.get()))), nothing(16, 0xa5);
        OSSL_PARAM wanted[] = {OSSL_PARAM_construct_size_t("ivle", &no_number),
                               OSSL_PARAM_construct_size_t("ivlen2", &no_number),
                               OSSL_PARAM_construct_size_t("", &no_number),
                               OSSL_PARAM_construct_octet_string("ta", nothing.data(), 16),
                               OSSL_PARAM_construct_octet_string("i", nothing.data(), 16),
                               OSSL_PARAM_construct_size_t("ivlen", &iv_length),
                               OSSL_PARAM_construct_octet_string("iv", now.data(), now.size()),
                               OSSL_PARAM_construct_size_t("taglen", &tag_length),
                               OSSL_PARAM_construct_size_t("keylen", &key_length),
                               OSSL_PARAM_construct_end()};
        ASSERT_EQ(EVP_CIPHER_CTX_get_params(one.get(), wanted), 1) << name;
        EXPECT_EQ(no_number, 77u) << name;
        EXPECT_EQ(nothing, Bytes(16, 0xa5)) << name;
        EXPECT_EQ(iv_length, now.size()) << name;
        EXPECT_EQ(now, Bytes(iv.begin(), iv.begin() + static_cast<ptrdiff_t>(now.size()))) << name;
        EXPECT_EQ(tag_length, mode(mine) == EVP_CIPH_CCM_MODE ? 12u : 16u) << name;
        EXPECT_EQ(key_length, 16u) << name;
    }
}

}  // namespace
