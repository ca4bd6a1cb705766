// SSH keys as recipients and identities: lines of .pub files, OpenSSH's private keys and PEM.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cli/age/keys.h"

namespace warpseal::cli::age {

// True for text that begins with the type of an SSH public key, of any kind.
bool is_ssh_public_key(std::string_view text);
// True for the first line of any PEM or OpenSSH private key.
bool is_private_key(std::string_view text);
// True for a public key of a type that age files take.
bool is_usable_ssh_key(std::string_view text);
// A line of a .pub file: its type, its base64 and perhaps a comment. Empty for a type that age
// files do not take. Throws Failure (usage or weak_key), whose text never has the line.
std::optional<Recipient> parse_ssh_recipient(std::string_view line, const std::string& shown);
// The type of an SSH public key, for messages.
std::string ssh_type_of(std::string_view text);

// True for a whole private key file in PEM that is under a passphrase.
bool is_locked_pem(std::string_view content);
// A whole private key file. One of OpenSSH's format may be locked. Throws Failure (usage,
// unsupported or weak_key), whose text never has any of the content.
Identity parse_ssh_identity(std::string_view content, const std::string& shown);
// Throws Failure (limit_exceeded) if a key in PEM asks for more than some seconds of work to be
// unlocked.
void require_bounded_work(std::string_view pem, const std::string& shown);
// A locked file in PEM. Empty for a wrong passphrase. Throws Failure as above, and limit_exceeded
// for its cost.
std::optional<Identity> unlock_pem(std::string_view content, const std::string& shown,
                                   View passphrase);
// Unlocks a key of OpenSSH's format. Empty for a wrong passphrase. `between` is called every few
// milliseconds, and may throw. Throws Failure: usage for a damaged key, unsupported for its cipher
// or key derivation, limit_exceeded for its cost.
std::optional<Identity> unlock_ssh_identity(const Identity& locked, View passphrase,
                                            const std::function<void()>& between);
// Without a comment. `wire` is the key's wire form.
std::string ssh_recipient_text(View wire);

// Parts of the above. The type of a wire form is empty for any other key and for malformed ones.
// Throw Failure, also for RSA keys that are too small or too large.
std::optional<KeyType> type_of_wire(View wire, const std::string& shown);
std::optional<RsaPublic> rsa_of_wire(View wire);
void require_rsa_size(const RsaPublic& key, const std::string& shown);
Identity ed25519_identity(View seed, const std::string& shown);
Identity rsa_identity(PrivateKey key, const std::string& shown);
// OpenSSH's format after base64 (PROTOCOL.key of OpenSSH).
Identity parse_openssh_key(View bytes, const std::string& shown);
// The encrypted part of such a key. The tag is that of an authenticating cipher, or empty.
struct LockedPart {
    View cipher, kdf, kdf_options, secret, tag;
};
// Empty if its tag shows a wrong passphrase. Throws Failure as unlock_ssh_identity does.
std::optional<Secret> decrypt_secret_part(const LockedPart& part, View passphrase,
                                          const std::function<void()>& between,
                                          const std::string& shown);

}  // namespace warpseal::cli::age
