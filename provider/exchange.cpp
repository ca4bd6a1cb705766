// Operations of NTRU by the context's engine.
#include "provider/exchange.h"

#include "warpseal/kem.h"

namespace warpseal::provider {
namespace {

using Operation = warpseal_status (*)(warpseal_engine*, const char*, const warpseal_kem_batch*);

bool run(const Context& context, const Set& set, Operation operation, warpseal_kem_batch& batch) {
    warpseal_engine* const engine = context.engine();
    if (engine == nullptr) return false;
    batch.struct_bytes = sizeof batch;
    batch.count = 1;
    batch.public_key_stride = set.public_key_bytes();
    batch.secret_key_stride = set.secret_key_bytes();
    batch.ciphertext_stride = set.ciphertext_bytes();
    batch.shared_secret_stride = ntru_secret_bytes;
    const warpseal_status status = operation(engine, set.name, &batch);
    if (status == WARPSEAL_OK) return true;
    raise(context, status);
    return false;
}

}  // namespace

bool make_keypair(const Context& context, const Set& set, std::span<uint8_t> public_key, std::span<uint8_t> secret_key) {
    warpseal_kem_batch batch{};
    batch.public_keys = public_key.data();
    batch.secret_keys = secret_key.data();
    return run(context, set, warpseal_kem_keypair, batch);
}

bool encapsulate(const Context& context, const Set& set, std::span<const uint8_t> public_key, std::span<uint8_t> ciphertext,
                 std::span<uint8_t> secret) {
    warpseal_kem_batch batch{};
    batch.public_keys = const_cast<uint8_t*>(public_key.data());
    batch.ciphertexts = ciphertext.data();
    batch.shared_secrets = secret.data();
    return run(context, set, warpseal_kem_encapsulate, batch);
}

bool decapsulate(const Context& context, const Set& set, std::span<const uint8_t> secret_key, std::span<const uint8_t> ciphertext,
                 std::span<uint8_t> secret) {
    warpseal_kem_batch batch{};
    batch.secret_keys = const_cast<uint8_t*>(secret_key.data());
    batch.ciphertexts = const_cast<uint8_t*>(ciphertext.data());
    batch.shared_secrets = secret.data();
    return run(context, set, warpseal_kem_decapsulate, batch);
}

}  // namespace warpseal::provider
