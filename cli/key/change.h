// `warpseal key add`, `remove`, `passwd` and `rotate`: change the key slots of sealed files in
// place.
#pragma once

#include "cli/age/age.h"
#include "cli/many/choice.h"
#include "cli/support/command.h"
#include "cli/support/secrets.h"

namespace warpseal::cli {

enum class KeyTask { add, remove, passwd, rotate };

struct KeyChoice {
    ManyChoice many;
    SecretChoice old;    // opens the files
    SecretChoice fresh;  // --new-…, --to
    AgeChoice age;       // -i and -j open the files; -r and -R are new
    uint32_t argon2_memory_mib = 0;
    uint32_t argon2_passes = 0;
    uint32_t slot = 0;  // from 1
};

// Changes one file after the other and stops at the first failure, which names the files that were
// not changed; with --keep-going it stops at none. Throws Failure.
ExitCode change_keys(KeyTask task, const KeyChoice& choice, Session& session);

}  // namespace warpseal::cli
