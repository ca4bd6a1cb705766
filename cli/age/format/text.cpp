// Base64, and the library's Bech32.
#include "cli/age/format/text.h"

#include <array>

#include "c_api/internal.h"

namespace warpseal::cli::age {
namespace {

constexpr std::string_view base64_alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<int8_t, 256> inverse(std::string_view alphabet) {
    std::array<int8_t, 256> values{};
    for (int8_t& value : values) value = -1;
    for (size_t i = 0; i < alphabet.size(); ++i)
        values[static_cast<uint8_t>(alphabet[i])] = static_cast<int8_t>(i);
    return values;
}
constexpr auto base64_values = inverse(base64_alphabet);

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

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
    const std::string terminated(prefix);
    std::string text(
        warpseal_internal_bech32_encode(terminated.c_str(), bytes.data(), bytes.size(), nullptr),
        ' ');
    (void)warpseal_internal_bech32_encode(terminated.c_str(), bytes.data(), bytes.size(),
                                          text.data());
    return text;
}

std::optional<Bech32> from_bech32(std::string_view text) {
    Bech32 found;
    found.bytes.resize(text.size());
    size_t prefix = 0, bytes = 0;
    int32_t upper_case = 0;
    if (warpseal_internal_bech32_decode(text.data(), text.size(), &prefix, &upper_case,
                                        found.bytes.data(), &bytes) == 0)
        return std::nullopt;
    found.upper_case = upper_case != 0;
    found.bytes.resize(bytes);
    for (const char c : text.substr(0, prefix)) found.prefix.push_back(lower(c));
    return found;
}

}  // namespace warpseal::cli::age
