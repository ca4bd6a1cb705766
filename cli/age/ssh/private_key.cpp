// SSH private keys: OpenSSH's format, and PEM by libcrypto. Errors never have any of the content.
#include <fmt/core.h>
#include <sodium.h>

#include "cli/age/crypto.h"
#include "cli/age/ssh/keys.h"
#include "cli/age/ssh/wire.h"
#include "cli/support/command.h"

namespace warpseal::cli::age {
namespace {

constexpr size_t max_key_file_bytes = 16 << 10;
constexpr std::string_view openssh_begin = "-----BEGIN OPENSSH PRIVATE KEY-----";
constexpr std::string_view openssh_end = "-----END OPENSSH PRIVATE KEY-----";
constexpr std::string_view magic("openssh-key-v1\0", 15);
constexpr size_t plain_block_bytes = 8;  // of a secret part that is not encrypted

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

[[noreturn]] void throw_damaged(const std::string& shown) {
    throw Failure(
        ExitCode::usage,
        fmt::format("{} is a private key that is cut or damaged: take it from a backup.", shown));
}

[[noreturn]] void throw_other_type(const std::string& shown) {
    throw Failure(ExitCode::unsupported,
                  fmt::format("{} is a private key of another type: use an ssh-ed25519 or ssh-rsa "
                              "key, or an age identity.",
                              shown));
}

void require_whole(bool whole, const std::string& shown) {
    if (!whole) throw_damaged(shown);
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
    if (!reader.string(comment) || reader.rest().size() >= plain_block_bytes) return false;
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

Identity read_secret_part(View secret, const std::string& shown) {
    uint32_t check = 0, again = 0;
    View type;
    WireReader reader(secret);
    require_whole(secret.size() % plain_block_bytes == 0 && reader.number(check) &&
                      reader.number(again) && check == again && reader.string(type),
                  shown);
    if (is_text(type, ssh_ed25519_name)) return read_ed25519(reader, shown);
    if (is_text(type, ssh_rsa_name)) return read_rsa(reader, shown);
    throw_other_type(shown);
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

Identity locked_identity(View wire, const std::string& shown) {
    const std::optional<KeyType> type = type_of_wire(wire, shown);
    if (!type) throw_other_type(shown);
    return {*type, {}, Octets(wire.begin(), wire.end()), {}, shown};
}

Identity parse_openssh_key(View bytes, const std::string& shown) {
    require_whole(bytes.size() >= magic.size() && is_text(bytes.first(magic.size()), magic), shown);
    WireReader reader(bytes.subspan(magic.size()));
    View cipher, kdf, kdf_options, wire, secret;
    uint32_t keys = 0;
    require_whole(reader.string(cipher) && reader.string(kdf) && reader.string(kdf_options) &&
                      reader.number(keys) && keys == 1 && reader.string(wire) &&
                      reader.string(secret),
                  shown);
    // An authenticating cipher puts its tag after the secret part.
    if (!is_text(cipher, "none")) return locked_identity(wire, shown);
    require_whole(is_text(kdf, "none") && kdf_options.empty() && reader.rest().empty(), shown);
    Identity identity = read_secret_part(secret, shown);
    require_whole(equal(identity.wire, wire), shown);
    return identity;
}

bool is_private_key(std::string_view text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    return line.substr(0, 11) == "-----BEGIN " && has(line, "PRIVATE KEY-----");
}

Identity parse_ssh_identity(std::string_view content, const std::string& shown) {
    if (!is_private_key(content))
        throw Failure(ExitCode::usage,
                      fmt::format("{} is PEM, but no private key: -i takes an SSH private key or "
                                  "age identities.",
                                  shown));
    if (content.size() > max_key_file_bytes)
        throw Failure(ExitCode::limit_exceeded,
                      fmt::format("{} has more than {}.", shown, human_bytes(max_key_file_bytes)));
    if (content.substr(0, openssh_begin.size()) == openssh_begin)
        return parse_openssh_key(decode_lines(content, shown), shown);
    if (has(content, "BEGIN ENCRYPTED PRIVATE KEY") || has(content, "Proc-Type: 4,ENCRYPTED"))
        throw_locked(shown);
    const PrivateKey key = pem_private_key(view(content));
    require_whole(key != nullptr, shown);
    if (const std::optional<Secret> seed = ed25519_seed_of(key.get()))
        return ed25519_identity(*seed, shown);
    return rsa_identity(key, shown);
}

void throw_locked(const std::string& shown) {
    throw Failure(ExitCode::unsupported,
                  fmt::format("{} is an SSH key under a passphrase, which is not supported: copy "
                              "it to a private file, run `ssh-keygen -p -N '' -f COPY`, and give "
                              "the copy.",
                              shown));
}

}  // namespace warpseal::cli::age
