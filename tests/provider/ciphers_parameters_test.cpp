// Keys, IVs, lengths and parameters of ciphers in every order and with every value: invalid ones
// are refused, and no partial setup is used.
#include <climits>

#include "cipher.h"

namespace {

using namespace tests;

constexpr size_t longest_gcm_iv = 128;

bool seals(Evp& one, Random& random) {
    Bytes out;
    return one.text(random.text(16), out, nullptr);
}

// An IV is never empty, truncated or padded: after a change of length it has to be given again
// (CVE-2023-5363).
TEST(CipherIv, LengthInEveryOrder) {
    Random random(1);
    const Bytes key = random.text(16), iv = random.text(longest_gcm_iv);
    for (const char* name : {"AES-128-GCM", "ARIA-128-GCM", "AES-128-CCM"}) {
        const Cipher mine = our_cipher(name), other = stock_cipher(name);
        const bool ccm = mode(mine) == EVP_CIPH_CCM_MODE;
        for (size_t bytes = 0; bytes <= longest_gcm_iv + 2; ++bytes) {
            const bool allowed =
                ccm ? bytes >= 7 && bytes <= 13 : bytes >= 1 && bytes <= longest_gcm_iv;
            Evp probe(mine.get());
            ASSERT_TRUE(probe.init(true, nullptr, nullptr));
            ASSERT_EQ(probe.control(EVP_CTRL_AEAD_SET_IVLEN, bytes, nullptr), allowed)
                << name << bytes;
            if (!allowed) continue;
            const size_t before = ccm ? 7 : 12;
            // Key (k), length (l) and IV (i) in these orders.
            for (const char* order : {"lki", "kli", "lik", "kil", "ikl", "ilk"}) {
                Evp one(mine.get()), theirs(other.get());
                for (Evp* evp : {&one, &theirs}) ASSERT_TRUE(evp->init(true, nullptr, nullptr));
                for (const char* step = order; *step != 0; ++step)
                    for (Evp* evp : {&one, &theirs}) {
                        const bool taken =
                            *step == 'l' ? evp->control(EVP_CTRL_AEAD_SET_IVLEN, bytes, nullptr)
                                         : evp->more(*step == 'k' ? key.data() : nullptr,
                                                     *step == 'i' ? iv.data() : nullptr);
                        ASSERT_TRUE(taken) << name << " " << order << " " << bytes;
                    }
                const bool length_last =
                    std::string(order).find('i') < std::string(order).find('l') && bytes != before;
                Bytes out, their_out;
                const bool done = one.text(iv, out, nullptr);
                EXPECT_EQ(done, !length_last) << name << " " << order << " " << bytes;
                // OpenSSL's CCM keeps the length that it had when its key was set.
                const bool key_first =
                    std::string(order).find('k') < std::string(order).find('l') && bytes != before;
                if (!done || (ccm && key_first)) continue;
                ASSERT_TRUE(theirs.text(iv, their_out, nullptr));
                EXPECT_EQ(out, their_out) << name << " " << order << " " << bytes;
            }
        }
    }
    ERR_clear_error();
}

// An IV in one call with its length, and one with a contradicting length.
TEST(CipherIv, LengthAmongTheParameters) {
    Random random(2);
    const Bytes key = random.text(16), iv = random.text(64);
    for (const char* name : {"AES-128-GCM", "AES-128-CCM"})
        for (size_t bytes : {size_t{7}, size_t{12}, size_t{13}, size_t{16}}) {
            const Cipher mine = our_cipher(name), other = stock_cipher(name);
            if (mode(mine) == EVP_CIPH_CCM_MODE && bytes > 13) continue;
            const OSSL_PARAM params[] = {
                OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_AEAD_IVLEN, &bytes),
                OSSL_PARAM_construct_end()};
            Evp one(mine.get()), theirs(other.get());
            const bool good = one.init(true, key.data(), iv.data(), params),
                       their_good = theirs.init(true, key.data(), iv.data(), params);
            Bytes out, their_out;
            if (good && one.text(iv, out, nullptr) && their_good &&
                theirs.text(iv, their_out, nullptr)) {
                EXPECT_EQ(out, their_out) << name << bytes;
            }
        }
    ERR_clear_error();
}

