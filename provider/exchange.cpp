// Operations of the sets through the context's batcher, which combines the requests of many
// connections.
#include "provider/exchange.h"

#include <openssl/async.h>

#include "provider/pause.h"
#include "provider/stack.h"
#include "warpseal/batcher.h"

namespace warpseal::provider {
namespace {

bool run(const Context& context, const Set& set, warpseal_kem_request& request) {
    warpseal_kem_batcher* const batcher = context.batcher();
    if (batcher == nullptr) return false;
    request.struct_bytes = sizeof request;
    request.set = set.name;
    warpseal_status status = WARPSEAL_LIMIT_EXCEEDED;
    if (ASYNC_JOB* const job = ASYNC_get_current_job())
        status = run_paused(batcher, set, request, ASYNC_get_wait_ctx(job));
    if (status == WARPSEAL_LIMIT_EXCEEDED &&
        !with_stack([&]() noexcept { status = warpseal_kem_batcher_run(batcher, &request); }))
        status = WARPSEAL_OUT_OF_MEMORY;
    if (status == WARPSEAL_OK) return true;
    raise(context, status);
    return false;
}

bool run_prepared(const Context& context, decltype(&warpseal_kem_key_encapsulate) call,
                  const warpseal_kem_key* key, const uint8_t* ciphertext,
                  std::span<uint8_t> secret) {
    warpseal_kem_batch batch{};
    batch.struct_bytes = sizeof batch;
    batch.count = 1;
    batch.ciphertexts = const_cast<uint8_t*>(ciphertext);  // written by an encapsulation alone
    batch.shared_secrets = secret.data();
    warpseal_status status = WARPSEAL_OUT_OF_MEMORY;
    (void)with_stack([&]() noexcept { status = call(key, &batch); });
    if (status == WARPSEAL_OK) return true;
    raise(context, status);
    return false;
}

}  // namespace

bool make_keypair(const Context& context, const Set& set, std::span<uint8_t> public_key,
                  std::span<uint8_t> secret_key) {
    warpseal_kem_request request{};
    request.operation = WARPSEAL_KEM_KEYPAIR;
    request.public_key = public_key.data();
    request.secret_key = secret_key.data();
    return run(context, set, request);
}

bool make_keypair_of(const Context& context, const Set& set, std::span<const uint8_t> seed,
                     std::span<uint8_t> public_key, std::span<uint8_t> secret_key) {
    warpseal_engine* const engine = context.engine();
    if (engine == nullptr) return false;
    warpseal_kem_batch batch{};
    batch.struct_bytes = sizeof batch;
    batch.count = 1;
    batch.public_keys = public_key.data();
    batch.secret_keys = secret_key.data();
    batch.coins = seed.data();
    warpseal_status status = WARPSEAL_OUT_OF_MEMORY;
    (void)with_stack([&]() noexcept { status = warpseal_kem_keypair(engine, set.name, &batch); });
    if (status == WARPSEAL_OK) return true;
    raise(context, status);
    return false;
}

bool encapsulate(const Context& context, const Set& set, std::span<const uint8_t> public_key,
                 std::span<uint8_t> ciphertext, std::span<uint8_t> secret) {
    warpseal_kem_request request{};
    request.operation = WARPSEAL_KEM_ENCAPSULATE;
    request.public_key = const_cast<uint8_t*>(public_key.data());
    request.ciphertext = ciphertext.data();
    request.shared_secret = secret.data();
    return run(context, set, request);
}

bool decapsulate(const Context& context, const Set& set, std::span<const uint8_t> secret_key,
                 std::span<const uint8_t> ciphertext, std::span<uint8_t> secret) {
    warpseal_kem_request request{};
    request.operation = WARPSEAL_KEM_DECAPSULATE;
    request.secret_key = const_cast<uint8_t*>(secret_key.data());
    request.ciphertext = const_cast<uint8_t*>(ciphertext.data());
    request.shared_secret = secret.data();
    return run(context, set, request);
}

bool encapsulate(const Context& context, const warpseal_kem_key* key, std::span<uint8_t> ciphertext,
                 std::span<uint8_t> secret) {
    return run_prepared(context, warpseal_kem_key_encapsulate, key, ciphertext.data(), secret);
}

bool decapsulate(const Context& context, const warpseal_kem_key* key,
                 std::span<const uint8_t> ciphertext, std::span<uint8_t> secret) {
    return run_prepared(context, warpseal_kem_key_decapsulate, key, ciphertext.data(), secret);
}

}  // namespace warpseal::provider
