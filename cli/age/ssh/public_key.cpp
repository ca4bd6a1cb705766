// SSH public keys. Errors name the place of a key, never its text.

#include <algorithm>

#include "cli/age/crypto.h"
#include "cli/age/format/text.h"
#include "cli/age/ssh/keys.h"
#include "cli/age/ssh/wire.h"
#include "cli/support/command.h"
#include "cli/support/format.h"

namespace warpseal::cli::age {
namespace {

constexpr std::string_view spaces = " \t";
// Types begin so; a certificate's ends in -cert-v01@openssh.com.
constexpr std::string_view type_begins[] = {"ssh-ed25519", "ssh-rsa",         "ssh-dss",
                                            "ecdsa-sha2-", "sk-ssh-ed25519@", "sk-ecdsa-sha2-"};

// Takes the text up to the next space, and the spaces.
std::string_view take_word(std::string_view& text) {
    const std::string_view word = text.substr(0, text.find_first_of(spaces));
    text.remove_prefix(word.size());
    text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
    return word;
}

[[noreturn]] void throw_bad_key(const std::string& shown) {
    throw Failure(
        ExitCode::usage,
        cli::format("{} is no valid SSH key: copy the whole line of its .pub file.", shown));
}

bool is_ed25519_wire(View wire) {
    View type, key;
    WireReader reader(wire);
    return reader.string(type) && is_text(type, ssh_ed25519_name) && reader.string(key) &&
           key.size() == key_bytes && reader.rest().empty();
}

}  // namespace

bool is_ssh_public_key(std::string_view text) {
    return std::any_of(std::begin(type_begins), std::end(type_begins), [&](std::string_view begin) {
        return text.substr(0, begin.size()) == begin;
    });
}

bool is_usable_ssh_key(std::string_view text) {
    const std::string_view type = take_word(text);
    return type == ssh_ed25519_name || type == ssh_rsa_name;
}

std::string ssh_type_of(std::string_view text) {
    // At most as long as a known type, because the rest of a malformed line is not shown.
    constexpr size_t most = std::string_view("sk-ecdsa-sha2-nistp256-cert-v01@openssh.com").size();
    const std::string_view type = take_word(text);
    return printable(std::string(type.substr(0, most)));
}

std::optional<RsaPublic> rsa_of_wire(View wire) {
    View type, exponent, modulus;
    WireReader reader(wire);
    if (!reader.string(type) || !is_text(type, ssh_rsa_name) || !reader.integer(exponent) ||
        !reader.integer(modulus) || !reader.rest().empty() || !is_plausible_rsa(modulus, exponent))
        return std::nullopt;
    return RsaPublic{{modulus.begin(), modulus.end()}, {exponent.begin(), exponent.end()}};
}

void require_rsa_size(const RsaPublic& key, const std::string& shown) {
    const size_t bits = bits_of(key.modulus);
    if (bits < min_rsa_bits)
        throw Failure(ExitCode::weak_key,
                      cli::format("{} is an RSA key of {} bits, which is too weak: use one of {} "
                                  "bits or more, or an ssh-ed25519 key.",
                                  shown, bits, min_rsa_bits));
    if (bits > max_rsa_bits)
        throw Failure(ExitCode::limit_exceeded,
                      cli::format("{} is an RSA key of {} bits, and the limit is {}: use a smaller "
                                  "one.",
                                  shown, bits, max_rsa_bits));
}

std::optional<KeyType> type_of_wire(View wire, const std::string& shown) {
    if (is_ed25519_wire(wire)) return KeyType::ssh_ed25519;
    const std::optional<RsaPublic> rsa = rsa_of_wire(wire);
    if (!rsa) return std::nullopt;
    require_rsa_size(*rsa, shown);
    return KeyType::ssh_rsa;
}

std::optional<Recipient> parse_ssh_recipient(std::string_view line, const std::string& shown) {
    if (!is_usable_ssh_key(line)) return std::nullopt;
    const std::string_view type = take_word(line);
    Octets wire;
    if (!from_base64(take_word(line), Padding::required, wire)) throw_bad_key(shown);
    const std::optional<KeyType> found = type_of_wire(wire, shown);
    if (!found || type != (*found == KeyType::ssh_rsa ? ssh_rsa_name : ssh_ed25519_name))
        throw_bad_key(shown);
    return Recipient{*found, std::move(wire), shown};
}

std::string ssh_recipient_text(View wire) {
    View type;
    (void)WireReader(wire).string(type);  // It was made or checked here.
    return std::string(type.begin(), type.end()) + " " + base64(wire, Padding::required);
}

}  // namespace warpseal::cli::age
