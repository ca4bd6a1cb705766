// Wraps file keys by the library, which has the same recipients for its own files.
#include "cli/age/hybrid.h"

#include "c_api/internal.h"
#include "cli/age/crypto.h"
#include "cli/age/keys.h"
#include "cli/support/format.h"

namespace warpseal::cli::age {
namespace {

void require(warpseal_status status) {
    if (status != WARPSEAL_OK)
        throw Failure(exit_code_of(status),
                      cli::format("mlkem768x25519 failed: {}.", warpseal_status_text(status)));
}

}  // namespace

warpseal_engine* Hybrid::engine() {
    if (!engine_) {
        EngineChoice cores = choice_;
        cores.device = "cpu";  // A GPU is slower for one operation.
        engine_ = create_engine(cores, session_);
    }
    return engine_.get();
}

std::optional<Hybrid::Wrapped> Hybrid::wrap(View public_key, View file_key) {
    Wrapped wrapped;
    wrapped.ciphertext.resize(hybrid_ciphertext_bytes);
    wrapped.body.resize(file_key_bytes + tag_bytes);
    const warpseal_status status =
        warpseal_internal_hybrid_wrap(engine(), public_key.data(), file_key.data(),
                                      wrapped.ciphertext.data(), wrapped.body.data());
    if (status == WARPSEAL_INVALID_ARGUMENT) return std::nullopt;
    require(status);
    return wrapped;
}

Hybrid::Outcome Hybrid::unwrap(View seed, View ciphertext, View body, Secret& file_key) {
    file_key.resize(file_key_bytes);
    const warpseal_status status = warpseal_internal_hybrid_unwrap(
        engine(), seed.data(), ciphertext.data(), body.data(), file_key.data());
    if (status == WARPSEAL_NOT_AUTHENTIC) return Outcome::bad_ciphertext;
    if (status == WARPSEAL_WRONG_KEY) return Outcome::no_match;
    require(status);
    return Outcome::opened;
}

Octets Hybrid::ntru_public_key(View seed) {
    Octets key(ntru_public_key_bytes);
    require(warpseal_internal_ntru_public_key(engine(), seed.data(), key.data()));
    return key;
}

Octets Hybrid::public_key(View seed) {
    Octets key(hybrid_public_key_bytes);
    require(warpseal_internal_hybrid_public_key(engine(), seed.data(), key.data()));
    return key;
}

}  // namespace warpseal::cli::age
