// Wraps and unwraps file keys for SSH keys, as age does.
#include "cli/age/ssh/stanzas.h"

#include <sodium.h>

#include "cli/age/crypto.h"
#include "cli/age/format/text.h"
#include "cli/age/ssh/keys.h"
#include "cli/age/ssh/wire.h"
#include "cli/support/command.h"
#include "cli/support/format.h"

namespace warpseal::cli::age {
namespace {

constexpr std::string_view ed25519_label = "age-encryption.org/v1/ssh-ed25519";
constexpr std::string_view rsa_label = "age-encryption.org/v1/ssh-rsa";
constexpr size_t key_tag_bytes = 4;

std::string key_tag(View wire) {
    uint8_t digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(digest, wire.data(), wire.size());
    return base64(View(digest).first(key_tag_bytes), Padding::none);
}

[[noreturn]] void throw_other_form(const Stanza& stanza) {
    throw_bad_header(cli::format("a stanza {} has another form", stanza.type()));
}

Octets argument(const Stanza& stanza, size_t index, size_t bytes) {
    Octets found;
    if (!from_base64(stanza.arguments[index], Padding::none, found) || found.size() != bytes)
        throw_other_form(stanza);
    return found;
}

// The key's point as X25519 takes it. Empty for a point that is not in the group of Ed25519.
std::optional<Octets> x25519_point(View wire) {
    Octets point(key_bytes);
    if (crypto_sign_ed25519_pk_to_curve25519(point.data(), wire.last(key_bytes).data()) != 0)
        return std::nullopt;
    return point;
}

// X25519, then once more with a scalar of the key's wire form. Empty for a share of low order.
std::optional<Secret> tweaked_x25519(View secret_key, View point, View wire) {
    const std::optional<Secret> shared = x25519(secret_key, point);
    if (!shared) return std::nullopt;
    return x25519(hkdf_sha256({}, wire, view(ed25519_label)), *shared);
}

Secret ed25519_wrap_key(View shared, View share, View point) {
    Octets salt(share.begin(), share.end());
    append(salt, point);
    return hkdf_sha256(shared, salt, view(ed25519_label));
}

[[noreturn]] void throw_refused(const Recipient& recipient) {
    throw Failure(ExitCode::usage, cli::format("{} is no valid key: ask its owner for another "
                                               "recipient.",
                                               recipient.shown));
}

Stanza wrap_ed25519(const Recipient& recipient, View file_key) {
    const std::optional<Octets> point = x25519_point(recipient.key);
    if (!point) throw_refused(recipient);
    const Secret ephemeral = random_secret(key_bytes);
    const Secret share = x25519_public(ephemeral);
    const std::optional<Secret> shared = tweaked_x25519(ephemeral, *point, recipient.key);
    if (!shared) throw_refused(recipient);
    return {{ssh_ed25519_name, key_tag(recipient.key), base64(share, Padding::none)},
            wrap_file_key(ed25519_wrap_key(*shared, share, *point), file_key)};
}

std::optional<Secret> unwrap_ed25519(const Identity& identity, const Stanza& stanza) {
    const Octets share = argument(stanza, 2, key_bytes);
    const std::optional<Secret> shared = tweaked_x25519(identity.key, share, identity.wire);
    if (!shared) throw_bad_header("the share of a stanza ssh-ed25519 is of low order");
    return unwrap_file_key(ed25519_wrap_key(*shared, share, x25519_public(identity.key)),
                           stanza.body);
}

Stanza wrap_rsa(const Recipient& recipient, View file_key) {
    const std::optional<RsaPublic> key = rsa_of_wire(recipient.key);
    std::optional<Octets> body;
    if (key) body = rsa_seal(*key, view(rsa_label), file_key);
    if (!body) throw_refused(recipient);
    return {{ssh_rsa_name, key_tag(recipient.key)}, std::move(*body)};
}

std::optional<Secret> unwrap_rsa(const Identity& identity, const Stanza& stanza) {
    if (stanza.body.size() != static_cast<size_t>(EVP_PKEY_get_size(identity.rsa.get())))
        throw_other_form(stanza);
    return rsa_open(identity.rsa.get(), view(rsa_label), stanza.body);
}

}  // namespace

Stanza wrap_ssh(const Recipient& recipient, View file_key) {
    return recipient.type == KeyType::ssh_rsa ? wrap_rsa(recipient, file_key)
                                              : wrap_ed25519(recipient, file_key);
}

void check_ssh_stanza(const Stanza& stanza) {
    const bool is_rsa = stanza.type() == ssh_rsa_name;
    if (!is_rsa && stanza.type() != ssh_ed25519_name) return;
    const size_t body_bytes = stanza.body.size();
    if (stanza.arguments.size() != (is_rsa ? 2 : 3) ||
        (is_rsa ? body_bytes < min_rsa_bytes || body_bytes > max_rsa_bytes
                : body_bytes != file_key_bytes + tag_bytes))
        throw_other_form(stanza);
    (void)argument(stanza, 1, key_tag_bytes);
    if (!is_rsa) (void)argument(stanza, 2, key_bytes);
}

bool is_for_ssh(const Identity& identity, const Stanza& stanza) {
    const bool is_rsa = identity.type == KeyType::ssh_rsa;
    return stanza.type() == (is_rsa ? ssh_rsa_name : ssh_ed25519_name) &&
           stanza.arguments[1] == key_tag(identity.wire);
}

std::optional<Secret> unwrap_ssh(const Identity& identity, const Stanza& stanza) {
    if (identity.is_locked() || !is_for_ssh(identity, stanza)) return std::nullopt;
    return identity.type == KeyType::ssh_rsa ? unwrap_rsa(identity, stanza)
                                             : unwrap_ed25519(identity, stanza);
}

}  // namespace warpseal::cli::age
