// SSH private keys: OpenSSH's format, and PEM by libcrypto. Errors never have any of the content.
#include <sodium.h>

#include "cli/age/crypto.h"
#include "cli/age/ssh/keys.h"
#include "cli/age/ssh/wire.h"
#include "cli/support/command.h"
#include "cli/support/format.h"

namespace warpseal::cli::age {
namespace {

constexpr size_t max_key_file_bytes = 16 << 10;
constexpr std::string_view openssh_begin = "-----BEGIN OPENSSH PRIVATE KEY-----";
constexpr std::string_view openssh_end = "-----END OPENSSH PRIVATE KEY-----";
constexpr std::string_view magic("openssh-key-v1\0", 15);
constexpr size_t plain_block_bytes = 8;    // of a secret part that is not encrypted
constexpr size_t cipher_block_bytes = 16;  // of others, and a limit of both

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

[[noreturn]] void throw_damaged(const std::string& shown) {
    throw Failure(
        ExitCode::usage,
        cli::format("{} is a private key that is cut or damaged: take it from a backup.", shown));
}

[[noreturn]] void throw_other_type(const std::string& shown) {
    throw Failure(ExitCode::unsupported,
                  cli::format("{} is a private key of another type: use an ssh-ed25519 or ssh-rsa "
                              "key, or an age identity.",
                              shown));
}

void require_whole(bool whole, const std::string& shown) {
    if (!whole) throw_damaged(shown);
}

void require_key_file_size(std::string_view content, const std::string& shown) {
    if (content.size() > max_key_file_bytes)
        throw Failure(ExitCode::limit_exceeded,
                      cli::format("{} has more than {}.", shown, human_bytes(max_key_file_bytes)));
}

// The bytes between the two marker lines.
Secret decode_lines(std::string_view text, const std::string& shown) {
    text.remove_prefix(openssh_begin.size());
    const size_t end = text.find(openssh_end);
    require_whole(end != std::string_view::npos, shown);
    text = text.substr(0, end);
    Secret bytes(text.size());
    size_t size = 0;
    const char* stopped = nullptr;
    require_whole(sodium_base642bin(bytes.data(), bytes.size(), text.data(), text.size(), "\r\n",
                                    &size, &stopped, sodium_base64_VARIANT_ORIGINAL) == 0 &&
                      stopped == text.data() + text.size(),
                  shown);
    bytes.resize(size);
    return bytes;
}

// The secret part ends in a comment and the bytes 1, 2, 3 and so on, up to a whole block.
bool ends_well(WireReader reader) {
    View comment;
    if (!reader.string(comment) || reader.rest().size() >= cipher_block_bytes) return false;
    uint8_t wanted = 0;
    for (const uint8_t byte : reader.rest())
        if (byte != ++wanted) return false;
    return true;
}

Identity read_ed25519(WireReader reader, const std::string& shown) {
    View public_key, pair;
    require_whole(reader.string(public_key) && reader.string(pair) &&
                      public_key.size() == key_bytes && pair.size() == 2 * key_bytes &&
                      equal(pair.last(key_bytes), public_key) && ends_well(reader),
                  shown);
    return ed25519_identity(pair.first(key_bytes), shown);
}

Identity read_rsa(WireReader reader, const std::string& shown) {
    View modulus, exponent, secret, inverse, p, q;
    require_whole(reader.integer(modulus) && reader.integer(exponent) && reader.integer(secret) &&
                      reader.integer(inverse) && reader.integer(p) && reader.integer(q) &&
                      ends_well(reader) && is_plausible_rsa(modulus, exponent) && !secret.empty() &&
                      secret.size() <= modulus.size(),
                  shown);
    const RsaPublic key{{modulus.begin(), modulus.end()}, {exponent.begin(), exponent.end()}};
    require_rsa_size(key, shown);
    PrivateKey made = rsa_private_key(key, secret);
    require_whole(made != nullptr, shown);
    return rsa_identity(std::move(made), shown);
}

// Two equal numbers begin the secret part, so that a wrong passphrase shows.
bool begins_well(WireReader& reader) {
    uint32_t check = 0, again = 0;
    return reader.number(check) && reader.number(again) && check == again;
}

Identity read_secret_part(View secret, const std::string& shown) {
    View type;
    WireReader reader(secret);
    require_whole(
        secret.size() % plain_block_bytes == 0 && begins_well(reader) && reader.string(type),
        shown);
    if (is_text(type, ssh_ed25519_name)) return read_ed25519(reader, shown);
    if (is_text(type, ssh_rsa_name)) return read_rsa(reader, shown);
    throw_other_type(shown);
}

// Reads the secret part of a key whose public part was read before.
Identity read_matching(View secret, View wire, const std::string& shown) {
    Identity identity = read_secret_part(secret, shown);
    require_whole(equal(identity.wire, wire), shown);
    return identity;
}

Identity identity_of_pem(const PrivateKey& key, const std::string& shown) {
    if (const std::optional<Secret> seed = ed25519_seed_of(key.get()))
        return ed25519_identity(*seed, shown);
    return rsa_identity(key, shown);
}

struct Frame {
    View cipher, kdf, kdf_options, wire, secret, tag;
};

Frame read_frame(View bytes, const std::string& shown) {
    require_whole(bytes.size() >= magic.size() && is_text(bytes.first(magic.size()), magic), shown);
    WireReader reader(bytes.subspan(magic.size()));
    Frame frame;
    uint32_t keys = 0;
    require_whole(reader.string(frame.cipher) && reader.string(frame.kdf) &&
                      reader.string(frame.kdf_options) && reader.number(keys) && keys == 1 &&
                      reader.string(frame.wire) && reader.string(frame.secret),
                  shown);
    frame.tag = reader.rest();
    return frame;
}

}  // namespace

Identity ed25519_identity(View seed, const std::string& shown) {
    Secret pair(crypto_sign_SECRETKEYBYTES), scalar(crypto_scalarmult_SCALARBYTES);
    Octets public_key(crypto_sign_PUBLICKEYBYTES);
    if (crypto_sign_seed_keypair(public_key.data(), pair.data(), seed.data()) != 0 ||
        crypto_sign_ed25519_sk_to_curve25519(scalar.data(), pair.data()) != 0)
        throw_damaged(shown);
    return {KeyType::ssh_ed25519, std::move(scalar), ed25519_wire_form(public_key), {}, shown};
}

Identity rsa_identity(PrivateKey key, const std::string& shown) {
    const std::optional<RsaPublic> parts = rsa_public_of(key.get());
    if (!parts) throw_other_type(shown);
    require_whole(is_plausible_rsa(parts->modulus, parts->exponent), shown);
    require_rsa_size(*parts, shown);
    return {KeyType::ssh_rsa,
            {},
            rsa_wire_form(parts->modulus, parts->exponent),
            std::move(key),
            shown};
}

Identity parse_openssh_key(View bytes, const std::string& shown) {
    const Frame frame = read_frame(bytes, shown);
    if (is_text(frame.cipher, "none")) {
        require_whole(is_text(frame.kdf, "none") && frame.kdf_options.empty() && frame.tag.empty(),
                      shown);
        return read_matching(frame.secret, frame.wire, shown);
    }
    const std::optional<KeyType> type = type_of_wire(frame.wire, shown);
    if (!type) throw_other_type(shown);
    Identity locked{*type, {}, Octets(frame.wire.begin(), frame.wire.end()), {}, shown};
    locked.locked.assign(bytes.begin(), bytes.end());
    return locked;
}

std::optional<Identity> unlock_ssh_identity(const Identity& locked, View passphrase,
                                            const std::function<void()>& between) {
    const std::string& shown = locked.shown;
    const Frame frame = read_frame(locked.locked, shown);
    require_whole(frame.secret.size() % cipher_block_bytes == 0, shown);
    const std::optional<Secret> secret =
        decrypt_secret_part({frame.cipher, frame.kdf, frame.kdf_options, frame.secret, frame.tag},
                            passphrase, between, shown);
    if (!secret) return std::nullopt;
    WireReader reader(*secret);
    if (!begins_well(reader)) return std::nullopt;
    return read_matching(*secret, frame.wire, shown);
}

bool is_private_key(std::string_view text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    return line.substr(0, 11) == "-----BEGIN " && has(line, "PRIVATE KEY-----");
}

bool is_locked_pem(std::string_view content) {
    return has(content, "BEGIN ENCRYPTED PRIVATE KEY") || has(content, "Proc-Type: 4,ENCRYPTED");
}

Identity parse_ssh_identity(std::string_view content, const std::string& shown) {
    if (!is_private_key(content))
        throw Failure(ExitCode::usage,
                      cli::format("{} is PEM, but no private key: -i takes an SSH private key or "
                                  "age identities.",
                                  shown));
    require_key_file_size(content, shown);
    if (content.substr(0, openssh_begin.size()) == openssh_begin)
        return parse_openssh_key(decode_lines(content, shown), shown);
    if (is_locked_pem(content))
        throw Failure(ExitCode::unsupported,
                      cli::format("{} is an SSH key in PEM under a passphrase, which hides its "
                                  "public key too: ssh-keygen -y prints that.",
                                  shown));
    const PrivateKey key = pem_private_key(view(content), {});
    require_whole(key != nullptr, shown);
    return identity_of_pem(key, shown);
}

std::optional<Identity> unlock_pem(std::string_view content, const std::string& shown,
                                   View passphrase) {
    require_key_file_size(content, shown);
    require_bounded_work(content, shown);
    const PrivateKey key = pem_private_key(view(content), passphrase);
    if (key == nullptr) return std::nullopt;
    return identity_of_pem(key, shown);
}

}  // namespace warpseal::cli::age
