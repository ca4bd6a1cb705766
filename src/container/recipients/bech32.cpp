// Bech32: groups of 5 bits, and the checksum over them and the prefix. Neither branches nor table
// lookups depend on a character of the data.
#include "container/recipients/bech32.h"

#include "core/secret.h"

namespace warpseal::container {
namespace {

constexpr std::string_view alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
constexpr uint32_t no_value = 32;

// All ones if a < b, else zero. Both are below 2^31.
uint32_t less_mask(uint32_t a, uint32_t b) { return 0 - ((a - b) >> 31); }
// All ones if a == b, else zero.
uint32_t equal_mask(uint32_t a, uint32_t b) { return less_mask(a ^ b, 1); }
uint32_t between_mask(uint32_t c, char first, char last) {
    return ~less_mask(c, static_cast<uint8_t>(first)) &
           less_mask(c, static_cast<uint8_t>(last) + 1U);
}

uint32_t lower(uint32_t c) { return c + (between_mask(c, 'A', 'Z') & ('a' - 'A')); }

// The group of a lower-case character, or no_value.
uint32_t group_of(uint32_t c) {
    uint32_t value = no_value;
    for (uint32_t i = 0; i < alphabet.size(); ++i)
        value ^= equal_mask(c, static_cast<uint8_t>(alphabet[i])) & (no_value ^ i);
    return value;
}

uint32_t character_of(uint32_t group) {
    uint32_t c = 0;
    for (uint32_t i = 0; i < alphabet.size(); ++i)
        c |= equal_mask(group, i) & static_cast<uint8_t>(alphabet[i]);
    return c;
}

// The checksum's remainder after one more group.
uint32_t step(uint32_t remainder, uint32_t group) {
    constexpr uint32_t generator[] = {0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3};
    const uint32_t top = remainder >> 25;
    remainder = (remainder & 0x1ffffff) << 5 ^ group;
    for (unsigned i = 0; i < 5; ++i) remainder ^= generator[i] & (0 - (top >> i & 1));
    return remainder;
}

uint32_t remainder_of_prefix(std::string_view prefix) {
    uint32_t remainder = 1;
    for (const char c : prefix) remainder = step(remainder, lower(static_cast<uint8_t>(c)) >> 5);
    remainder = step(remainder, 0);
    for (const char c : prefix) remainder = step(remainder, lower(static_cast<uint8_t>(c)) & 31);
    return remainder;
}

}  // namespace

bool decode_bech32(std::string_view text, Bech32& found, uint8_t* data) {
    const size_t separator = text.rfind('1');  // The data has no 1.
    if (separator == std::string_view::npos || separator == 0 ||
        text.size() - separator - 1 < bech32_checksum_characters)
        return false;
    uint32_t wrong = 0, has_lower = 0, has_upper = 0;
    for (const char character : text) {
        const uint32_t c = static_cast<uint8_t>(character);
        wrong |= ~between_mask(c, '!', '~');
        has_lower |= between_mask(c, 'a', 'z');
        has_upper |= between_mask(c, 'A', 'Z');
    }
    uint32_t remainder = remainder_of_prefix(text.substr(0, separator));
    const size_t groups_end = text.size() - bech32_checksum_characters;
    size_t bytes = 0;
    SecretOf<uint32_t> bits;
    bits.value = 0;
    unsigned count = 0;
    for (size_t i = separator + 1; i < text.size(); ++i) {
        const uint32_t group = group_of(lower(static_cast<uint8_t>(text[i])));
        wrong |= group & no_value;
        remainder = step(remainder, group & 31);
        if (i >= groups_end) continue;
        bits.value = (bits.value << 5 | group) & 0xfff;
        count += 5;
        if (count < 8) continue;
        count -= 8;
        data[bytes++] = static_cast<uint8_t>(bits.value >> count);
    }
    // The last byte is followed by fewer than 5 bits, all zero.
    wrong |= bits.value & ((1U << count) - 1);
    if (count >= 5 || wrong != 0 || (has_lower & has_upper) != 0 || remainder != 1) return false;
    found = {separator, has_upper != 0, bytes};
    return true;
}

void encode_bech32(std::string_view prefix, const uint8_t* data, size_t bytes, char* text) {
    for (const char c : prefix) *text++ = c;
    *text++ = '1';
    uint32_t remainder = remainder_of_prefix(prefix);
    SecretOf<uint32_t> bits;
    bits.value = 0;
    unsigned count = 0;
    const auto put = [&](uint32_t group) {
        remainder = step(remainder, group);
        *text++ = static_cast<char>(character_of(group));
    };
    for (size_t i = 0; i < bytes; ++i) {
        bits.value = (bits.value << 8 | data[i]) & 0xfff;
        for (count += 8; count >= 5;) {
            count -= 5;
            put(bits.value >> count & 31);
        }
    }
    if (count > 0) put(bits.value << (5 - count) & 31);
    for (size_t i = 0; i < bech32_checksum_characters; ++i) remainder = step(remainder, 0);
    const uint32_t checksum = remainder ^ 1;
    for (size_t i = 0; i < bech32_checksum_characters; ++i)
        *text++ = static_cast<char>(
            character_of(checksum >> 5 * (bech32_checksum_characters - 1 - i) & 31));
}

}  // namespace warpseal::container
