// Reads the wire form of SSH keys, which may be damaged or hostile.
#include "cli/age/ssh/wire.h"

namespace warpseal::cli::age {

bool WireReader::number(uint32_t& value) {
    if (rest_.size() < 4) return false;
    value = 0;
    for (const uint8_t byte : rest_.first(4)) value = value << 8 | byte;
    rest_ = rest_.subspan(4);
    return true;
}

bool WireReader::string(View& value) {
    uint32_t bytes = 0;
    if (!number(bytes) || bytes > rest_.size()) return false;
    value = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return true;
}

bool WireReader::integer(View& value) {
    if (!string(value)) return false;
    if (value.empty()) return true;
    if (value[0] >= 0x80) return false;  // negative
    if (value[0] != 0) return true;
    // One zero precedes a high bit, and nothing else.
    value = value.subspan(1);
    return !value.empty() && value[0] >= 0x80;
}

Octets ed25519_wire_form(View public_key) {
    Octets wire;
    append_string(wire, view(ssh_ed25519_name));
    append_string(wire, public_key);
    return wire;
}

Octets rsa_wire_form(View modulus, View exponent) {
    Octets wire;
    append_string(wire, view(ssh_rsa_name));
    append_integer(wire, exponent);
    append_integer(wire, modulus);
    return wire;
}

}  // namespace warpseal::cli::age
