// SSH keys and plugins as recipients of Warpseal files, in key slots that hold a stanza.
#pragma once

#include <vector>

#include "cli/age/keys.h"
#include "cli/support/secrets.h"

namespace warpseal::cli::age {

// Wraps one new file key for the SSH keys and plugins among the recipients, and makes a secret for
// each new slot. Asks each plugin once. Throws Failure.
std::vector<MadeSecret> slot_secrets(const std::vector<Recipient>& recipients);

}  // namespace warpseal::cli::age
