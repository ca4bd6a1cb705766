// Bech32 (BIP 173) without its limit of length, the text of recipients and identities. Constant
// time in the data of texts of one length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace warpseal::container {

struct Bech32 {
    size_t prefix_characters = 0;  // before the separator
    bool upper_case = false;       // else lower case; a mixture is no Bech32
    size_t bytes = 0;              // of data
};

constexpr size_t bech32_checksum_characters = 6;

// Upper bound of the bytes that a text holds.
constexpr size_t bech32_bytes_max(size_t characters) { return characters * 5 / 8; }

// Decodes a text to `data`, which has room for bech32_bytes_max(text.size()). Returns false if the
// text is not Bech32 or its checksum is wrong; `data` is then unspecified.
bool decode_bech32(std::string_view text, Bech32& found, uint8_t* data);

// The length of the text of that prefix and data, without a terminating zero.
constexpr size_t bech32_characters(size_t prefix_characters, size_t bytes) {
    return prefix_characters + 1 + (bytes * 8 + 4) / 5 + bech32_checksum_characters;
}
// Writes the text of bech32_characters() characters. `prefix` is in lower case, as the text will
// be.
void encode_bech32(std::string_view prefix, const uint8_t* data, size_t bytes, char* text);

}  // namespace warpseal::container
