// Bech32: the examples of BIP 173, round trips and changed characters.
#include "container/recipients/bech32.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace warpseal::container;
using Data = std::vector<uint8_t>;

bool decodes(std::string_view text, Bech32& found, Data& data) {
    data.assign(bech32_bytes_max(text.size()) + 1, 0xee);
    const bool done = decode_bech32(text, found, data.data());
    EXPECT_EQ(data.back(), 0xee);
    if (done) data.resize(found.bytes);
    return done;
}
bool decodes(std::string_view text) {
    Bech32 found;
    Data data;
    return decodes(text, found, data);
}

TEST(Bech32, ExamplesOfTheStandard) {
    for (const char* valid :
         {"A12UEL5L", "a12uel5l", "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw",
          "an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1tt5t"
          "gs"})
        EXPECT_TRUE(decodes(valid)) << valid;
    for (const char* invalid :
         {"\x20"
          "1nwldj5",
          "\x7f"
          "1axkwrx",
          "\x80"
          "1eym55h",
          "pzry9x0s0muk", "1pzry9x0s0muk", "x1b4n0q5v", "li1dgmt3", "de1lg7wt\xff", "A1G7SGD8",
          "10a06t8", "1qzzfhee", "a12UEL5L", "A12uEL5L", ""})
        EXPECT_FALSE(decodes(invalid)) << invalid;
    Bech32 found;
    Data data;
    ASSERT_TRUE(decodes("abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw", found, data));
    EXPECT_EQ(found.prefix_characters, 6u);
    EXPECT_FALSE(found.upper_case);
    EXPECT_EQ(data, (Data{0x00, 0x44, 0x32, 0x14, 0xc7, 0x42, 0x54, 0xb6, 0x35, 0xcf,
                          0x84, 0x65, 0x3a, 0x56, 0xd7, 0xc6, 0x75, 0xbe, 0x77, 0xdf}));
}

TEST(Bech32, RoundTripsOfEveryLength) {
    for (size_t bytes = 0; bytes < 70; ++bytes) {
        Data data(bytes);
        for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<uint8_t>(i * 167 + bytes * 31);
        std::string text(bech32_characters(3, bytes), ' ');
        encode_bech32("age", data.data(), bytes, text.data());
        Bech32 found;
        Data back;
        ASSERT_TRUE(decodes(text, found, back)) << text;
        EXPECT_EQ(back, data);
        EXPECT_EQ(found.prefix_characters, 3u);
        std::transform(text.begin(), text.end(), text.begin(), ::toupper);
        ASSERT_TRUE(decodes(text, found, back)) << text;
        EXPECT_EQ(back, data);
        EXPECT_TRUE(found.upper_case);
    }
}

TEST(Bech32, NoChangedCharacterIsAccepted) {
    const Data data(32, 0x5a);
    std::string text(bech32_characters(3, data.size()), ' ');
    encode_bech32("age", data.data(), data.size(), text.data());
    for (size_t at = 0; at < text.size(); ++at) {
        for (int c = 0; c < 256; ++c) {
            std::string changed = text;
            changed[at] = static_cast<char>(c);
            EXPECT_EQ(decodes(changed), changed == text) << at << " " << c;
        }
        EXPECT_FALSE(decodes(text.substr(0, at)));
    }
}

// Bits after the last byte must be few and zero: the checksums of these texts are right.
TEST(Bech32, SpareBits) {
    EXPECT_TRUE(decodes("age1luyvfgxs"));
    EXPECT_FALSE(decodes("age1lae6aamz"));
    EXPECT_FALSE(decodes("age1luqrr2q7m"));
}

}  // namespace
