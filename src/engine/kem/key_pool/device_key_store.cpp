// Key store whose secret keys never leave GPU memory. Batches are staged there contiguously, one at
// a time.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "core/secret.h"
#include "engine/kem/key_pool/key_store.h"
#include "engine/kem/paths.h"

namespace warpseal {
namespace {

// Alignment of keys for copies on the GPU, in bytes.
constexpr size_t unit = 16;
constexpr size_t whole(size_t bytes) { return (bytes + unit - 1) / unit * unit; }

class DeviceKeyStore final : public KemKeyStore {
public:
    DeviceKeyStore(Engine& engine, Gpu& gpu, const KemSet& set, Engine::RandomSource random)
        : KemKeyStore(set), engine_(engine), gpu_(gpu), random_(random) {}
    ~DeviceKeyStore() override {
        if (backend().lost()) return;  // the memory is lost with the GPU
        // device_free zeroizes.
        if (staged_ != nullptr) backend().device_free(gpu_.device(), staged_, staged_bytes());
        if (secrets_ != nullptr) backend().device_free(gpu_.device(), secrets_, secrets_bytes_);
        if (received_ != nullptr) backend().host_free(gpu_.device(), received_, received_bytes());
    }

    bool allocate(uint64_t pairs) {
        secrets_bytes_ = pairs * key_bytes();
        return backend().device_alloc(gpu_.device(), secrets_bytes_, &secrets_) == WARPSEAL_OK &&
               backend().device_alloc(gpu_.device(), staged_bytes(), &staged_) == WARPSEAL_OK &&
               backend().host_alloc(gpu_.device(), received_bytes(), &received_) == WARPSEAL_OK &&
               allocate_publics(pairs);
    }

    // Called under the pool's lock, so it bypasses the engine, which would notify the caller of a
    // loss.
    bool alive() const override { return !backend().lost(); }
    size_t max_slots_per_call() const override { return slots_per_call_limit; }

    warpseal_status make(const uint32_t* slots, size_t count) noexcept override try {
        std::vector<uint8_t> publics(count * set_.public_key_bytes());
        std::vector<int32_t> statuses(count);
        {
            const std::lock_guard lock(staging_);
            warpseal_kem_batch batch = staged_batch(count);
            warpseal_status status =
                engine_.kem_device(KemOperation::keypair, set_.name, batch, random_, nullptr);
            if (status == WARPSEAL_OK) status = transferred(PoolTransfer::put, slots, count);
            if (status == WARPSEAL_OK)
                status = read(publics.data(), batch.public_keys, publics.size());
            if (status == WARPSEAL_OK)
                status = read(statuses.data(), batch.statuses, count * sizeof(int32_t));
            if (status != WARPSEAL_OK) {
                (void)clear(batch, count);
                return status;
            }
        }
        for (const int32_t status : statuses)
            if (status != WARPSEAL_OK) return static_cast<warpseal_status>(status);
        store_publics(slots, count, publics.data());
        return WARPSEAL_OK;
    } catch (...) {  // out of memory: nothing else throws
        return WARPSEAL_OUT_OF_MEMORY;
    }

    warpseal_status decapsulate(const uint32_t* slots, size_t count, const PooledTexts& texts,
                                int32_t* statuses) noexcept override try {
        const size_t ct = set_.ciphertext_bytes(), ss = shared_bytes();
        std::vector<uint8_t> ciphertexts(count * ct);
        for (size_t i = 0; i < count; ++i)
            std::memcpy(ciphertexts.data() + i * ct, texts.ciphertext(i), ct);
        const std::lock_guard lock(staging_);
        warpseal_kem_batch batch = staged_batch(count);
        warpseal_status status = write(batch.ciphertexts, ciphertexts.data(), count * ct);
        if (status == WARPSEAL_OK) status = transferred(PoolTransfer::get, slots, count);
        if (status == WARPSEAL_OK)
            status =
                engine_.kem_device(KemOperation::decapsulate, set_.name, batch, random_, nullptr);
        if (status == WARPSEAL_OK) status = read(received_, batch.shared_secrets, count * ss);
        if (status == WARPSEAL_OK)
            status = read(statuses, batch.statuses, count * sizeof *statuses);
        const warpseal_status cleared = clear(batch, count);
        if (status == WARPSEAL_OK) status = cleared;
        const auto* const secrets = static_cast<const uint8_t*>(received_);
        for (size_t i = 0; i < count && status == WARPSEAL_OK; ++i)
            std::memcpy(texts.secret(i), secrets + i * ss, set_.shared_secret_bytes());
        warpseal::wipe(received_, count * ss);
        return status;
    } catch (...) {  // out of memory: nothing else throws
        return WARPSEAL_OUT_OF_MEMORY;
    }