// A keystream repeats under an IV that is used twice.
TEST(CipherIv, IsUsedForOneGcmMessage) {
    Random random(3);
    const Bytes key = random.text(16), iv = random.text(12);
    const Cipher mine = our_cipher("AES-128-GCM");
    Evp one(mine.get());
    Bytes out(32), tag(16);
    size_t n;
    ASSERT_TRUE(one.init(true, key.data(), iv.data()) && one.text(random.text(20), out, nullptr));
    out.resize(64);
    EXPECT_FALSE(one.update(out.data(), 16, out.data(), &n));
    EXPECT_FALSE(one.final(out.data(), &n));
    ASSERT_TRUE(one.more(key.data(), nullptr));
    EXPECT_FALSE(one.update(out.data(), 16, out.data(), &n))
        << "the key is set again, the IV is not";
    ASSERT_TRUE(one.more(nullptr, iv.data()));
    EXPECT_TRUE(one.update(out.data(), 16, out.data(), &n));
    ERR_clear_error();
}

TEST(CipherIv, IsDrawnWhereThereIsNone) {
    Random random(4);
    const Bytes key = random.text(16);
    const Cipher mine = our_cipher("AES-128-GCM"), other = stock_cipher("AES-128-GCM");
    Bytes iv(12), last(12), text = random.text(50), out, tag(16), opened;
    for (int i = 0; i < 3; ++i) {
        Evp one(mine.get()), theirs(other.get());
        ASSERT_TRUE(one.init(true, key.data(), nullptr) && one.text(text, out, nullptr));
        ASSERT_EQ(EVP_CIPHER_CTX_get_updated_iv(one.get(), iv.data(), iv.size()), 1);
        EXPECT_NE(iv, last);
        last = iv;
        ASSERT_TRUE(one.control(EVP_CTRL_AEAD_GET_TAG, 16, tag.data()));
        ASSERT_TRUE(theirs.init(false, key.data(), iv.data()) &&
                    theirs.control(EVP_CTRL_AEAD_SET_TAG, 16, tag.data()));
        ASSERT_TRUE(theirs.text(out, opened, nullptr));
        EXPECT_EQ(opened, text);
    }
    Evp one(mine.get());
    EXPECT_FALSE(one.init(false, key.data(), nullptr) && one.text(text, out, nullptr))
        << "opening draws none";
    ERR_clear_error();
}

// Keystream modes need an IV; CBC's is zero in OpenSSL, whose KDFs omit it.
TEST(CipherIv, IsRequired) {
    Random random(5);
    const Bytes key = random.text(64);
    for (const char* name :
         {"AES-128-CTR", "AES-128-CFB", "AES-128-OFB", "AES-128-XTS", "DES-EDE3-CFB"}) {
        const Cipher mine = our_cipher(name);
        Evp one(mine.get());
        ASSERT_TRUE(one.init(true, key.data(), nullptr));
        EXPECT_FALSE(seals(one, random)) << name;
    }
    Bytes out, their_out;
    const Cipher mine = our_cipher("AES-128-CBC"), other = stock_cipher("AES-128-CBC");
    Evp one(mine.get()), theirs(other.get());
    ASSERT_TRUE(one.init(true, key.data(), nullptr) && theirs.init(true, key.data(), nullptr));
    ASSERT_TRUE(one.text(key, out, nullptr) && theirs.text(key, their_out, nullptr));
    EXPECT_EQ(out, their_out);
    ERR_clear_error();
}

