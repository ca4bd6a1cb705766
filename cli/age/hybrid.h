// Recipients of ML-KEM-768 with X25519, by the library.
#pragma once

#include <optional>

#include "cli/age/format/bytes.h"
#include "cli/support/command.h"

namespace warpseal::cli::age {

class Hybrid {
public:
    // The engine is created by the first call that needs it.
    Hybrid(const EngineChoice& choice, Session& session) : choice_(choice), session_(session) {}

    struct Wrapped {
        Octets ciphertext, body;
    };
    // Empty for a public key that is refused.
    std::optional<Wrapped> wrap(View public_key, View file_key);
    enum class Outcome { opened, no_match, bad_ciphertext };
    Outcome unwrap(View seed, View ciphertext, View body, Secret& file_key);
    Octets public_key(View seed);
    // Public key of NTRU with X25519, a type that our own files have.
    Octets ntru_public_key(View seed);

private:
    warpseal_engine* engine();
    const EngineChoice& choice_;
    Session& session_;
    EngineHandle engine_;
};

}  // namespace warpseal::cli::age
