// SSH keys and plugins as recipients of Warpseal files, in key slots that hold a stanza.
#pragma once

#include <vector>

#include "cli/age/keys.h"
#include "cli/support/secrets.h"

namespace warpseal::cli::age {

// Makes a secret for the slot of each SSH key among the recipients, and of each plugin, which wraps
// for all its recipients at once. Each slot has a file key of its own. Throws Failure.
std::vector<MadeSecret> slot_secrets(const std::vector<Recipient>& recipients);

}  // namespace warpseal::cli::age