// Key first, IV first, both, and a second message with one of them, in all modes as in OpenSSL.
TEST(CipherKey, IsAcceptedInAnyOrder) {
    Random random(6);
    for (const std::string& name : our_ciphers()) {
        const Cipher mine = our_cipher(name), other = stock_cipher(name);
        if (!other || authenticated(mine)) continue;
        const Bytes key = random.text(key_bytes(mine)), next_key = random.text(key_bytes(mine)),
                    iv = random.text(16), next_iv = random.text(16), text = random.text(48);
        for (const char* order :
             {"b", "ki", "ik", "bi", "bk", "kibtn", "btn", "btk", "bti", "btxk"}) {
            Evp one(mine.get()), theirs(other.get());
            Bytes out, their_out, all, their_all;
            for (Evp* evp : {&one, &theirs}) ASSERT_TRUE(evp->init(true, nullptr, nullptr));
            bool used = false;
            for (const char* step = order; *step != 0; ++step)
                for (Evp* evp : {&one, &theirs}) switch (*step) {
                        case 'b': ASSERT_TRUE(evp->more(key.data(), iv.data())); break;
                        case 'k':
                            ASSERT_TRUE(evp->more(used ? next_key.data() : key.data(), nullptr));
                            break;
                        case 'i':
                            ASSERT_TRUE(evp->more(nullptr, used ? next_iv.data() : iv.data()));
                            break;
                        case 'n': ASSERT_TRUE(evp->more(nullptr, nullptr)); break;
                        case 'x': ASSERT_TRUE(evp->turn(false)); break;
                        default: {
                            size_t n;
                            Bytes made(64);
                            ASSERT_TRUE(evp->update(text.data(),
                                                    mode(mine) == EVP_CIPH_XTS_MODE ? 48 : 21,
                                                    made.data(), &n));
                            used = evp == &theirs;
                        }
                    }
            const bool opens = std::string(order).find('x') != std::string::npos;
            ASSERT_TRUE(one.pad(!opens) && theirs.pad(!opens));
            ASSERT_TRUE(one.text(text, out, nullptr)) << name << " " << order;
            ASSERT_TRUE(theirs.text(text, their_out, nullptr)) << name << " " << order;
            EXPECT_EQ(out, their_out) << name << " " << order;
        }
    }
}

// Weak keys can open, but not seal.
TEST(CipherKey, WeakKeysDoNotSeal) {
    Random random(7);
    const Bytes iv = random.text(16);
    Bytes weak(8, 0x01), semi_weak = {0x01, 0xfe, 0x01, 0xfe, 0x01, 0xfe, 0x01, 0xfe},
                         twice = random.text(24), out;
    std::copy_n(twice.begin(), 8, twice.begin() + 16);
    const struct {
        const char* name;
        const Bytes* key;
    } cases[] = {{"DES-CBC", &weak},
                 {"DES-ECB", &semi_weak},
                 {"DES-EDE3-CBC", &twice},
                 {"DES-OFB", &weak},
                 {"DES-CFB", &weak}};
    for (const auto& [name, key] : cases) {
        const Cipher mine = our_cipher(name);
        Evp one(mine.get());
        ERR_clear_error();
        EXPECT_FALSE(one.init(true, key->data(), iv.data())) << name;
        const char* said = nullptr;
        int flags = 0;
        unsigned long error = 0;
        std::string all;
        while ((error = ERR_get_error_all(nullptr, nullptr, nullptr, &said, &flags)) != 0)
            all += said == nullptr ? "" : said;
        EXPECT_NE(all.find("weak"), std::string::npos) << all;
        EXPECT_FALSE(seals(one, random)) << name;
        Evp back(mine.get());
        EXPECT_TRUE(back.init(false, key->data(), iv.data()) && back.pad(false) &&
                    back.text(random.text(16), out, nullptr))
            << name;
    }
    Bytes halves = random.text(32);
    std::copy_n(halves.begin(), 16, halves.begin() + 16);
    const Cipher xts = our_cipher("AES-128-XTS");
    for (const bool sends : {true, false}) {
        Evp one(xts.get());
        EXPECT_FALSE(one.init(sends, halves.data(), iv.data()));
    }
    ERR_clear_error();
}

