// Stanzas ssh-ed25519 and ssh-rsa: a file key wrapped for an SSH key.
#pragma once

#include <optional>

#include "cli/age/format/header.h"
#include "cli/age/keys.h"

namespace warpseal::cli::age {

// Throws Failure (usage) for a key that libcrypto or libsodium refuses.
Stanza wrap_ssh(const Recipient& recipient, View file_key);
// Checks the form of a stanza if its type is one of these. Throws Failure.
void check_ssh_stanza(const Stanza& stanza);
// True if the stanza names the SSH key, which may be locked. Two keys may have one name.
bool is_for_ssh(const Identity& identity, const Stanza& stanza);
// Empty if the stanza is for another key or does not verify, and for a locked key. Throws Failure
// for a share of low order and a body of another size than the key's.
std::optional<Secret> unwrap_ssh(const Identity& identity, const Stanza& stanza);

}  // namespace warpseal::cli::age
