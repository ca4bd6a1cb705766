// Key encapsulation on GPUs: batches in device memory, asynchronous where they lie, and those in
// host memory that go there.
#include <pthread.h>
#include <signal.h>

#include <cstring>
#include <new>
#include <optional>
#include <thread>

#include "core/secret.h"
#include "engine/inside.h"
#include "engine/kem_check.h"
#include "engine/kem_self_test.h"

namespace warpseal {
namespace {

// What an operation uses of a batch must all lie on one of the engine's GPUs: its number, or -1.
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

// The generator of a call's coins, as GPUs run it.
class Generator {
public:
    Generator(Workspaces& workspaces, const CudaCipher& aes, const uint8_t* seed)
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

// A part of a call in host memory, for one GPU.
struct Part {
    Gpu* gpu = nullptr;
    uint64_t begin = 0, end = 0, done = 0, failed = 0;
};

}  // namespace

warpseal_status Engine::Inside::prove_kem_gpu(int set, KemOperation operation, Path path,
                                              unsigned number, const CudaKem*& out) {
    Gpu& gpu = gpus[number];
    warpseal_status status = number == 0 ? gpus.open() : gpu.open();
    if (status != WARPSEAL_OK) return status;
    out = gpu.backend().kem(kem::sets[set]->name);
    if (out == nullptr) return WARPSEAL_NO_DEVICE;
    const bool device_memory = path == Path::gpu_device_memory;
    std::atomic<uint32_t>& proved =
        kem.gpu_proved[device_memory ? 1 : 0][set][static_cast<int>(operation)];
    if ((proved.load(std::memory_order_acquire) >> number & 1) != 0) return WARPSEAL_OK;
    bool failed_now = false;
    const PathName name{&out->run[static_cast<int>(operation)],
                        &gpu.backend(),
                        gpu.device(),
                        path,
                        WARPSEAL_ECB,
                        Direction::encrypt};
    const auto test = [&] {
        return device_memory ? test_kem_device_memory(gpu.backend(), gpu.device(), *out, operation)
                             : test_kem_through_gpu(gpu.backend(), gpu.device(), *out, operation);
    };
    status = verdict(name, test, &failed_now);
    if (failed_now) say_closed(Target::cuda, kem::sets[set]->name, operation);
    if (status == WARPSEAL_OK) proved.fetch_or(1u << number, std::memory_order_acq_rel);
    if (status != WARPSEAL_OK && status != WARPSEAL_SELF_TEST_FAILED) gpu.failed(status);
    return status;
}

warpseal_status Engine::Inside::prove_coins_gpu(unsigned number, Path path,
                                                const CudaCipher*& out) {
    const Key::Descriptors found = descriptors("aes-256");
    out = found.cuda;
    std::atomic<uint32_t>& proved = kem.gpu_coins_proved[path == Path::gpu_device_memory ? 1 : 0];
    if ((proved.load(std::memory_order_acquire) >> number & 1) != 0) return gpus[number].open();
    const warpseal_status status =
        prove_cuda(found, WARPSEAL_CTR, Direction::encrypt, path, number);
    if (status == WARPSEAL_OK) proved.fetch_or(1u << number, std::memory_order_acq_rel);
    return status;
}

warpseal_status Engine::kem_device(KemOperation operation, const char* set,
                                   const warpseal_kem_batch& batch, RandomSource random,
                                   void* stream) {
    Inside& inside = *inside_;
    const int number = set_number(set);
    if (number < 0) return WARPSEAL_UNSUPPORTED;
    warpseal_status status = check_kem(*kem::sets[number], operation, batch);
    if (status != WARPSEAL_OK || batch.count == 0) return status;
    // A GPU that writes words across their alignment is lost.
    if (reinterpret_cast<uintptr_t>(batch.statuses) % alignof(int32_t) != 0)
        return WARPSEAL_INVALID_ARGUMENT;
    status = inside.gpus.open();
    if (status != WARPSEAL_OK) return status;
    const int at = holding(inside.gpus, operation, batch);
    if (at < 0) return inside.gpus.possible() ? WARPSEAL_INVALID_ARGUMENT : WARPSEAL_NO_DEVICE;
    const auto i = static_cast<unsigned>(at);
    const CudaKem* kem = nullptr;
    status = inside.prove_kem_gpu(number, operation, Path::gpu_device_memory, i, kem);
    if (status != WARPSEAL_OK) return status;
    const Gpu& gpu = inside.gpus[i];
    const auto told = [&](warpseal_status outcome) {
        // A refusal may be the caller's doing: only a loss is worth a notice.
        if (outcome != WARPSEAL_OK) (void)inside.gpus.any_open();
        return outcome;
    };
    if (operation == KemOperation::decapsulate || batch.coins != nullptr)
        return told(gpu.backend().kem_device(gpu.device(), *kem, operation, batch, batch.count,
                                             nullptr, stream));

    const CudaCipher* aes = nullptr;
    status = inside.prove_coins_gpu(i, Path::gpu_device_memory, aes);
    if (status != WARPSEAL_OK) return status;
    Secret<CoinSeed::bytes> seed;
    if (!random(seed.data(), seed.size())) return WARPSEAL_NO_RANDOM;
    const Generator generator(inside.kem.workspaces, *aes, seed.data());
    if (!generator) return WARPSEAL_OUT_OF_MEMORY;
    const DrawnCoins coins = generator.from(0);
    status =
        gpu.backend().kem_device(gpu.device(), *kem, operation, batch, batch.count, &coins, stream);
    gpu.zeroize_launches();  // what the driver keeps of the launches, round keys among it
    return told(status);
}

bool Engine::Inside::gpu_pays(int set, KemOperation operation, uint64_t count) {
    if (!cuda_allowed || (!cuda_only && count < KemPaces::least_gpu_items) || !gpus.possible())
        return false;
    return cuda_only || kem.paces.gpu_first(set, operation, count, gpus.any_open());
}

warpseal_status Engine::Inside::kem_gpus(int set, KemOperation operation, uint64_t count,
                                         bool draws, KemGpus& out) {
    warpseal_status first = WARPSEAL_NO_DEVICE;
    for (unsigned i = 0; i < gpus.count() && out.count <= count / kem.items_for_another_gpu; ++i) {
        warpseal_status status = prove_kem_gpu(set, operation, Path::gpu_host_memory, i, out.kem);
        if (status == WARPSEAL_OK && draws)
            status = prove_coins_gpu(i, Path::gpu_host_memory, out.aes);
        if (status == WARPSEAL_OK) out.numbers[out.count++] = i;
        if (i == 0) first = status;
    }
    return out.count != 0 ? WARPSEAL_OK : first;
}

std::vector<KemRange> Engine::Inside::kem_on_gpus(const KemGpus& chosen, KemOperation operation,
                                                  const warpseal_kem_batch& batch,
                                                  const uint8_t* seed, uint64_t& failed) {
    std::optional<Generator> generator;
    if (seed != nullptr) generator.emplace(kem.workspaces, *chosen.aes, seed);
    if (generator && !*generator) return {{0, batch.count}};
    std::vector<Part> parts(chosen.count);
    for (unsigned i = 0; i < chosen.count; ++i) {
        parts[i].gpu = &gpus[chosen.numbers[i]];
        parts[i].begin = i == 0 ? 0 : parts[i - 1].end;
        parts[i].end = i + 1 == chosen.count ? batch.count : batch.count / chosen.count * (i + 1);
    }
    const auto run = [&](Part& part) {
        const warpseal_kem_batch own = sub_batch(batch, part.begin, part.end - part.begin);
        DrawnCoins coins{};
        if (generator) coins = generator->from(part.begin);
        warpseal_status status = WARPSEAL_OUT_OF_MEMORY;
        try {
            status = part.gpu->backend().kem_host(part.gpu->device(), *chosen.kem, operation, own,
                                                  own.count, generator ? &coins : nullptr,
                                                  &part.done, &part.failed);
        } catch (const std::exception&) {
            // A thread has nobody to throw to; what a system refuses, memory or another of its
            // means, the cores do without.
        }
        if (status != WARPSEAL_OK) part.gpu->failed(status);
        if (generator) part.gpu->zeroize_launches();
    };
    {
        std::vector<std::jthread> others;
        others.reserve(parts.size());
        unsigned started = 0;
        sigset_t every, before;
        sigfillset(&every);
        pthread_sigmask(SIG_SETMASK, &every, &before);
        try {
            for (; started + 1 < parts.size(); ++started)
                others.emplace_back([&run, &part = parts[started]] { run(part); });
        } catch (const std::exception&) {
            // No more threads: the caller's has those parts too.
        }
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        for (unsigned i = started; i < parts.size(); ++i) run(parts[i]);
    }
    std::vector<KemRange> left;
    for (const Part& part : parts) {
        failed += part.failed;
        if (part.begin + part.done < part.end) left.push_back({part.begin + part.done, part.end});
    }
    return left;
}

}  // namespace warpseal
