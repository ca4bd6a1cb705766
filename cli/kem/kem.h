// Declarations shared by the commands of `warpseal kem`.
#pragma once

#include <string>

#include "cli/support/command.h"
#include "cli/support/progress.h"

namespace warpseal::cli {

// Options of the commands that compute; a name that a command does not use is empty.
struct KemChoice {
    std::string set, public_key, secret_key, ciphertext, shared_secret;
    uint64_t count = 1;
    bool count_given = false;
    bool force = false;
    EngineChoice engine;
    Progress::Style progress = Progress::Style::automatic;
};
ExitCode run_kem_keygen(const KemChoice& choice, Session& session);
ExitCode run_kem_encapsulate(const KemChoice& choice, Session& session);
ExitCode run_kem_decapsulate(const KemChoice& choice, Session& session);

}  // namespace warpseal::cli