// After a failed start there is no key.
TEST(CipherKey, IsDiscardedAfterAFailedStart) {
    Random random(8);
    const Bytes key = random.text(8), iv = random.text(8), weak(8, 0xfe);
    const Cipher mine = our_cipher("DES-CBC");
    Evp one(mine.get());
    ASSERT_TRUE(one.init(true, key.data(), iv.data()));
    EXPECT_FALSE(one.more(weak.data(), iv.data()));
    EXPECT_FALSE(seals(one, random));
    EXPECT_TRUE(one.init(true, key.data(), iv.data()) && seals(one, random));
    ERR_clear_error();
}

// ---- every parameter with every kind of value

std::vector<Bytes> extreme_values() {
    std::vector<Bytes> values = {Bytes(),      Bytes(1, 0xff),  Bytes(12, 0), Bytes(13, 0xff),
                                 Bytes(13, 0), Bytes(16, 0xff), Bytes(17, 1), Bytes(4096, 0xff)};
    for (const uint64_t number :
         {uint64_t{0}, uint64_t{1}, uint64_t{7}, uint64_t{8}, uint64_t{15}, uint64_t{16},
          uint64_t{17}, uint64_t{0x301}, uint64_t{0x303}, uint64_t{INT_MAX}, uint64_t{UINT_MAX},
          uint64_t{LLONG_MAX}, UINT64_MAX, UINT64_MAX - 15})
        for (const size_t bytes : {size_t{4}, size_t{8}}) {
            Bytes value(bytes);
            memcpy(value.data(), &number, bytes);
            values.push_back(value);
        }
    return values;
}

constexpr const char* parameter_names[] = {
    "keylen",     "ivlen",     "padding",     "num",    "iv",           "updated-iv",   "tls-mac",
    "randkey",    "use-bits",  "tls-version", "tag",    "taglen",       "tlsaad",       "tlsaadpad",
    "tlsivfixed", "tlsivgen",  "tlsivinv",    "mode",   "blocksize",    "tls-mac-size", "cts",
    "aead",       "custom-iv", "has-randkey", "mackey", "no such thing"};
constexpr unsigned parameter_types[] = {
    OSSL_PARAM_INTEGER,  OSSL_PARAM_UNSIGNED_INTEGER, OSSL_PARAM_REAL,      OSSL_PARAM_UTF8_STRING,
    OSSL_PARAM_UTF8_PTR, OSSL_PARAM_OCTET_STRING,     OSSL_PARAM_OCTET_PTR, 99};

