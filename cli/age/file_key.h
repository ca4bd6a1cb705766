// The file key of an age file: by identities, locked ones included, by plugins and by passphrases.
#pragma once

#include <vector>

#include "cli/age/age.h"
#include "cli/age/format/header.h"
#include "cli/age/keys.h"
#include "cli/age/payload/source.h"

namespace warpseal::cli::age {

struct Identities {
    std::vector<Identity> open;  // some of them may be locked SSH keys
    std::vector<LockedFile> locked;
};
// Reads what -i and -j name. Throws Failure.
Identities read_identities(const AgeChoice& choice);

// age takes that work too, but many machines do not have the memory.
void say_if_costly(const Stanza& scrypt, const Session& session);
// Throws Failure (not_authentic).
void require_mac(const Header& header, View file_key);
// Asks for a passphrase if the file opens with one, or if nothing but a locked identity opens it.
// Throws Failure.
Secret file_key_of(const Header& header, const FileChoice& file, const AgeChoice& choice,
                   const Identities& identities, Session& session);
// Reads the payload's nonce, which follows the header. Throws Failure.
Secret payload_key(View file_key, BufferedSource& source);

}  // namespace warpseal::cli::age
