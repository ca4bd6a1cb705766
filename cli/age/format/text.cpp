// Base64 and Bech32. Tables are read at secret positions only for Bech32, whose texts are short.
#include "cli/age/format/text.h"

#include <array>

namespace warpseal::cli::age {
namespace {

constexpr std::string_view base64_alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view bech32_alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
constexpr size_t checksum_characters = 6;

constexpr std::array<int8_t, 256> inverse(std::string_view alphabet) {
    std::array<int8_t, 256> values{};
    for (int8_t& value : values) value = -1;
    for (size_t i = 0; i < alphabet.size(); ++i)
        values[static_cast<uint8_t>(alphabet[i])] = static_cast<int8_t>(i);
    return values;
}
constexpr auto base64_values = inverse(base64_alphabet);
constexpr auto bech32_values = inverse(bech32_alphabet);

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The checksum's remainder after one more group of 5 bits.
uint32_t step(uint32_t remainder, uint32_t group) {
    constexpr uint32_t generator[] = {0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3};
    const uint32_t top = remainder >> 25;
    remainder = (remainder & 0x1ffffff) << 5 ^ group;
    for (unsigned i = 0; i < 5; ++i)
        if (top >> i & 1) remainder ^= generator[i];
    return remainder;
}

uint32_t remainder_of(std::string_view prefix, View groups) {
    uint32_t remainder = 1;
    for (const char c : prefix) remainder = step(remainder, static_cast<uint8_t>(c) >> 5);
    remainder = step(remainder, 0);
    for (const char c : prefix) remainder = step(remainder, static_cast<uint8_t>(c) & 31);
    for (const uint8_t group : groups) remainder = step(remainder, group);
    return remainder;
}

// Appends `bytes` as groups of `to` bits. Returns the unused bits and their number.
struct Rest {
    uint32_t bits, count;
};
Rest regroup(View values, unsigned from, unsigned to, Secret& out) {
    uint32_t bits = 0, count = 0;
    for (const uint8_t value : values) {
        bits = bits << from | value;
        count += from;
        while (count >= to) {
            count -= to;
            out.push_back(static_cast<uint8_t>(bits >> count & ((1U << to) - 1)));
        }
        bits &= (1U << count) - 1;
    }
    return {bits, count};
}

}  // namespace

std::string base64(View bytes, Padding padding) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    uint32_t bits = 0, count = 0;
    for (const uint8_t byte : bytes) {
        bits = bits << 8 | byte;
        for (count += 8; count >= 6;) {
            count -= 6;
            text.push_back(base64_alphabet[bits >> count & 63]);
        }
        bits &= (1U << count) - 1;
    }
    if (count > 0) text.push_back(base64_alphabet[bits << (6 - count) & 63]);
    while (padding == Padding::required && text.size() % 4 != 0) text.push_back('=');
    return text;
}

bool from_base64(std::string_view text, Padding padding, Octets& out) {
    if (padding == Padding::required) {
        if (text.size() % 4 != 0) return false;
        for (int i = 0; i < 2 && !text.empty() && text.back() == '='; ++i) text.remove_suffix(1);
    }
    if (text.size() % 4 == 1) return false;
    uint32_t bits = 0, count = 0;
    for (const char c : text) {
        const int8_t value = base64_values[static_cast<uint8_t>(c)];
        if (value < 0) return false;
        bits = bits << 6 | static_cast<uint32_t>(value);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        out.push_back(static_cast<uint8_t>(bits >> count));
        bits &= (1U << count) - 1;
    }
    return bits == 0;
}

std::string bech32(std::string_view prefix, View bytes) {
    Secret groups;
    const Rest rest = regroup(bytes, 8, 5, groups);
    if (rest.count > 0) groups.push_back(static_cast<uint8_t>(rest.bits << (5 - rest.count)));
    const size_t data = groups.size();
    groups.resize(data + checksum_characters);
    const uint32_t checksum = remainder_of(prefix, groups) ^ 1;
    for (size_t i = 0; i < checksum_characters; ++i)
        groups[data + i] = static_cast<uint8_t>(checksum >> 5 * (checksum_characters - 1 - i) & 31);
    std::string text(prefix);
    text.reserve(prefix.size() + 1 + groups.size());
    text.push_back('1');
    for (const uint8_t group : groups) text.push_back(bech32_alphabet[group]);
    return text;
}

std::optional<Bech32> from_bech32(std::string_view text) {
    const size_t separator = text.rfind('1');
    if (separator == std::string_view::npos || separator == 0 ||
        text.size() - separator - 1 < checksum_characters)
        return std::nullopt;
    Bech32 found;
    bool has_lower = false, has_upper = false;
    Secret groups;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c < 33 || c > 126) return std::nullopt;
        has_lower |= c >= 'a' && c <= 'z';
        has_upper |= c >= 'A' && c <= 'Z';
        if (i < separator) {
            found.prefix.push_back(lower(c));
        } else if (i > separator) {
            const int8_t value = bech32_values[static_cast<uint8_t>(lower(c))];
            if (value < 0) return std::nullopt;
            groups.push_back(static_cast<uint8_t>(value));
        }
    }
    if ((has_lower && has_upper) || remainder_of(found.prefix, groups) != 1) return std::nullopt;
    found.upper_case = has_upper;
    groups.resize(groups.size() - checksum_characters);
    const Rest rest = regroup(groups, 5, 8, found.bytes);
    if (rest.count >= 5 || rest.bits != 0) return std::nullopt;
    return found;
}

}  // namespace warpseal::cli::age