// No parameter makes a context write past its buffers or read past its inputs: the guarded output
// of every call is checked. (AddressSanitizer checks the rest.)
TEST(CipherParameters, AcceptOrRefuseAnyValue) {
    Random random(9);
    const std::vector<Bytes> values = extreme_values();
    for (const char* name : {"AES-128-CBC", "AES-128-ECB", "DES-EDE3-CBC", "AES-128-CTR", "DES-CFB",
                             "AES-128-OFB", "AES-128-GCM", "AES-128-CCM", "AES-128-XTS"}) {
        const Cipher mine = our_cipher(name);
        const Bytes key = random.text(64), iv = random.text(128);
        for (const char* parameter : parameter_names)
            for (const unsigned type : parameter_types)
                for (const Bytes& value : values) {
                    Evp one(mine.get());
                    const bool sends = random.one_in(2);
                    ASSERT_TRUE(one.init(sends, key.data(), iv.data()));
                    Bytes given = value, buffer(value.size() + 64, 0xa5);
                    const bool pointer =
                        type == OSSL_PARAM_OCTET_PTR || type == OSSL_PARAM_UTF8_PTR;
                    if (pointer && value.size() < sizeof(void*)) continue;
                    void* data = given.data();
                    void* address = pointer ? static_cast<void*>(&data) : data;
                    OSSL_PARAM params[] = {
                        {parameter, type, address, pointer ? sizeof data : given.size(),
                         OSSL_PARAM_UNMODIFIED},
                        OSSL_PARAM_END};
                    const bool set = EVP_CIPHER_CTX_set_params(one.get(), params) == 1;
                    if (std::string_view(parameter) == "num" && set &&
                        type == OSSL_PARAM_UNSIGNED_INTEGER && given.size() == 4) {
                        uint32_t number;
                        memcpy(&number, given.data(), 4);
                        EXPECT_TRUE(mode(mine) < EVP_CIPH_CFB_MODE ||
                                    mode(mine) > EVP_CIPH_CTR_MODE || number < iv_bytes(mine))
                            << name << number;
                    }
                    Bytes in = random.text(96), out(96 + 64, 0xa5);
                    size_t n = 0;
                    if (one.update(in.data(), 96, out.data(), &n)) {
                        ASSERT_LE(n, 96u + EVP_MAX_BLOCK_LENGTH);
                    }
                    for (size_t i = 96 + 32; i < out.size(); ++i)
                        ASSERT_EQ(out[i], 0xa5) << name << " " << parameter;
                    // EVP_CTRL_GCM_IV_GEN and EVP_CTRL_RAND_KEY carry no length: it is that of the
                    // IV or the key.
                    if (value.empty() && (std::string_view(parameter) == "tlsivgen" ||
                                          std::string_view(parameter) == "randkey"))
                        continue;
                    void* end = nullptr;
                    OSSL_PARAM wanted[] = {
                        {parameter, type, pointer ? static_cast<void*>(&end) : buffer.data(),
                         pointer ? 0 : value.size(), OSSL_PARAM_UNMODIFIED},
                        OSSL_PARAM_END};
                    (void)EVP_CIPHER_CTX_get_params(one.get(), wanted);
                    for (size_t i = value.size(); !pointer && i < buffer.size(); ++i)
                        ASSERT_EQ(buffer[i], 0xa5) << name << " " << parameter;
                    Evp copy(one);
                    (void)copy.final(out.data(), &n);
                    (void)one.init(!sends, key.data(), nullptr);
                    ERR_clear_error();
                }
    }
}

// GCM's tags: SP 800-38D's lengths; CCM's: SP 800-38C's.
TEST(CipherParameters, TagsHaveTheStandardsLengths) {
    Random random(10);
    const Bytes key = random.text(16), iv = random.text(13), tag = random.text(32);
    const Cipher gcm = our_cipher("AES-128-GCM"), ccm = our_cipher("AES-128-CCM");
    for (size_t bytes = 1; bytes <= 32; ++bytes) {
        Evp one(gcm.get()), other(ccm.get());
        ASSERT_TRUE(one.init(false, key.data(), iv.data()) &&
                    other.init(false, key.data(), iv.data()));
        EXPECT_EQ(one.control(EVP_CTRL_AEAD_SET_TAG, bytes, const_cast<uint8_t*>(tag.data())),
                  bytes == 4 || bytes == 8 || (bytes >= 12 && bytes <= 16));
        EXPECT_EQ(other.control(EVP_CTRL_AEAD_SET_TAG, bytes, const_cast<uint8_t*>(tag.data())),
                  bytes >= 4 && bytes <= 16 && bytes % 2 == 0);
    }
    Bytes out;
    Evp none(gcm.get());
    ASSERT_TRUE(none.init(false, key.data(), iv.data()));
    EXPECT_FALSE(none.text(random.text(16), out, nullptr)) << "no tag, no end";
    Evp empty(ccm.get());
    ASSERT_TRUE(empty.init(false, key.data(), iv.data()) &&
                empty.control(EVP_CTRL_AEAD_SET_TAG, 16, const_cast<uint8_t*>(tag.data())));
    size_t n;
    out.resize(16);
    EXPECT_FALSE(empty.final(out.data(), &n)) << "a final call without a valid tag";
    ERR_clear_error();
}

