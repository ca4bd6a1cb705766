// Key encapsulation in host memory: choice between the GPUs and the cores, by measured times.
#include "engine/kem/calls.h"

#include <chrono>

#include "core/secret.h"
#include "engine/kem/check.h"
#include "engine/kem/core_calls.h"
#include "engine/kem/gpu_calls.h"
#include "engine/kem/paths.h"
#include "engine/kem/prepared_key.h"
#include "engine/refusal.h"

namespace warpseal {
namespace {

class Stopwatch {
public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }

private:
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

bool uses_gpus(Engine::Impl& impl, int set, KemOperation operation, uint64_t count, KemSide side) {
    if (!kem_sets[set].has_cuda()) return false;
    if (impl.cuda_only || side == KemSide::automatic) return gpu_pays(impl, set, operation, count);
    return side == KemSide::gpus && impl.cuda_allowed && impl.gpus.possible();
}

// Fewest items for which preparing the key that they share takes less time than it saves.
constexpr uint64_t least_items_to_prepare = 4;

// Prepares the key that all items of a call share, in a workspace. Without memory for it, after a
// failed self-test, and in sets without ML-KEM, each item takes the key as it is. If the key is
// refused, so is each item.
void prepare_shared_key(Engine::Impl& impl, int set, KemOperation operation,
                        const warpseal_kem_batch& batch, KemCores& out) {
    if (operation == KemOperation::keypair || batch.count < least_items_to_prepare ||
        kem_sets[set].mlkem_half() == nullptr)
        return;
    const KemKeyKind kind = kind_for(operation);
    const bool is_public = kind == KemKeyKind::public_key;
    const CpuKem* kem = nullptr;
    if ((is_public ? batch.public_key_stride : batch.secret_key_stride) != 0 ||
        tested_prepared_kem(impl, set, kind, kem) != WARPSEAL_OK || kem != out.kem)
        return;
    const Workspaces::Lease& prepared =
        out.own_prepared.emplace(impl.kem.workspaces.lease(kem->prepared_bytes(kind)));
    const Workspaces::Lease work = impl.kem.workspaces.lease(kem->work_bytes(operation, 1));
    if (!prepared || !work) return;
    (void)kem->prepare[static_cast<int>(kind)](is_public ? batch.public_keys : batch.secret_keys,
                                               prepared.data(), work.data());
    out.prepared = prepared.data();
}

// Selects the cores' implementation, and the prepared key for it.
warpseal_status select_cores(Engine::Impl& impl, int set, KemOperation operation, bool draws,
                             const warpseal_kem_batch& batch, const PreparedKemKey* key,
                             KemCores& out) {
    const warpseal_status status = kem_cores(impl, set, operation, draws, out);
    if (status != WARPSEAL_OK) return status;
    if (key != nullptr)
        out.prepared = key->prepared_for(*out.kem);
    else
        prepare_shared_key(impl, set, operation, batch, out);
    return WARPSEAL_OK;
}

}  // namespace

warpseal_status Engine::kem(KemOperation operation, const char* set,
                            const warpseal_kem_batch& batch, RandomSource random, KemSide side) {
    Impl& impl = *impl_;
    int number;
    warpseal_status status = find_set(impl, set, number);
    // A caller that wants cores gets them, on an engine of GPUs alone too.
    if (status == WARPSEAL_UNSUPPORTED && number >= 0 && side == KemSide::cores)
        status = WARPSEAL_OK;
    if (status != WARPSEAL_OK) return status;
    return run_kem(impl, number, operation, batch, random, side, nullptr);
}

warpseal_status run_kem(Engine::Impl& impl, int number, KemOperation operation,
                        const warpseal_kem_batch& batch, Engine::RandomSource random, KemSide side,
                        const PreparedKemKey* key) {
    warpseal_status status = check_kem(kem_sets[number], operation, batch);
    if (status != WARPSEAL_OK || batch.count == 0) return status;
    const bool draws = operation != KemOperation::decapsulate && batch.coins == nullptr;
    KemGpus gpus;
    if (uses_gpus(impl, number, operation, batch.count, side))
        status = kem_gpus(impl, number, operation, batch.count, draws, gpus);
    if (status == WARPSEAL_SELF_TEST_FAILED && impl.cuda_only) return status;
    Secret<CoinSeed::bytes> seed;
    if (draws && !random(seed.data(), seed.size())) return WARPSEAL_NO_RANDOM;
    const uint8_t* drawn = draws ? seed.data() : nullptr;

    // Measures the work only: a self-test, which runs once per operation, would make the target
    // appear slow, and a prepared key would make it appear fast.
    uint64_t failed = 0;
    KemCores cores;
    KemThroughput& throughput = impl.kem.throughput;
    if (gpus.count == 0) {
        status = select_cores(impl, number, operation, draws, batch, key, cores);
        if (status != WARPSEAL_OK) return status;
        const Stopwatch watch;
        status = kem_on_cores(impl, cores, operation, batch, {0, batch.count}, drawn, failed);
        if (status == WARPSEAL_OK && side == KemSide::automatic && cores.prepared == nullptr)
            throughput.note(number, operation, false, batch.count, watch.seconds());
    } else {
        const Stopwatch watch;
        const std::vector<KemRange> rest = kem_on_gpus(impl, gpus, operation, batch, drawn, failed);
        const double seconds = watch.seconds();
        uint64_t done = batch.count;
        for (const KemRange& range : rest) done -= range.end - range.begin;
        if (side == KemSide::automatic && rest.empty())
            throughput.note(number, operation, true, batch.count, seconds);
        else if (side == KemSide::automatic)
            throughput.handed_back(number, operation, done, seconds);
        if (!rest.empty()) {
            status = select_cores(impl, number, operation, draws, batch, key, cores);
            for (const KemRange& range : rest)
                if (status == WARPSEAL_OK)
                    status = kem_on_cores(impl, cores, operation, batch, range, drawn, failed);
        }
    }
    if (status == WARPSEAL_OK && failed != 0)
        return refuse("%llu items of batch were refused: its statuses say which",
                      static_cast<unsigned long long>(failed));
    return status;
}

}  // namespace warpseal
