// Key encapsulation on GPUs: asynchronous batches in device memory, and batches in host memory that
// run there.
#include "engine/kem/gpu_calls.h"

#include <pthread.h>
#include <signal.h>

#include <cstring>
#include <new>
#include <optional>
#include <thread>

#include "core/secret.h"
#include "engine/kem/check.h"
#include "engine/kem/paths.h"
#include "engine/refusal.h"

namespace warpseal {
namespace {

// Returns the index of the engine's GPU that holds all arrays of the operation, or -1.
int holding(const Gpus& gpus, KemOperation operation, const warpseal_kem_batch& batch) {
    const bool keypair = operation == KemOperation::keypair,
               decapsulate = operation == KemOperation::decapsulate;
    const void* used[] = {decapsulate ? nullptr : batch.public_keys,
                          keypair || decapsulate ? batch.secret_keys : nullptr,
                          keypair ? nullptr : batch.ciphertexts,
                          keypair ? nullptr : batch.shared_secrets,
                          decapsulate ? nullptr : batch.coins,
                          batch.statuses};
    const int number = gpus.holding(keypair ? batch.public_keys : batch.shared_secrets);
    for (const void* memory : used)
        if (memory != nullptr && gpus.holding(memory) != number) return -1;
    return number;
}

// Generates a call's drawn coins on GPUs.
class CoinGenerator {
public:
    CoinGenerator(Workspaces& workspaces, const CudaCipher& aes, const uint8_t* seed)
        : aes_(aes),
          state_(workspaces.lease(aes.state_bytes)),
          counter_(seed + CoinSeed::key_bytes) {
        if (state_) aes.expand(state_.data(), seed);
    }
    explicit operator bool() const { return static_cast<bool>(state_); }
    DrawnCoins from(uint64_t item) const {
        DrawnCoins coins{&aes_, state_.data(), {}, item};
        std::memcpy(coins.counter, counter_, sizeof coins.counter);
        return coins;
    }

private:
    const CudaCipher& aes_;
    const Workspaces::Lease state_;
    const uint8_t* const counter_;
};

// One GPU's shard of a call in host memory.
struct Shard {
    Gpu* gpu = nullptr;
    uint64_t begin = 0, end = 0, done = 0, failed = 0;
};

}  // namespace

warpseal_status Engine::kem_device(KemOperation operation, const char* set,
                                   const warpseal_kem_batch& batch, RandomSource random,
                                   void* stream) {
    Impl& impl = *impl_;
    int number;
    warpseal_status status = find_set(impl, set, number);
    if (status != WARPSEAL_OK) return status;
    if (!kem_sets[number].has_cuda()) return WARPSEAL_UNSUPPORTED;
    status = check_kem(kem_sets[number], operation, batch);
    if (status != WARPSEAL_OK || batch.count == 0) return status;
    if (operation != KemOperation::keypair && batch.statuses == nullptr)
        return refuse("batch.statuses is null: it says which items are refused");
    // A misaligned write would make the GPU unusable.
    if (reinterpret_cast<uintptr_t>(batch.statuses) % alignof(int32_t) != 0)
        return refuse("batch.statuses is not at a multiple of 4 bytes");
    status = impl.gpus.open();
    if (status != WARPSEAL_OK) return status;
    const int at = holding(impl.gpus, operation, batch);
    if (at < 0 && !impl.gpus.possible()) return WARPSEAL_NO_DEVICE;
    if (at < 0) return refuse("the arrays of batch are not in the memory of one GPU");
    const auto i = static_cast<unsigned>(at);
    const CudaKem* kem = nullptr;
    status = test_kem_gpu(impl, number, operation, Path::gpu_device_memory, i, kem);
    if (status != WARPSEAL_OK) return status;
    const Gpu& gpu = impl.gpus[i];
    const auto reported = [&](warpseal_status outcome) {
        // The caller may have caused the failure, so only a lost GPU is reported.
        if (outcome != WARPSEAL_OK) (void)impl.gpus.any_open();
        return outcome;
    };
    if (operation == KemOperation::decapsulate || batch.coins != nullptr)
        return reported(gpu.backend().kem_device(gpu.device(), *kem, operation, batch, batch.count,
                                                 nullptr, stream));

    const CudaCipher* aes = nullptr;
    status = test_coins_gpu(impl, i, Path::gpu_device_memory, aes);
    if (status != WARPSEAL_OK) return status;
    Secret<CoinSeed::bytes> seed;
    if (!random(seed.data(), seed.size())) return WARPSEAL_NO_RANDOM;
    const CoinGenerator generator(impl.kem.workspaces, *aes, seed.data());
    if (!generator) return WARPSEAL_OUT_OF_MEMORY;
    const DrawnCoins coins = generator.from(0);
    status =
        gpu.backend().kem_device(gpu.device(), *kem, operation, batch, batch.count, &coins, stream);
    gpu.zeroize_launches();  // the driver's copy of launch parameters contains round keys
    return reported(status);
}

bool gpu_pays(Engine::Impl& impl, int set, KemOperation operation, uint64_t count) {
    if (!impl.cuda_allowed || (!impl.cuda_only && count < KemThroughput::least_gpu_items) ||
        !impl.gpus.possible())
        return false;
    return impl.cuda_only ||
           impl.kem.throughput.gpu_first(set, operation, count, impl.gpus.any_open());
}

warpseal_status kem_gpus(Engine::Impl& impl, int set, KemOperation operation, uint64_t count,
                         bool draws, KemGpus& out) {
    warpseal_status first = WARPSEAL_NO_DEVICE;
    for (unsigned i = 0;
         i < impl.gpus.count() && out.count <= count / impl.kem.items_for_another_gpu; ++i) {
        warpseal_status status =
            test_kem_gpu(impl, set, operation, Path::gpu_host_memory, i, out.kem);
        if (status == WARPSEAL_OK && draws)
            status = test_coins_gpu(impl, i, Path::gpu_host_memory, out.aes);
        if (status == WARPSEAL_OK) out.numbers[out.count++] = i;
        if (i == 0) first = status;
    }
    return out.count != 0 ? WARPSEAL_OK : first;
}

std::vector<KemRange> kem_on_gpus(Engine::Impl& impl, const KemGpus& gpus, KemOperation operation,
                                  const warpseal_kem_batch& batch, const uint8_t* seed,
                                  uint64_t& failed) {
    std::optional<CoinGenerator> generator;
    if (seed != nullptr) generator.emplace(impl.kem.workspaces, *gpus.aes, seed);
    if (generator && !*generator) return {{0, batch.count}};
    std::vector<Shard> shards(gpus.count);
    for (unsigned i = 0; i < gpus.count; ++i) {
        shards[i].gpu = &impl.gpus[gpus.numbers[i]];
        shards[i].begin = i == 0 ? 0 : shards[i - 1].end;
        shards[i].end = i + 1 == gpus.count ? batch.count : batch.count / gpus.count * (i + 1);
    }
    const auto run = [&](Shard& shard) {
        const warpseal_kem_batch items = sub_batch(batch, shard.begin, shard.end - shard.begin);
        DrawnCoins coins{};
        if (generator) coins = generator->from(shard.begin);
        warpseal_status status = WARPSEAL_OUT_OF_MEMORY;
        try {
            status = shard.gpu->backend().kem_host(shard.gpu->device(), *gpus.kem, operation, items,
                                                   items.count, generator ? &coins : nullptr,
                                                   &shard.done, &shard.failed);
        } catch (const std::exception&) {
            // A thread cannot rethrow. The CPU finishes what fails for lack of memory or other
            // resources.
        }
        if (status != WARPSEAL_OK) shard.gpu->failed(status);
        if (generator) shard.gpu->zeroize_launches();
    };
    {
        std::vector<std::jthread> others;
        others.reserve(shards.size());
        unsigned started = 0;
        sigset_t every, before;
        sigfillset(&every);
        pthread_sigmask(SIG_SETMASK, &every, &before);
        try {
            for (; started + 1 < shards.size(); ++started)
                others.emplace_back([&run, &shard = shards[started]] { run(shard); });
        } catch (const std::exception&) {
            // No more threads: the caller's thread runs those shards too.
        }
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        for (unsigned i = started; i < shards.size(); ++i) run(shards[i]);
    }
    std::vector<KemRange> rest;
    for (const Shard& shard : shards) {
        failed += shard.failed;
        if (shard.begin + shard.done < shard.end)
            rest.push_back({shard.begin + shard.done, shard.end});
    }
    return rest;
}

}  // namespace warpseal