// A tag made by sealing is not used for a comparison, nor for a later message.
TEST(CipherParameters, TagsAreOfTheirMessage) {
    Random random(13);
    const Bytes key = random.text(16), iv = random.text(12), text = random.text(20);
    for (const char* name : {"AES-128-GCM", "AES-128-CCM"}) {
        const Cipher mine = our_cipher(name);
        Evp one(mine.get());
        Bytes out, opened(64), tag(mode(mine) == EVP_CIPH_CCM_MODE ? 12 : 16);
        ASSERT_TRUE(one.init(true, key.data(), iv.data()) && one.text(text, out, nullptr));
        ASSERT_TRUE(one.turn(false) && one.more(key.data(), iv.data()));
        EXPECT_FALSE(one.text(out, opened, nullptr)) << name;
        ASSERT_TRUE(one.init(true, key.data(), iv.data()) && one.text(text, out, nullptr) &&
                    one.more(nullptr, iv.data()));
        EXPECT_FALSE(one.control(EVP_CTRL_AEAD_GET_TAG, tag.size(), tag.data())) << name;
    }
    ERR_clear_error();
}

// Seals without input or output.
TEST(CipherParameters, EmptyTextIsNoText) {
    Random random(14);
    const Bytes key = random.text(64), iv = random.text(16);
    for (const char* name :
         {"AES-128-ECB", "AES-128-CBC", "AES-128-CTR", "AES-128-CFB", "AES-128-XTS"}) {
        const Cipher mine = our_cipher(name);
        Bytes out(64);
        size_t n;
        Evp one(mine.get());
        ASSERT_TRUE(one.init(true, key.data(), iv.data()));
        EXPECT_FALSE(one.update(nullptr, 32, out.data(), &n)) << name;
        EXPECT_FALSE(one.update(out.data(), 32, nullptr, &n)) << name;
    }
    ERR_clear_error();
}

// A CCM message is one segment, of the announced length.
TEST(CipherParameters, CcmEnforcesItsLength) {
    Random random(11);
    const Bytes key = random.text(16), iv = random.text(13), text = random.text(40);
    const Cipher ccm = our_cipher("AES-128-CCM");
    Bytes out(64);
    size_t n;
    int announced;
    Evp one(ccm.get());
    ASSERT_TRUE(one.init(true, key.data(), iv.data()));
    ASSERT_EQ(EVP_CipherUpdate(one.get(), nullptr, &announced, nullptr, 40), 1);
    EXPECT_FALSE(one.update(text.data(), 39, out.data(), &n));
    EXPECT_TRUE(one.update(text.data(), 40, out.data(), &n));
    Evp aad_first(ccm.get());
    ASSERT_TRUE(aad_first.init(true, key.data(), iv.data()));
    EXPECT_FALSE(aad_first.aad(text.data(), 10)) << "before the length of the text";
    ERR_clear_error();
}

TEST(CipherParameters, XtsUnitsHaveABlockAtLeast) {
    Random random(12);
    const Bytes key = random.text(32), iv = random.text(16);
    const Cipher xts = our_cipher("AES-128-XTS");
    Evp one(xts.get());
    Bytes out(32);
    size_t n;
    ASSERT_TRUE(one.init(true, key.data(), iv.data()));
    for (size_t bytes = 1; bytes < 16; ++bytes)
        EXPECT_FALSE(one.update(out.data(), bytes, out.data(), &n)) << bytes;
    EXPECT_TRUE(one.update(out.data(), 16, out.data(), &n));
    ERR_clear_error();
}

}  // namespace
