// Decoders on invalid keys: encodings truncated at each byte, changed at each byte, and noise. An
// accepted one is a key that works or fails.
#include <gtest/gtest.h>
#include <openssl/decoder.h>
#include <openssl/encoder.h>

#include <algorithm>
#include <random>

#include "encodings.h"
#include "library.h"

namespace {

using namespace tests;

// Reads many texts of one format, as a program with one kind of file does.
class Decoder {
public:
    Decoder(const Library& library, const std::string& group, const Format& format)
        : context_(OSSL_DECODER_CTX_new_for_pkey(&key_, format.type, format.structure,
                                                 group.c_str(), format.selection, library.context(),
                                                 our_own)) {}
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;
    ~Decoder() { OSSL_DECODER_CTX_free(context_); }

    Key read(const Bytes& text) {
        const unsigned char* at = text.data();
        size_t left = text.size();
        key_ = nullptr;
        if (OSSL_DECODER_from_data(context_, &at, &left) != 1) ERR_clear_error();
        return Key(key_);
    }

private:
    EVP_PKEY* key_ = nullptr;
    OSSL_DECODER_CTX* context_;
};

class Encodings : public testing::TestWithParam<std::string> {
protected:
    Encodings() : key_(library_.generate(GetParam())) {}

    // All groups share the reading code: these two get most changes, the others a sample.
    bool is_thorough() const {
        return GetParam() == "ntru_hps2048509" || GetParam() == "p256_ntru_hps2048509";
    }

    // A program uses the key that it has read; a sample suffices.
    void use(EVP_PKEY* key, const Format& format) {
        if (accepted_++ % 16 != 0) return;
        const Encapsulated made = encapsulate(library_, key);
        if (format.selection == EVP_PKEY_KEYPAIR && !made.ciphertext.empty())
            decapsulate(library_, key, made.ciphertext);
        ERR_clear_error();
    }

    Library library_;
    Key key_;
    size_t accepted_ = 0;
};

TEST_P(Encodings, RoundTrip) {
    ASSERT_TRUE(key_);
    for (const Format& format : formats) {
        const Bytes text = encoded(key_.get(), format);
        ASSERT_FALSE(text.empty()) << format.type << ' ' << format.structure;
        const Key back = Decoder(library_, GetParam(), format).read(text);
        ASSERT_TRUE(back) << format.type << ' ' << format.structure;
        EXPECT_EQ(EVP_PKEY_eq(back.get(), key_.get()), 1);
        if (format.selection == EVP_PKEY_KEYPAIR) {
            EXPECT_TRUE(works(library_, back.get()));
        }
    }
}

TEST_P(Encodings, TruncatedAtAnyByteAreRefused) {
    for (const Format& format : formats) {
        const Bytes text = encoded(key_.get(), format);
        Decoder decoder(library_, GetParam(), format);
        // PEM: a text that lacks only the end of its last line is complete.
        const size_t least = std::string_view(format.type) == "PEM" ? 2 : 1;
        for (size_t bytes = 0; bytes + least <= text.size();
             bytes += is_thorough()                           ? 1
                      : bytes < 64 || bytes + 8 > text.size() ? 3
                                                              : 89)
            EXPECT_FALSE(decoder.read(
                Bytes(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bytes))))
                << format.structure << ' ' << bytes;
    }
}

TEST_P(Encodings, ChangedAtAnyByteAreRefusedOrDifferentKeys) {
    for (const Format& format : formats) {
        const Bytes text = encoded(key_.get(), format);
        Decoder decoder(library_, GetParam(), format);
        for (size_t at = 0; at < text.size();
             at += is_thorough() ? (at < 64 ? 1 : 17) : (at < 64 ? 5 : 101))
            for (const uint8_t change : {0x01, 0x80, 0xFF, 0x20}) {
                Bytes changed = text;
                changed[at] ^= change;
                if (const Key read = decoder.read(changed)) use(read.get(), format);
            }
    }
}

// Lengths and numbers of the structure itself, which are the same for all keys of a group.
TEST_P(Encodings, WithAnyOtherHeaderValueAreRefused) {
    size_t share_bytes = 0, secret_bytes = 0;
    ASSERT_EQ(EVP_PKEY_get_octet_string_param(key_.get(), OSSL_PKEY_PARAM_PUB_KEY, nullptr, 0,
                                              &share_bytes),
              1);
    ASSERT_EQ(EVP_PKEY_get_octet_string_param(key_.get(), OSSL_PKEY_PARAM_PRIV_KEY, nullptr, 0,
                                              &secret_bytes),
              1);
    for (const Format& format : formats) {
        if (std::string_view(format.type) == "PEM") continue;
        const Bytes text = encoded(key_.get(), format);
        // A key of ML-KEM alone is written as its seed.
        const size_t seed_bytes = GetParam().starts_with("MLKEM") ? 64 : 0;
        const size_t content = format.selection != EVP_PKEY_KEYPAIR ? share_bytes
                               : seed_bytes != 0                    ? seed_bytes
                                                                    : share_bytes + secret_bytes;
        ASSERT_GT(text.size(), content);
        Decoder decoder(library_, GetParam(), format);
        for (size_t at = 0; at < text.size() - content; ++at)
            for (int value = 0; value < 256; value += is_thorough() ? 3 : 37) {
                Bytes changed = text;
                changed[at] = static_cast<uint8_t>(value);
                if (changed == text) continue;
                EXPECT_FALSE(decoder.read(changed))
                    << format.structure << ", byte " << at << " is " << value;
            }
    }
}

TEST_P(Encodings, NoiseIsRefused) {
    std::mt19937 random(20200930);  // noise, the same each time
    for (const Format& format : formats) {
        Decoder decoder(library_, GetParam(), format);
        for (int i = 0; i < 25; ++i) {
            Bytes noise(random() % 4096);
            std::generate(noise.begin(), noise.end(),
                          [&] { return static_cast<uint8_t>(random()); });
            EXPECT_FALSE(decoder.read(noise));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Groups, Encodings, testing::ValuesIn(Library().groups()),
                         [](const auto& one) { return one.param; });

}  // namespace
