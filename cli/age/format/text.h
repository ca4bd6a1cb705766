// Text forms of bytes in age files: base64 (RFC 4648) and Bech32 (BIP 173).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/age/format/bytes.h"

namespace warpseal::cli::age {

enum class Padding { none, required };
constexpr size_t line_characters = 64;  // of base64, in headers and armors

std::string base64(View bytes, Padding padding);
// Appends the bytes of canonical base64. Returns false for any other text.
bool from_base64(std::string_view text, Padding padding, Octets& out);

// Bech32 without a limit of length, in lower case.
std::string bech32(std::string_view prefix, View bytes);
struct Bech32 {
    std::string prefix;  // in lower case
    bool upper_case;
    Secret bytes;
};
// Empty if the text is not Bech32 or its checksum is wrong.
std::optional<Bech32> from_bech32(std::string_view text);

}  // namespace warpseal::cli::age
