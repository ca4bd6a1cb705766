// The recipients that -r, -R and -j name.
#pragma once

#include "cli/age/age.h"
#include "cli/age/keys.h"

namespace warpseal::cli::age {

// Throws Failure for a text that is none, and for a mixture of post-quantum and classical ones.
std::vector<Recipient> read_recipients(const AgeChoice& choice, const Session& session);

}  // namespace warpseal::cli::age
