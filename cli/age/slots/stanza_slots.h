// Slots of Warpseal files that hold a stanza of an SSH key or of a plugin (docs/file-format.md).
#pragma once

#include <memory>
#include <vector>

#include "cli/age/format/stanza.h"
#include "cli/age/keys.h"
#include "cli/support/secrets.h"

namespace warpseal::cli::age {

// Wraps one new file key for the SSH keys and plugins among the recipients: secrets for new slots.
// Throws Failure.
std::vector<std::shared_ptr<const SecretBytes>> stanza_secrets(
    const std::vector<Recipient>& recipients);
// The stanzas in the slots of a file, whose position stays. Empty for streams, and for what is no
// Warpseal file. Nothing in them is authenticated. Throws Failure.
std::vector<Stanza> stanzas_of_slots(int input);
std::shared_ptr<const SecretBytes> secret_bytes_of(View bytes);

}  // namespace warpseal::cli::age
