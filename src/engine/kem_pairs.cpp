// Places lie anywhere, batches side by side: keys are copied between them, through work space that is wiped.
#include "engine/kem_pairs.h"

#include <cstring>
#include <new>

#include "core/secret.h"
#include "engine/inside.h"

namespace warpseal {
namespace {

// The word that tells of a fork, before the keys.
constexpr size_t head_bytes = 64;

warpseal_kem_batch batch_of(uint64_t count) {
    warpseal_kem_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.count = count;
    return batch;
}

}  // namespace

bool HostPairs::allocate(uint64_t pairs) {
    // Below 2^32 pairs of less than 2^12 bytes.
    if (!memory_.allocate(head_bytes + pairs * set_.secret_key_bytes(), SecretMemory::AfterFork::wiped)) return false;
    publics_.reset(new (std::nothrow) uint8_t[pairs * set_.public_key_bytes()]);
    if (publics_ == nullptr) return false;
    auto* const begin = static_cast<uint8_t*>(memory_.data());
    *begin = 1;
    alive_ = begin;
    secrets_ = begin + head_bytes;
    return true;
}

warpseal_status HostPairs::make(const uint32_t* places, size_t count) noexcept try {
    const size_t pk = set_.public_key_bytes(), sk = set_.secret_key_bytes();
    const Workspaces::Lease lease = engine_.inside().kem.workspaces.lease(count * (pk + sk));
    if (!lease) return WARPSEAL_OUT_OF_MEMORY;
    warpseal_kem_batch batch = batch_of(count);
    batch.secret_keys = static_cast<uint8_t*>(lease.data());
    batch.secret_key_stride = sk;
    batch.public_keys = batch.secret_keys + count * sk;
    batch.public_key_stride = pk;
    const warpseal_status status = engine_.kem(KemOperation::keypair, set_.name, batch, random_);
    if (status != WARPSEAL_OK) return status;
    for (size_t i = 0; i < count; ++i) {
        std::memcpy(secret_key(places[i]), batch.secret_keys + i * sk, sk);
        std::memcpy(public_key(places[i]), batch.public_keys + i * pk, pk);
    }
    return WARPSEAL_OK;
} catch (const std::bad_alloc&) {
    return WARPSEAL_OUT_OF_MEMORY;
}

void HostPairs::give(const uint32_t* places, size_t count, const PooledPublics& out) const {
    for (size_t i = 0; i < count; ++i) std::memcpy(out.at + i * out.stride, public_key(places[i]), set_.public_key_bytes());
}

warpseal_status HostPairs::decapsulate(const uint32_t* places, size_t count, const PooledTexts& texts) noexcept try {
    const size_t sk = set_.secret_key_bytes();
    const Workspaces::Lease lease = engine_.inside().kem.workspaces.lease(count * sk);
    if (!lease) return WARPSEAL_OUT_OF_MEMORY;
    warpseal_kem_batch batch = batch_of(count);
    batch.secret_keys = static_cast<uint8_t*>(lease.data());
    batch.secret_key_stride = sk;
    batch.ciphertexts = const_cast<uint8_t*>(texts.ciphertexts);  // which decapsulation reads
    batch.ciphertext_stride = texts.ciphertext_stride;
    batch.shared_secrets = texts.shared_secrets;
    batch.shared_secret_stride = texts.shared_secret_stride;
    for (size_t i = 0; i < count; ++i)
        if (places[i] != nowhere) std::memcpy(batch.secret_keys + i * sk, secret_key(places[i]), sk);
    return engine_.kem(KemOperation::decapsulate, set_.name, batch, random_);
} catch (const std::bad_alloc&) {
    return WARPSEAL_OUT_OF_MEMORY;
}

void HostPairs::wipe(const uint32_t* places, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (places[i] != nowhere) warpseal::wipe(secret_key(places[i]), set_.secret_key_bytes());
}

}  // namespace warpseal
