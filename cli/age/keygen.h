// Identity files of age, as `warpseal keygen --age` writes them.
#pragma once

#include <string>

#include "cli/support/command.h"

namespace warpseal::cli {

// X25519, ML-KEM-768 with X25519, or NTRU with X25519, which Warpseal files alone have.
enum class IdentityKind { x25519, post_quantum, ntru };

// Writes a new identity to a private file that does not exist yet. Throws Failure.
ExitCode run_age_keygen(const std::string& path, IdentityKind kind, Session& session);
// Prints the recipients of an identity file. Throws Failure.
ExitCode print_age_recipients(const std::string& path, Session& session);

}  // namespace warpseal::cli
