// Implements the key pools of kem.h.
#include "engine/kem/key_pool/pool.h"

#include "c_api/handles.h"
#include "container/random.h"
#include "warpseal/kem.h"

struct warpseal_kem_pool {
    std::unique_ptr<warpseal::KemKeyPool> pool;
};

using namespace warpseal;

extern "C" {

warpseal_status warpseal_kem_pool_create(warpseal_engine* engine, const char* set, uint64_t pairs,
                                         warpseal_kem_pool** pool) {
    if (pool == nullptr) return refuse("pool is null");
    *pool = nullptr;
    if (engine == nullptr) return refuse("engine is null");
    if (set == nullptr) return refuse("set is null");
    return c_api::guarded_waiting([&] {
        auto made = std::make_unique<warpseal_kem_pool>();
        const warpseal_status status =
            KemKeyPool::create(*engine->engine, set, pairs, container::random_bytes, made->pool);
        if (status == WARPSEAL_OK) *pool = made.release();
        return status;
    });
}

void warpseal_kem_pool_destroy(warpseal_kem_pool* pool) {
    const CancellationDisabled disabled;
    delete pool;
}

warpseal_status warpseal_kem_pool_fill(warpseal_kem_pool* pool) {
    if (pool == nullptr) return refuse("pool is null");
    return c_api::guarded_waiting([&] { return pool->pool->fill(); });
}

warpseal_status warpseal_kem_pool_acquire(warpseal_kem_pool* pool, uint64_t count,
                                          uint8_t* public_keys, uint64_t public_key_stride,
                                          uint64_t* handles) {
    if (pool == nullptr) return refuse("pool is null");
    return c_api::guarded_waiting([&] {
        return pool->pool->acquire(count, {public_keys, public_key_stride}, handles);
    });
}

warpseal_status warpseal_kem_pool_decapsulate(warpseal_kem_pool* pool, uint64_t count,
                                              const uint64_t* handles, const uint8_t* ciphertexts,
                                              uint64_t ciphertext_stride, uint8_t* shared_secrets,
                                              uint64_t shared_secret_stride, int32_t* statuses) {
    if (pool == nullptr) return refuse("pool is null");
    const PooledTexts texts{ciphertexts,          ciphertext_stride, shared_secrets,
                            shared_secret_stride, statuses,          0};
    return c_api::guarded_waiting([&] { return pool->pool->decapsulate(count, handles, texts); });
}

void warpseal_kem_pool_release(warpseal_kem_pool* pool, uint64_t count, const uint64_t* handles) {
    if (pool == nullptr || handles == nullptr) return;
    (void)c_api::guarded_waiting([&] {
        pool->pool->release(count, handles);
        return WARPSEAL_OK;
    });
}

}  // extern "C"
