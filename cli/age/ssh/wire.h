// Wire form of SSH keys (RFC 4251, section 5): 32-bit numbers, strings and positive integers.
#pragma once

#include <string_view>

#include "cli/age/format/bytes.h"

namespace warpseal::cli::age {

constexpr char ssh_ed25519_name[] = "ssh-ed25519";
constexpr char ssh_rsa_name[] = "ssh-rsa";

// Takes values from the front. Each function returns false if the bytes end too early.
class WireReader {
public:
    explicit WireReader(View bytes) : rest_(bytes) {}
    bool number(uint32_t& value);
    bool string(View& value);
    // An integer that is not negative, without leading zeros. Returns false for another encoding.
    bool integer(View& value);
    View rest() const { return rest_; }

private:
    View rest_;
};

template <class Vector>
void append_number(Vector& to, uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) to.push_back(static_cast<uint8_t>(value >> shift));
}
template <class Vector>
void append_string(Vector& to, View value) {
    append_number(to, static_cast<uint32_t>(value.size()));
    append(to, value);
}
// `value` has no leading zeros.
template <class Vector>
void append_integer(Vector& to, View value) {
    const bool high_bit = !value.empty() && value[0] >= 0x80;  // would be a sign
    append_number(to, static_cast<uint32_t>(value.size() + high_bit));
    if (high_bit) to.push_back(0);
    append(to, value);
}

Octets ed25519_wire_form(View public_key);
Octets rsa_wire_form(View modulus, View exponent);

inline bool is_text(View bytes, std::string_view text) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()) == text;
}

}  // namespace warpseal::cli::age
