// Recipients and identities of age: their text, and the files that hold them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/age/format/bytes.h"
#include "cli/age/ssh/rsa.h"
#include "cli/support/command.h"

namespace warpseal::cli::age {

// hybrid: ML-KEM-768 with X25519. ntru: NTRU with X25519, of Warpseal files alone. plugin: the key
// is the text, which a plugin understands.
enum class KeyType { x25519, hybrid, ntru, ssh_ed25519, ssh_rsa, plugin };

inline bool is_post_quantum(KeyType type) {
    return type == KeyType::hybrid || type == KeyType::ntru;
}

inline bool is_ssh(KeyType type) {
    return type == KeyType::ssh_ed25519 || type == KeyType::ssh_rsa;
}

constexpr size_t hybrid_public_key_bytes = 1216;
constexpr size_t hybrid_ciphertext_bytes = 1120;
constexpr size_t ntru_public_key_bytes = 1262;

struct Recipient {
    KeyType type;
    Octets key;         // of SSH keys, the wire form
    std::string shown;  // for messages
};
struct Identity {
    // True for an SSH key under a passphrase, of which only the public part is known.
    bool is_locked() const { return key.empty() && !rsa; }
    KeyType type;
    Secret key;  // of ssh-ed25519, the scalar; empty for ssh-rsa
    // SSH keys: the public key's wire form, the RSA key, and the place for messages.
    Octets wire = {};
    PrivateKey rsa = {};
    std::string shown = {};
    Secret locked = {};  // a locked key as its file has it, without base64
};

// `shown` says where the text is from. Throws Failure (usage or unsupported), whose text never has
// the text itself.
Recipient parse_recipient(std::string_view text, const std::string& shown);
// Appends the recipients of a file, one a line. Skips SSH keys of other types with a remark.
void read_recipient_file(const std::string& path, std::vector<Recipient>& to,
                         const Session& session);
// An identity file that is itself an age file, or an SSH key in PEM under a passphrase.
struct LockedFile {
    std::string shown;  // for messages
    Secret content;
    bool is_pem = false;
};
// Appends the identities of a private file or of standard input ("-"), one a line. A locked one is
// appended to `locked`, or refused if that is null.
void read_identity_file(const std::string& path, std::vector<Identity>& to,
                        std::vector<LockedFile>* locked);
void parse_identities(const Secret& content, const std::string& shown, std::vector<Identity>& to);

std::string recipient_text(KeyType type, View public_key);
// In a vector that is zeroized; ends without a new line.
Secret identity_text(KeyType type, View secret_key);

}  // namespace warpseal::cli::age
