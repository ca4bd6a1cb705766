// Key schedule of HPKE for KEM 0x647a, HKDF-SHA256 and ChaCha20-Poly1305, for one message.
#include "cli/age/hybrid.h"

#include <fmt/core.h>

#include "cli/age/crypto.h"
#include "cli/age/keys.h"
#include "warpseal/kem.h"

namespace warpseal::cli::age {
namespace {

constexpr char set_name[] = "x-wing";
constexpr std::string_view info = "age-encryption.org/mlkem768x25519";
constexpr std::string_view suite("HPKE\x64\x7a\x00\x01\x00\x03", 10);
constexpr std::string_view hpke_version = "HPKE-v1";

Secret labeled_extract(std::string_view label, View input) {
    Secret labeled;
    labeled.reserve(hpke_version.size() + suite.size() + label.size() + input.size());
    append(labeled, view(hpke_version));
    append(labeled, view(suite));
    append(labeled, view(label));
    append(labeled, input);
    return hmac_sha256({}, labeled);
}

Secret labeled_expand(View key, std::string_view label, View context, size_t bytes) {
    Secret labeled{0, static_cast<uint8_t>(bytes)};
    append(labeled, view(hpke_version));
    append(labeled, view(suite));
    append(labeled, view(label));
    append(labeled, context);
    return hkdf_expand(key, labeled, bytes);
}

struct MessageKey {
    Secret key, nonce;
};
MessageKey key_schedule(View shared_secret) {
    Secret context{0};  // base mode
    append(context, labeled_extract("psk_id_hash", {}));
    append(context, labeled_extract("info_hash", view(info)));
    Secret labeled;
    append(labeled, view(hpke_version));
    append(labeled, view(suite));
    append(labeled, view("secret"));
    // The pre-shared key is empty, and the salt is the shared secret.
    const Secret secret = hmac_sha256(shared_secret, labeled);
    return {labeled_expand(secret, "key", context, key_bytes),
            labeled_expand(secret, "base_nonce", context, aead_nonce_bytes)};
}

warpseal_kem_batch one_item() {
    warpseal_kem_batch batch{};
    batch.struct_bytes = sizeof batch;
    batch.count = 1;
    return batch;
}

// The library writes only outputs, so that inputs stay unchanged.
uint8_t* input(View bytes) { return const_cast<uint8_t*>(bytes.data()); }

void require(warpseal_status status) {
    if (status != WARPSEAL_OK)
        throw Failure(exit_code_of(status),
                      fmt::format("{} failed: {}.", set_name, warpseal_status_text(status)));
}

}  // namespace

warpseal_engine* Hybrid::engine() {
    if (!engine_) {
        EngineChoice cores = choice_;
        cores.device = "cpu";  // The set has no GPU code.
        engine_ = create_engine(cores, session_);
    }
    return engine_.get();
}

std::optional<Hybrid::Wrapped> Hybrid::wrap(View public_key, View file_key) {
    Wrapped wrapped;
    wrapped.ciphertext.resize(hybrid_ciphertext_bytes);
    Secret shared_secret(key_bytes);
    warpseal_kem_batch batch = one_item();
    batch.public_keys = input(public_key);
    batch.ciphertexts = wrapped.ciphertext.data();
    batch.shared_secrets = shared_secret.data();
    const warpseal_status status = warpseal_kem_encapsulate(engine(), set_name, &batch);
    if (status == WARPSEAL_INVALID_ARGUMENT) return std::nullopt;
    require(status);
    const MessageKey message = key_schedule(shared_secret);
    wrapped.body = wrap_file_key(message.key, file_key, message.nonce);
    return wrapped;
}

Hybrid::Outcome Hybrid::unwrap(View seed, View ciphertext, View body, Secret& file_key) {
    Secret shared_secret(key_bytes);
    warpseal_kem_batch batch = one_item();
    batch.secret_keys = input(seed);
    batch.ciphertexts = input(ciphertext);
    batch.shared_secrets = shared_secret.data();
    const warpseal_status status = warpseal_kem_decapsulate(engine(), set_name, &batch);
    if (status == WARPSEAL_INVALID_ARGUMENT) return Outcome::bad_ciphertext;
    require(status);
    const MessageKey message = key_schedule(shared_secret);
    std::optional<Secret> found = unwrap_file_key(message.key, body, message.nonce);
    if (!found) return Outcome::no_match;
    file_key = std::move(*found);
    return Outcome::opened;
}

Octets Hybrid::public_key(View seed) {
    Octets key(hybrid_public_key_bytes);
    Secret secret_key(key_bytes);
    warpseal_kem_batch batch = one_item();
    batch.public_keys = key.data();
    batch.secret_keys = secret_key.data();
    batch.coins = seed.data();
    require(warpseal_kem_keypair(engine(), set_name, &batch));
    return key;
}

}  // namespace warpseal::cli::age
