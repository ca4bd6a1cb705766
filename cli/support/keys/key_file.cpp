// Decodes keys in constant time for their length, and names files that are no keys.
#include "cli/support/keys/key_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "cli/support/format.h"
#include "cli/support/kem_sets.h"

namespace warpseal::cli {
namespace {

constexpr unsigned hex_bits = 4, base64_bits = 6;
// Shorter public keys, of 32 bytes, cannot be told from other keys.
constexpr uint32_t least_named_kem_bytes = 256;

// Returns -1 (all bits set) if low <= byte <= high, otherwise 0.
int in_range(int byte, int low, int high) { return ((low - 1 - byte) & (byte - high - 1)) >> 31; }

// Value of a character; `valid` becomes 0 for a character of another alphabet.
unsigned hex_value(int byte, int& valid) {
    const int digit = in_range(byte, '0', '9'), upper = in_range(byte, 'A', 'F'),
              lower = in_range(byte, 'a', 'f');
    valid &= digit | upper | lower;
    return static_cast<unsigned>((digit & (byte - '0')) | (upper & (byte - 'A' + 10)) |
                                 (lower & (byte - 'a' + 10)));
}

unsigned base64_value(int byte, int& valid) {
    const int upper = in_range(byte, 'A', 'Z'), lower = in_range(byte, 'a', 'z'),
              digit = in_range(byte, '0', '9'), plus = in_range(byte, '+', '+'),
              slash = in_range(byte, '/', '/');
    valid &= upper | lower | digit | plus | slash;
    return static_cast<unsigned>((upper & (byte - 'A')) | (lower & (byte - 'a' + 26)) |
                                 (digit & (byte - '0' + 52)) | (plus & 62) | (slash & 63));
}

// Decodes characters of `bits` bits each to key_bytes bytes. Returns false for a character outside
// the alphabet and for unused bits that are set.
bool decode(const uint8_t* text, size_t characters, unsigned bits, uint8_t* key, size_t key_bytes) {
    int valid = -1;
    unsigned held = 0, held_bits = 0;
    size_t done = 0;
    for (size_t i = 0; i < characters; ++i) {
        const unsigned value =
            bits == hex_bits ? hex_value(text[i], valid) : base64_value(text[i], valid);
        held = (held << bits | value) & 0xffff;
        held_bits += bits;
        if (held_bits < 8) continue;
        held_bits -= 8;
        if (done < key_bytes) key[done] = static_cast<uint8_t>(held >> held_bits);
        ++done;
    }
    const unsigned unused = held & ((1U << held_bits) - 1);
    warpseal_wipe(&held, sizeof held);
    return valid != 0 && done == key_bytes && unused == 0;
}

// Decodes the whole text to a key of that length. Returns false if it is none.
bool decode_text(const SecretBytes& text, size_t text_bytes, size_t key_bytes, SecretBytes& key) {
    const uint8_t* const data = text.data();
    const size_t base64 = (key_bytes * 8 + base64_bits - 1) / base64_bits,
                 padded = (key_bytes + 2) / 3 * 4;
    key.size = key_bytes;
    if (text_bytes == 2 * key_bytes && decode(data, text_bytes, hex_bits, key.data(), key_bytes))
        return true;
    const bool is_padded =
        text_bytes == padded &&
        std::all_of(data + base64, data + padded, [](uint8_t byte) { return byte == '='; });
    return (text_bytes == base64 || is_padded) &&
           decode(data, base64, base64_bits, key.data(), key_bytes);
}

size_t without_newline(const SecretBytes& content) {
    size_t bytes = content.size;
    if (bytes > 0 && content.data()[bytes - 1] == '\n') --bytes;
    if (bytes > 0 && bytes < content.size && content.data()[bytes - 1] == '\r') --bytes;
    return bytes;
}

// Returns what a file is that is no key, or "".
std::string recognised(const SecretBytes& content) {
    const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size);
    const auto begins = [&](std::string_view with) { return text.substr(0, with.size()) == with; };
    const std::string_view line = text.substr(0, text.find('\n'));
    const auto line_has = [&](std::string_view word) {
        return line.find(word) != std::string_view::npos;
    };
    if (begins("WARPSEAL")) return "a sealed file of Warpseal";
    if (begins("age-encryption.org/") || begins("-----BEGIN AGE ")) return "an age file";
    if (begins("Salted__") || begins("U2FsdGVkX1")) return "a file of openssl enc";
    if (begins("-----BEGIN "))
        return line_has("PUBLIC KEY")    ? "a public key (PEM)"
               : line_has("PRIVATE KEY") ? "a private key (PEM)"
                                         : "a PEM file";
    if (text.find("AGE-SECRET-KEY-") != std::string_view::npos) return "an age identity";
    if (begins("age1")) return "a public key (age recipient)";
    if (begins("ssh-") || begins("ecdsa-sha2-") || begins("sk-ssh-")) return "a public key (SSH)";
    for (const warpseal_kem_info& set : all_kem_sets()) {
        if (content.size < least_named_kem_bytes) break;
        if (content.size == set.public_key_bytes)
            return cli::format("as long as a public key of {}", set.name);
        if (content.size == set.secret_key_bytes)
            return cli::format("as long as a secret key of {}", set.name);
    }
    return "";
}

}  // namespace

SecretBytes decode_key(SecretBytes content, const std::vector<size_t>& lengths,
                       const std::string& shown) {
    const auto allowed = [&](size_t bytes) {
        return std::find(lengths.begin(), lengths.end(), bytes) != lengths.end();
    };
    const size_t text_bytes = without_newline(content);
    for (const size_t bytes : lengths) {
        SecretBytes key;
        if (!decode_text(content, text_bytes, bytes, key)) continue;
        if (!allowed(content.size)) return key;
        throw Failure(ExitCode::usage,
                      cli::format("{} can be a raw key of {} bytes or the text of one of {}: end "
                                  "text with a newline, or give the {} bytes themselves.",
                                  shown, content.size, bytes, bytes));
    }
    if (allowed(content.size)) return content;
    const std::string wanted = cli::format("{} bytes", fmt::join(lengths, " or "));
    const std::string what = recognised(content);
    if (!what.empty())
        throw Failure(
            ExitCode::usage,
            cli::format("{} is {}, and a key of {} is needed. `warpseal keygen` makes key "
                        "files.",
                        shown, what, wanted));
    throw Failure(ExitCode::usage,
                  cli::format("{} has the wrong size: {}{} bytes, where {} are needed, raw or as "
                              "hexadecimal or base64 text. `warpseal keygen` makes key files.",
                              shown, content.size == SecretBytes::page_bytes ? "at least " : "",
                              content.size, wanted));
}

}  // namespace warpseal::cli