    warpseal_status wipe(const uint32_t* slots, size_t count) noexcept override {
        const std::lock_guard lock(staging_);
        warpseal_status status = transferred(PoolTransfer::wipe, slots, count);
        if (status != WARPSEAL_OK) return status;
        // A failed wait does not undo the wipe: it precedes all later work on the stream.
        status = backend().synchronize(gpu_.device(), nullptr);
        return backend().lost() ? status : WARPSEAL_OK;
    }

private:
    const GpuBackend& backend() const { return gpu_.backend(); }
    size_t key_bytes() const { return whole(set_.secret_key_bytes()); }
    size_t shared_bytes() const { return whole(set_.shared_secret_bytes()); }
    size_t received_bytes() const { return slots_per_call_limit * shared_bytes(); }
    // Layout of the staged batch: secret keys, shared secrets, ciphertexts or public keys, then a
    // status and a slot index for each item.
    size_t secret_bytes() const { return slots_per_call_limit * (key_bytes() + shared_bytes()); }
    size_t text_bytes() const {
        return slots_per_call_limit *
               whole(std::max(set_.public_key_bytes(), set_.ciphertext_bytes()));
    }
    size_t staged_bytes() const {
        return secret_bytes() + text_bytes() + slots_per_call_limit * 2 * sizeof(uint32_t);
    }

    warpseal_kem_batch staged_batch(uint64_t count) const {
        auto* const begin = static_cast<uint8_t*>(staged_);
        warpseal_kem_batch batch = {};
        batch.struct_bytes = sizeof batch;
        batch.count = count;
        batch.secret_keys = begin;
        batch.secret_key_stride = key_bytes();
        batch.shared_secrets = begin + slots_per_call_limit * key_bytes();
        batch.shared_secret_stride = shared_bytes();
        batch.public_keys = batch.ciphertexts = begin + secret_bytes();
        batch.public_key_stride = set_.public_key_bytes();
        batch.ciphertext_stride = set_.ciphertext_bytes();
        batch.statuses = reinterpret_cast<int32_t*>(begin + secret_bytes() + text_bytes());
        return batch;
    }
    uint32_t* staged_slots() const {
        return reinterpret_cast<uint32_t*>(static_cast<uint8_t*>(staged_) + secret_bytes() +
                                           text_bytes()) +
               slots_per_call_limit;
    }

    warpseal_status write(void* to, const void* from, size_t bytes) const {
        return backend().upload(gpu_.device(), to, from, bytes);
    }
    warpseal_status read(void* to, const void* from, size_t bytes) const {
        return backend().download(gpu_.device(), to, from, bytes);
    }
    warpseal_status transferred(PoolTransfer what, const uint32_t* slots, size_t count) const {
        if (backend().lost()) return WARPSEAL_NO_DEVICE;
        const warpseal_status status = write(staged_slots(), slots, count * sizeof *slots);
        if (status != WARPSEAL_OK) return status;
        return backend().pool_transfer(gpu_.device(), what, secrets_, staged_, key_bytes(),
                                       staged_slots(), count, nullptr);
    }
    // Zeroizes the secrets of a staged batch.
    warpseal_status clear(const warpseal_kem_batch& batch, size_t count) const {
        if (backend().lost()) return WARPSEAL_NO_DEVICE;
        const warpseal_status status =
            backend().pool_transfer(gpu_.device(), PoolTransfer::wipe, staged_, nullptr,
                                    key_bytes(), nullptr, count, nullptr);
        if (status != WARPSEAL_OK) return status;
        return backend().pool_transfer(gpu_.device(), PoolTransfer::wipe, batch.shared_secrets,
                                       nullptr, shared_bytes(), nullptr, count, nullptr);
    }

    Engine& engine_;
    Gpu& gpu_;
    const Engine::RandomSource random_;
    // Serializes batches, which use the default stream.
    std::mutex staging_;  // fork: a child cannot use the GPU; its pool has another store
    void* secrets_ = nullptr;
    void* staged_ = nullptr;
    // Pinned host memory: with pageable memory the driver would keep a copy. Zeroized after each
    // batch.
    void* received_ = nullptr;
    size_t secrets_bytes_ = 0;
};

}  // namespace

std::shared_ptr<KemKeyStore> device_key_store(Engine& engine, const KemSet& set,
                                              Engine::RandomSource random, uint32_t pairs) {
    Engine::Impl& impl = engine.impl();
    // A single decapsulation takes many times longer than on a core, so only an engine restricted
    // to GPUs stores pairs there.
    if (!impl.cuda_only || !impl.gpus.possible()) return nullptr;
    const int number = kem_set_number(set.name);
    const CudaKem* kem = nullptr;
    const CudaCipher* aes = nullptr;
    for (const KemOperation operation : {KemOperation::keypair, KemOperation::decapsulate})
        if (test_kem_gpu(impl, number, operation, Path::gpu_device_memory, 0, kem) != WARPSEAL_OK)
            return nullptr;
    if (test_coins_gpu(impl, 0, Path::gpu_device_memory, aes) != WARPSEAL_OK ||
        impl.gpus.backend().pool_transfer == nullptr)
        return nullptr;
    auto made = std::make_shared<DeviceKeyStore>(engine, impl.gpus[0], set, random);
    return made->allocate(pairs) ? made : nullptr;
}

}  // namespace warpseal
