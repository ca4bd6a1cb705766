// Key store in host memory. Keys are copied between scattered slots and contiguous batches, through
// a workspace that is zeroized.
#include "engine/kem/key_pool/key_store.h"

#include <atomic>
#include <cstring>
#include <new>
#include <vector>

#include "core/secret.h"
#include "engine/engine_impl.h"
#include "platform/secret_memory.h"

namespace warpseal {

bool KemKeyStore::allocate_publics(uint64_t pairs) {
    publics_.reset(new (std::nothrow) uint8_t[pairs * set_.public_key_bytes()]);
    return publics_ != nullptr;
}

void KemKeyStore::store_publics(const uint32_t* slots, size_t count, const uint8_t* contiguous) {
    const size_t bytes = set_.public_key_bytes();
    for (size_t i = 0; i < count; ++i)
        std::memcpy(publics_.get() + slots[i] * bytes, contiguous + i * bytes, bytes);
}

void KemKeyStore::copy_publics(const uint32_t* slots, size_t count,
                               const PooledPublics& out) const {
    const size_t bytes = set_.public_key_bytes();
    for (size_t i = 0; i < count; ++i)
        std::memcpy(out.at + i * out.stride, publics_.get() + slots[i] * bytes, bytes);
}

namespace {

class HostKeyStore final : public KemKeyStore {
public:
    HostKeyStore(Engine& engine, const KemSet& set, Engine::RandomSource random)
        : KemKeyStore(set), engine_(engine), random_(random) {}

    bool allocate(uint64_t pairs) {
        // No overflow: fewer than 2^32 pairs of less than 2^12 bytes.
        if (!memory_.allocate(head_bytes + pairs * set_.secret_key_bytes(),
                              SecretMemory::AfterFork::wiped))
            return false;
        *static_cast<uint8_t*>(memory_.data()) = 1;
        return allocate_publics(pairs);
    }

    bool alive() const override { return *static_cast<const uint8_t*>(memory_.data()) != 0; }

    size_t max_slots_per_call() const override {
        return max_slots_per_call_.load(std::memory_order_relaxed);
    }

    warpseal_status make(const uint32_t* slots, size_t count) noexcept override try {
        const size_t pk = set_.public_key_bytes(), sk = set_.secret_key_bytes();
        const Workspaces::Lease lease = engine_.impl().kem.workspaces.lease(count * (pk + sk));
        if (!lease) return WARPSEAL_OUT_OF_MEMORY;
        warpseal_kem_batch batch = batch_of(count);
        batch.secret_keys = static_cast<uint8_t*>(lease.data());
        batch.secret_key_stride = sk;
        batch.public_keys = batch.secret_keys + count * sk;
        batch.public_key_stride = pk;
        const warpseal_status status =
            engine_.kem(KemOperation::keypair, set_.name, batch, random_);
        // Checked here and not under the pool's lock, because the engine may notify the caller of a
        // loss.
        const bool gpus = engine_.impl().cuda_allowed && engine_.impl().gpus.possible();
        max_slots_per_call_.store(gpus ? slots_per_call_limit : enough_for_cores,
                                  std::memory_order_relaxed);
        if (status != WARPSEAL_OK) return status;
        for (size_t i = 0; i < count; ++i)
            std::memcpy(secret_key(slots[i]), batch.secret_keys + i * sk, sk);
        store_publics(slots, count, batch.public_keys);
        return WARPSEAL_OK;
    } catch (...) {  // out of memory: nothing else throws
        return WARPSEAL_OUT_OF_MEMORY;
    }

    warpseal_status decapsulate(const uint32_t* slots, size_t count, const PooledTexts& texts,
                                int32_t* statuses) noexcept override try {
        const size_t sk = set_.secret_key_bytes();
        const Workspaces::Lease lease = engine_.impl().kem.workspaces.lease(count * sk);
        if (!lease) return WARPSEAL_OUT_OF_MEMORY;
        warpseal_kem_batch batch = batch_of(count);
        batch.secret_keys = static_cast<uint8_t*>(lease.data());
        batch.secret_key_stride = sk;
        batch.ciphertexts = const_cast<uint8_t*>(texts.ciphertexts);  // read-only in decapsulation
        batch.ciphertext_stride = texts.ciphertext_stride;
        batch.shared_secrets = texts.shared_secrets;
        batch.shared_secret_stride = texts.shared_secret_stride;
        for (size_t i = 0; i < count; ++i)
            if (slots[i] != no_slot)
                std::memcpy(batch.secret_keys + i * sk, secret_key(slots[i]), sk);
        std::fill_n(statuses, count, WARPSEAL_INVALID_ARGUMENT);
        batch.statuses = statuses;
        const warpseal_status status =
            engine_.kem(KemOperation::decapsulate, set_.name, batch, random_);
        return status == WARPSEAL_INVALID_ARGUMENT ? WARPSEAL_OK : status;
    } catch (...) {  // out of memory: nothing else throws
        return WARPSEAL_OUT_OF_MEMORY;
    }

    warpseal_status wipe(const uint32_t* slots, size_t count) noexcept override {
        for (size_t i = 0; i < count; ++i)
            if (slots[i] != no_slot) warpseal::wipe(secret_key(slots[i]), set_.secret_key_bytes());
        return WARPSEAL_OK;
    }

private:
    // The memory starts with a nonzero byte, which the kernel zeroes with the keys in a forked
    // child.
    static constexpr size_t head_bytes = 64;
    static constexpr size_t enough_for_cores = 1024;

    uint8_t* secret_key(uint32_t slot) {
        return static_cast<uint8_t*>(memory_.data()) + head_bytes + slot * set_.secret_key_bytes();
    }
    static warpseal_kem_batch batch_of(uint64_t count) {
        warpseal_kem_batch batch = {};
        batch.struct_bytes = sizeof batch;
        batch.count = count;
        return batch;
    }

    Engine& engine_;
    const Engine::RandomSource random_;
    SecretMemory memory_;
    // Larger if the engine may run a batch on a GPU.
    std::atomic<size_t> max_slots_per_call_{enough_for_cores};
};

}  // namespace

std::shared_ptr<KemKeyStore> host_key_store(Engine& engine, const KemSet& set,
                                            Engine::RandomSource random, uint32_t pairs) {
    auto made = std::make_shared<HostKeyStore>(engine, set, random);
    return made->allocate(pairs) ? made : nullptr;
}

}  // namespace warpseal
