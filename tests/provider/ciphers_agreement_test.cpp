// Every cipher that we offer against OpenSSL's own providers, byte for byte: names, parameters,
// segments, padding, AEADs, states.
#include <set>

#include "cipher.h"

namespace {

using namespace tests;

// Names in OpenSSL 3.0 that only later versions, or none, implement.
bool ours_alone(const std::string& name) {
    static const std::set<std::string> names = {
        "CAMELLIA-128-GCM", "CAMELLIA-192-GCM", "CAMELLIA-256-GCM", "CAMELLIA-128-CCM",
        "CAMELLIA-192-CCM", "CAMELLIA-256-CCM", "SM4-GCM",          "SM4-CCM"};
    return names.contains(name);
}

std::set<std::string> names_of(const Cipher& cipher) {
    std::set<std::string> names;
    EVP_CIPHER_names_do_all(
        cipher.get(),
        [](const char* name, void* out) {
            std::string lower(name);
            for (char& letter : lower) letter = static_cast<char>(std::tolower(letter));
            static_cast<std::set<std::string>*>(out)->insert(lower);
        },
        &names);
    return names;
}

// The same algorithms under the same names.
TEST(Ciphers, HaveOpenSslsNames) {
    const std::vector<std::string> offered = our_ciphers();
    EXPECT_EQ(offered.size(), 88u);
    for (const std::string& name : offered) {
        const Cipher mine = our_cipher(name), other = stock_cipher(name);
        if (!other) {
            EXPECT_TRUE(ours_alone(name) && OPENSSL_VERSION_MAJOR == 3) << name;
            continue;
        }
        EXPECT_EQ(EVP_CIPHER_get0_name(other.get()), name);
        EXPECT_EQ(names_of(mine), names_of(other)) << name;
        EXPECT_EQ(key_bytes(mine), key_bytes(other)) << name;
        EXPECT_EQ(iv_bytes(mine), iv_bytes(other)) << name;
        EXPECT_EQ(EVP_CIPHER_get_block_size(mine.get()), EVP_CIPHER_get_block_size(other.get()))
            << name;
        EXPECT_EQ(EVP_CIPHER_get_flags(mine.get()), EVP_CIPHER_get_flags(other.get())) << name;
    }
}

// Everything is offered except where the engine lacks the mode.
TEST(Ciphers, AreAllCiphersOfTheEngine) {
    std::vector<std::string> missing;
    EVP_CIPHER_do_all_provided(
        stock().context(),
        [](EVP_CIPHER* cipher, void* out) {
            const std::string name = EVP_CIPHER_get0_name(cipher);
            for (const char* family : {"AES-", "ARIA-", "CAMELLIA-", "SM4-", "SEED-", "DES-"})
                if (name.starts_with(family) && !our_cipher(name))
                    static_cast<std::vector<std::string>*>(out)->push_back(name);
        },
        &missing);
    ERR_clear_error();
    for (const std::string& name : missing) {
        bool known = false;
        for (const char* other_mode :
             {"CFB1", "CFB8", "CTS", "OCB", "SIV", "WRAP", "HMAC", "SM4-XTS"})
            known |= name.find(other_mode) != std::string::npos;
        EXPECT_TRUE(known) << name;
    }
}

std::vector<std::string> of_modes(std::initializer_list<int> wanted) {
    std::vector<std::string> names;
    for (const std::string& name : our_ciphers())
        if (std::find(wanted.begin(), wanted.end(), mode(our_cipher(name))) != wanted.end())
            names.push_back(name);
    return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

class EachCipher : public testing::TestWithParam<std::string> {
protected:
    EachCipher()
        : mine_(our_cipher(GetParam())),
          other_(stock_cipher(GetParam())),
          random_(std::hash<std::string>()(GetParam())) {}

    void new_key() {
        key_ = random_.text(key_bytes(mine_));
        iv_ = random_.text(iv_bytes(mine_));
    }
    // Returns whole blocks where required.
    Bytes any_text(size_t bytes, bool padded) {
        const size_t block = static_cast<size_t>(EVP_CIPHER_get_block_size(mine_.get()));
        return random_.text(padded ? bytes : bytes / block * block);
    }

    Cipher mine_, other_;
    Random random_;
    Bytes key_, iv_;
};

class PlainCipher : public EachCipher {};
class StreamCipher : public EachCipher {};
class BlockCipher : public EachCipher {};

TEST_P(PlainCipher, AgreesInSegments) {
    Evp encrypt(mine_.get()), decrypt(mine_.get()), theirs(other_.get()), back(other_.get());
    for (size_t i = 0; i <= 302; ++i) {
        const size_t bytes =
            i <= 300 ? i : 66'000 + random_.below(2000);  // the engine's own paths begin at 64 KiB
        const bool fresh = i % 16 == 0, padded = random_.one_in(2);
        if (fresh) new_key();
        iv_ = random_.text(iv_.size());
        for (Evp* one : {&encrypt, &theirs, &decrypt, &back}) {
            const bool sends = one == &encrypt || one == &theirs;
            ASSERT_TRUE(fresh ? one->init(sends, key_.data(), iv_.data())
                              : one->more(nullptr, iv_.data()));
            ASSERT_TRUE(one->pad(padded));
        }
        const Bytes text = any_text(bytes, padded);
        Bytes ours_out, theirs_out, opened, opened_by_them;
        ASSERT_TRUE(encrypt.text(text, ours_out, &random_)) << bytes;
        ASSERT_TRUE(theirs.text(text, theirs_out, nullptr));
        ASSERT_EQ(ours_out, theirs_out) << bytes << (padded ? " padded" : "");
        ASSERT_TRUE(decrypt.text(ours_out, opened, &random_)) << bytes;
        ASSERT_TRUE(back.text(ours_out, opened_by_them, nullptr));
        ASSERT_EQ(opened, text) << bytes << (padded ? " padded" : "");
        ASSERT_EQ(opened_by_them, text);
    }
}

// A clone is independent, and readable states equal OpenSSL's.
TEST_P(PlainCipher, CopiesAndStatesAgree) {
    new_key();
    for (const bool sends : {true, false})
        for (int round = 0; round < 12; ++round) {
            Evp one(mine_.get()), theirs(other_.get());
            ASSERT_TRUE(one.init(sends, key_.data(), iv_.data()) && one.pad(false));
            ASSERT_TRUE(theirs.init(sends, key_.data(), iv_.data()) && theirs.pad(false));
            const Bytes text = any_text(200, false);
            const size_t cut = random_.below(text.size());
            Bytes out(text.size() + 16), out_of_copy(text.size() + 16), their_out(text.size() + 16);
            size_t made = 0, theirs_made = 0, n = 0;
            ASSERT_TRUE(one.update(text.data(), cut, out.data(), &made));
            ASSERT_TRUE(theirs.update(text.data(), cut, their_out.data(), &theirs_made));
            ASSERT_EQ(made, theirs_made);
            Bytes state(16), their_state(16);
            if (!iv_.empty()) {
                ASSERT_EQ(EVP_CIPHER_CTX_get_updated_iv(one.get(), state.data(), iv_.size()), 1);
                ASSERT_EQ(
                    EVP_CIPHER_CTX_get_updated_iv(theirs.get(), their_state.data(), iv_.size()), 1);
                EXPECT_EQ(state, their_state) << cut;
                ASSERT_EQ(EVP_CIPHER_CTX_get_original_iv(one.get(), state.data(), iv_.size()), 1);
                EXPECT_TRUE(std::equal(iv_.begin(), iv_.end(), state.begin()));
            }
            EXPECT_EQ(EVP_CIPHER_CTX_get_num(one.get()), EVP_CIPHER_CTX_get_num(theirs.get()))
                << cut;
            Evp copy(one);
            std::copy(out.begin(), out.end(), out_of_copy.begin());
            for (Evp* evp : {&one, &copy, &theirs}) {
                Bytes& to = evp == &one ? out : evp == &copy ? out_of_copy : their_out;
                ASSERT_TRUE(
                    evp->update(text.data() + cut, text.size() - cut, to.data() + made, &n));
                ASSERT_EQ(made + n, text.size());
                ASSERT_TRUE(evp->final(to.data() + made + n, &n));
            }
            ASSERT_EQ(out, their_out);
            ASSERT_EQ(out_of_copy, their_out);
        }
}

// EVP_CIPHER_CTX_get_updated_iv and _num suffice to continue elsewhere.
TEST_P(StreamCipher, ContinuesFromAState) {
    new_key();
    for (const bool sends : {true, false})
        for (size_t cut = 0; cut < 40; ++cut) {
            const Bytes text = random_.text(100);
            Bytes whole, out(text.size()), state(iv_.size());
            size_t n = 0;
            Evp all(mine_.get()), first(mine_.get()), second(mine_.get());
            ASSERT_TRUE(all.init(sends, key_.data(), iv_.data()) && all.text(text, whole, nullptr));
            ASSERT_TRUE(first.init(sends, key_.data(), iv_.data()) &&
                        first.update(text.data(), cut, out.data(), &n));
            ASSERT_EQ(EVP_CIPHER_CTX_get_updated_iv(first.get(), state.data(), state.size()), 1);
            ASSERT_TRUE(second.init(sends, key_.data(), state.data()));
            ASSERT_EQ(EVP_CIPHER_CTX_set_num(second.get(), EVP_CIPHER_CTX_get_num(first.get())), 1);
            for (size_t i = cut; i < text.size(); i += n) {
                ASSERT_TRUE(second.update(text.data() + i,
                                          std::min(text.size() - i, random_.length(20)),
                                          out.data() + i, &n));
                ASSERT_EQ(EVP_CIPHER_CTX_get_num(second.get()),
                          static_cast<int>((i + n) % iv_.size()));
            }
            ASSERT_EQ(out, whole) << cut;
        }
}

// EVP_Cipher: whole blocks, without buffering.
TEST_P(PlainCipher, WorksThroughEvpCipher) {
    new_key();
    for (const bool sends : {true, false}) {
        Evp one(mine_.get()), theirs(other_.get());
        ASSERT_TRUE(one.init(sends, key_.data(), iv_.data()) &&
                    theirs.init(sends, key_.data(), iv_.data()));
        for (const size_t bytes : {16u, 48u, 160u}) {
            const Bytes text = random_.text(bytes);
            Bytes out(bytes), their_out(bytes);
            ASSERT_GT(EVP_Cipher(one.get(), out.data(), text.data(), static_cast<unsigned>(bytes)),
                      0);
            ASSERT_GT(EVP_Cipher(theirs.get(), their_out.data(), text.data(),
                                 static_cast<unsigned>(bytes)),
                      0);
            ASSERT_EQ(out, their_out);
        }
    }
}

// Invalid padding, and partial blocks.
TEST_P(BlockCipher, RefusesWrongEnds) {
    const size_t block = static_cast<size_t>(EVP_CIPHER_get_block_size(mine_.get()));
    new_key();
    for (size_t last = 0; last < 256; ++last) {
        Bytes text = random_.text(2 * block), sealed, opened;
        const bool all_the_same = random_.one_in(2);
        for (size_t i = 1; all_the_same && i <= block; ++i)
            text[2 * block - i] = static_cast<uint8_t>(last);
        text[2 * block - 1] = static_cast<uint8_t>(last);
        const bool good = last == 1 || (all_the_same && last >= 1 && last <= block);
        Evp encrypt(mine_.get()), decrypt(mine_.get());
        ASSERT_TRUE(encrypt.init(true, key_.data(), iv_.data()) && encrypt.pad(false) &&
                    encrypt.text(text, sealed, nullptr));
        ASSERT_TRUE(decrypt.init(false, key_.data(), iv_.data()));
        Evp theirs(other_.get());
        Bytes opened_by_them;
        ASSERT_TRUE(theirs.init(false, key_.data(), iv_.data()));
        const bool theirs_opens = theirs.text(sealed, opened_by_them, nullptr);
        ERR_clear_error();
        ASSERT_EQ(theirs_opens, decrypt.text(sealed, opened, nullptr)) << last;
        if (good) {
            ASSERT_EQ(opened, Bytes(text.begin(), text.end() - static_cast<ptrdiff_t>(last)));
        } else {
            const char* said = "";
            ERR_peek_last_error_all(nullptr, nullptr, nullptr, &said, nullptr);
            ASSERT_STREQ(said, "bad decrypt: the padding is wrong") << last;
        }
    }
    for (size_t bytes = 1; bytes < block; ++bytes)
        for (const bool sends : {true, false}) {
            Evp part(mine_.get());
            Bytes out;
            ASSERT_TRUE(part.init(sends, key_.data(), iv_.data()) && part.pad(false));
            ASSERT_FALSE(part.text(random_.text(block + bytes), out, nullptr));
        }
    ERR_clear_error();
}

const std::initializer_list<int> block_modes = {EVP_CIPH_ECB_MODE, EVP_CIPH_CBC_MODE};
const std::initializer_list<int> stream_modes = {EVP_CIPH_CFB_MODE, EVP_CIPH_OFB_MODE,
                                                 EVP_CIPH_CTR_MODE};
INSTANTIATE_TEST_SUITE_P(Blocks, PlainCipher, testing::ValuesIn(of_modes(block_modes)), test_name);
INSTANTIATE_TEST_SUITE_P(Streams, PlainCipher, testing::ValuesIn(of_modes(stream_modes)),
                         test_name);
INSTANTIATE_TEST_SUITE_P(All, StreamCipher, testing::ValuesIn(of_modes(stream_modes)), test_name);
INSTANTIATE_TEST_SUITE_P(All, BlockCipher, testing::ValuesIn(of_modes(block_modes)), test_name);

// One message with a tag. Empty: refused.
struct Sealed {
    Bytes text, tag;
};

class AeadCipher : public EachCipher {
protected:
    // CCM sets its lengths before its key.
    bool start(Evp& one, bool sends, size_t iv_bytes, size_t tag_bytes, const Bytes* tag) {
        if (!one.init(sends, nullptr, nullptr) ||
            !one.control(EVP_CTRL_AEAD_SET_IVLEN, iv_bytes, nullptr))
            return false;
        if (mode(mine_) == EVP_CIPH_CCM_MODE &&
            !one.control(EVP_CTRL_AEAD_SET_TAG, tag_bytes,
                         sends ? nullptr : const_cast<uint8_t*>(tag->data())))
            return false;
        return one.more(key_.data(), iv_.data());
    }
    bool give_aad(Evp& one, const Bytes& aad, size_t text_bytes, Random* random) {
        int out;
        if (mode(mine_) == EVP_CIPH_CCM_MODE)
            return EVP_CipherUpdate(one.get(), nullptr, &out, nullptr,
                                    static_cast<int>(text_bytes)) == 1 &&
                   (aad.empty() || one.aad(aad.data(), aad.size()));
        for (size_t i = 0; i < aad.size();) {
            const size_t n =
                random == nullptr ? aad.size() : std::min(aad.size() - i, random->length(40));
            if (!one.aad(aad.data() + i, n)) return false;
            i += n;
        }
        return true;
    }
    Random* segments() { return mode(mine_) == EVP_CIPH_CCM_MODE ? nullptr : &random_; }

    bool seal(const Cipher& with, const Bytes& aad, const Bytes& text, size_t tag_bytes,
              Random* random, Sealed& out) {
        Evp one(with.get());
        out.tag.assign(tag_bytes, 0);
        return start(one, true, iv_.size(), tag_bytes, nullptr) &&
               give_aad(one, aad, text.size(), random) &&
               (text.empty() ? end(one, out.text) : one.text(text, out.text, random)) &&
               one.control(EVP_CTRL_AEAD_GET_TAG, tag_bytes, out.tag.data());
    }
    bool open(const Cipher& with, const Bytes& aad, const Sealed& sealed, Random* random,
              Bytes& out) {
        Evp one(with.get());
        if (!start(one, false, iv_.size(), sealed.tag.size(), &sealed.tag) ||
            !give_aad(one, aad, sealed.text.size(), random))
            return false;
        if (mode(mine_) == EVP_CIPH_GCM_MODE &&
            !one.control(EVP_CTRL_AEAD_SET_TAG, sealed.tag.size(),
                         const_cast<uint8_t*>(sealed.tag.data())))
            return false;
        return sealed.text.empty() ? end(one, out) : one.text(sealed.text, out, random);
    }
    // OpenSSL's CCM needs a segment, even an empty one.
    bool end(Evp& one, Bytes& out) {
        out.assign(16, 0);
        size_t n = 0;
        if (mode(mine_) == EVP_CIPH_CCM_MODE && !one.update(out.data(), 0, out.data(), &n))
            return false;
        const bool done = one.final(out.data(), &n);
        out.clear();
        return done;
    }
};

TEST_P(AeadCipher, AgreesAndRefusesChangedInput) {
    const bool ccm = mode(mine_) == EVP_CIPH_CCM_MODE;
    const Cipher& reference = other_ ? other_ : mine_;
    for (size_t i = 0; i <= 200; ++i) {
        if (i % 8 == 0) new_key();
        const size_t bytes = i <= 180 ? i : random_.length(70'000);
        iv_ = random_.text(ccm                 ? 7 + random_.below(7)
                           : random_.one_in(2) ? 12
                                               : 1 + random_.below(64));
        if (ccm && 15 - iv_.size() == 2 && bytes > 65535) continue;
        const size_t tag_bytes = ccm                 ? 4 + 2 * random_.below(7)
                                 : random_.one_in(2) ? 16
                                                     : 12 + random_.below(5);
        const Bytes text = random_.text(bytes), aad = random_.text(random_.length(100));
        Sealed mine, theirs;
        Bytes out;
        ASSERT_TRUE(seal(mine_, aad, text, tag_bytes, segments(), mine)) << bytes;
        ASSERT_TRUE(seal(reference, aad, text, tag_bytes, nullptr, theirs));
        ASSERT_EQ(mine.text, theirs.text) << bytes;
        ASSERT_EQ(mine.tag, theirs.tag) << bytes << " aad " << aad.size() << " iv " << iv_.size();
        ASSERT_TRUE(open(mine_, aad, mine, segments(), out)) << bytes;
        ASSERT_EQ(out, text);
        ASSERT_TRUE(open(reference, aad, mine, nullptr, out));
        Sealed wrong = mine;
        wrong.tag[random_.below(tag_bytes)] ^= static_cast<uint8_t>(1 << random_.below(8));
        ASSERT_FALSE(open(mine_, aad, wrong, segments(), out)) << bytes;
        if (bytes != 0) {
            wrong = mine;
            wrong.text[random_.below(bytes)] ^= static_cast<uint8_t>(1 << random_.below(8));
            ASSERT_FALSE(open(mine_, aad, wrong, segments(), out));
        }
        Bytes wrong_aad = aad;
        wrong_aad.push_back(0);
        ASSERT_FALSE(open(mine_, wrong_aad, mine, segments(), out));
        ERR_clear_error();
    }
}

TEST_P(AeadCipher, ClonesAreIndependent) {
    new_key();
    iv_ = random_.text(12);
    const Bytes text = random_.text(300), aad = random_.text(20);
    Sealed whole;
    ASSERT_TRUE(seal(mine_, aad, text, 16, nullptr, whole));
    Evp one(mine_.get());
    ASSERT_TRUE(start(one, true, 12, 16, nullptr) && give_aad(one, aad, text.size(), nullptr));
    const size_t cut = mode(mine_) == EVP_CIPH_CCM_MODE ? 0 : 77;
    Bytes out(text.size());
    size_t n = 0;
    if (cut != 0) {
        ASSERT_TRUE(one.update(text.data(), cut, out.data(), &n));
    }
    Evp copy(one);
    for (Evp* evp : {&one, &copy}) {
        Bytes tag(16);
        std::fill(out.begin() + static_cast<ptrdiff_t>(cut), out.end(), 0);
        ASSERT_TRUE(evp->update(text.data() + cut, text.size() - cut, out.data() + cut, &n) &&
                    evp->final(out.data(), &n));
        ASSERT_TRUE(evp->control(EVP_CTRL_AEAD_GET_TAG, 16, tag.data()));
        EXPECT_EQ(out, whole.text);
        EXPECT_EQ(tag, whole.tag);
    }
}

INSTANTIATE_TEST_SUITE_P(All, AeadCipher,
                         testing::ValuesIn(of_modes({EVP_CIPH_GCM_MODE, EVP_CIPH_CCM_MODE})),
                         test_name);

TEST(Xts, AgreesUnitByUnit) {
    Random random(17);
    for (const std::string& name : of_modes({EVP_CIPH_XTS_MODE})) {
        const Cipher mine = our_cipher(name), other = stock_cipher(name);
        for (size_t bytes = 16; bytes <= 300; ++bytes) {
            const Bytes key = random.text(key_bytes(mine)), iv = random.text(16),
                        text = random.text(bytes);
            for (const bool sends : {true, false}) {
                Evp one(mine.get()), theirs(other.get());
                ASSERT_TRUE(one.init(sends, key.data(), iv.data()) &&
                            theirs.init(sends, key.data(), iv.data()));
                Bytes out(bytes), their_out(bytes);
                size_t n = 0;
                for (int unit = 0; unit < 2; ++unit) {  // each under the same number
                    ASSERT_TRUE(one.update(text.data(), bytes, out.data(), &n));
                    ASSERT_EQ(n, bytes);
                    ASSERT_TRUE(theirs.update(text.data(), bytes, their_out.data(), &n));
                    ASSERT_EQ(out, their_out) << name << " " << bytes;
                }
                ASSERT_TRUE(one.final(out.data(), &n));
            }
        }
    }
}

}  // namespace
