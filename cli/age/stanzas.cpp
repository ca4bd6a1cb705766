// X25519, mlkem768x25519 and scrypt stanzas.
#include "cli/age/stanzas.h"

#include <algorithm>

#include "cli/age/crypto.h"
#include "cli/age/format/text.h"
#include "cli/age/ssh/stanzas.h"
#include "cli/support/command.h"
#include "cli/support/format.h"

namespace warpseal::cli::age {
namespace {

constexpr char x25519_type[] = "X25519";
constexpr char hybrid_type[] = "mlkem768x25519";
constexpr char scrypt_type[] = "scrypt";
constexpr std::string_view x25519_info = "age-encryption.org/v1/X25519";
constexpr std::string_view scrypt_label = "age-encryption.org/v1/scrypt";
constexpr size_t scrypt_salt_bytes = 16;
constexpr size_t body_bytes = file_key_bytes + tag_bytes;

bool has_bytes(const std::string& argument, size_t bytes) {
    Octets found;
    return from_base64(argument, Padding::none, found) && found.size() == bytes;
}

Octets bytes_of(const std::string& argument) {
    Octets bytes;
    (void)from_base64(argument, Padding::none, bytes);  // check_stanzas checked it.
    return bytes;
}

void require_form(const Stanza& stanza, size_t arguments, size_t share_bytes) {
    if (stanza.arguments.size() != 1 + arguments || !has_bytes(stanza.arguments[1], share_bytes) ||
        stanza.body.size() != body_bytes)
        throw_bad_header(cli::format("a stanza {} has another form", stanza.type()));
}

void check_scrypt(const Stanza& stanza) {
    require_form(stanza, 2, scrypt_salt_bytes);
    const std::string& cost = stanza.arguments[2];
    if (cost[0] == '0' || cost.find_first_not_of("0123456789") != std::string::npos)
        throw_bad_header("the work factor of its stanza scrypt is no number");
    if (cost.size() > 2 || std::stoul(cost) > max_scrypt_log2_cost)
        throw Failure(
            ExitCode::limit_exceeded,
            cli::format("its header asks for more work than scrypt with 2^{} rounds, "
                        "which needs {}.",
                        max_scrypt_log2_cost, human_bytes(uint64_t{1024} << max_scrypt_log2_cost)));
}

Secret x25519_wrap_key(View shared, View share, View recipient) {
    Octets salt(share.begin(), share.end());
    append(salt, recipient);
    return hkdf_sha256(shared, salt, view(x25519_info));
}

Secret scrypt_wrap_key(View passphrase, View salt, unsigned log2_cost) {
    Octets labeled(scrypt_label.begin(), scrypt_label.end());
    append(labeled, salt);
    return scrypt(passphrase, labeled, log2_cost);
}

Stanza wrap_x25519(const Recipient& recipient, View file_key) {
    const Secret ephemeral = random_secret(key_bytes);
    const Secret share = x25519_public(ephemeral);
    const std::optional<Secret> shared = x25519(ephemeral, recipient.key);
    if (!shared)
        throw Failure(ExitCode::usage, cli::format("{} is a point of low order: ask its owner for "
                                                   "another recipient.",
                                                   recipient.shown));
    return {{x25519_type, base64(share, Padding::none)},
            wrap_file_key(x25519_wrap_key(*shared, share, recipient.key), file_key)};
}

std::optional<Secret> unwrap_x25519(const Identity& identity, const Stanza& stanza) {
    const Octets share = bytes_of(stanza.arguments[1]);
    const std::optional<Secret> shared = x25519(identity.key, share);
    if (!shared) throw_bad_header("the share of a stanza X25519 is of low order");
    return unwrap_file_key(x25519_wrap_key(*shared, share, x25519_public(identity.key)),
                           stanza.body);
}

}  // namespace

Stanza wrap(const Recipient& recipient, View file_key, Hybrid& hybrid) {
    if (is_ssh(recipient.type)) return wrap_ssh(recipient, file_key);
    if (recipient.type == KeyType::x25519) return wrap_x25519(recipient, file_key);
    std::optional<Hybrid::Wrapped> wrapped = hybrid.wrap(recipient.key, file_key);
    if (!wrapped)
        throw Failure(ExitCode::usage, cli::format("{} is no valid key: ask its owner for another "
                                                   "recipient.",
                                                   recipient.shown));
    return {{hybrid_type, base64(wrapped->ciphertext, Padding::none)}, std::move(wrapped->body)};
}

Stanza wrap_by_passphrase(View passphrase, View file_key) {
    const Secret salt = random_secret(scrypt_salt_bytes);
    return {{scrypt_type, base64(salt, Padding::none), std::to_string(scrypt_log2_cost)},
            wrap_file_key(scrypt_wrap_key(passphrase, salt, scrypt_log2_cost), file_key)};
}

void check_stanzas(const std::vector<Stanza>& stanzas) {
    for (const Stanza& stanza : stanzas) {
        if (stanza.type() == x25519_type) require_form(stanza, 1, key_bytes);
        check_ssh_stanza(stanza);
        if (stanza.type() == hybrid_type) require_form(stanza, 1, hybrid_ciphertext_bytes);
        if (stanza.type() != scrypt_type) continue;
        if (stanzas.size() != 1) throw_bad_header("a stanza scrypt is not the only one");
        check_scrypt(stanza);
    }
}

unsigned log2_cost_of(const Stanza& scrypt) {
    return static_cast<unsigned>(std::stoul(scrypt.arguments[2]));
}

bool opens_by_passphrase(const std::vector<Stanza>& stanzas) {
    return std::any_of(stanzas.begin(), stanzas.end(),
                       [](const Stanza& stanza) { return stanza.type() == scrypt_type; });
}

std::optional<Secret> unwrap(const Identity& identity, const Stanza& stanza, Hybrid& hybrid) {
    if (is_ssh(identity.type)) return unwrap_ssh(identity, stanza);
    if (identity.type == KeyType::x25519)
        return stanza.type() == x25519_type ? unwrap_x25519(identity, stanza) : std::nullopt;
    if (identity.type != KeyType::hybrid || stanza.type() != hybrid_type) return std::nullopt;
    Secret file_key;
    switch (hybrid.unwrap(identity.key, bytes_of(stanza.arguments[1]), stanza.body, file_key)) {
        case Hybrid::Outcome::opened: return file_key;
        case Hybrid::Outcome::no_match: return std::nullopt;
        case Hybrid::Outcome::bad_ciphertext: break;
    }
    throw_bad_header("the share of a stanza mlkem768x25519 is of low order");
}

std::optional<Secret> unwrap_by_passphrase(View passphrase, const Stanza& stanza) {
    if (stanza.type() != scrypt_type) return std::nullopt;
    return unwrap_file_key(
        scrypt_wrap_key(passphrase, bytes_of(stanza.arguments[1]), log2_cost_of(stanza)),
        stanza.body);
}

}  // namespace warpseal::cli::age
