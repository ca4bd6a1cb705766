// Key encapsulation in host memory: choice between the GPUs and the cores, by measured times.
#include <chrono>

#include "core/secret.h"
#include "engine/kem/check.h"
#include "engine/kem/core_calls.h"
#include "engine/kem/gpu_calls.h"
#include "engine/kem/paths.h"
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
    status = check_kem(kem_sets[number], operation, batch);
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
    // appear slow.
    uint64_t failed = 0;
    KemCores cores;
    KemThroughput& throughput = impl.kem.throughput;
    if (gpus.count == 0) {
        status = kem_cores(impl, number, operation, draws, cores);
        if (status != WARPSEAL_OK) return status;
        const Stopwatch watch;
        status = kem_on_cores(impl, cores, operation, batch, {0, batch.count}, drawn, failed);
        if (status == WARPSEAL_OK && side == KemSide::automatic)
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
            status = kem_cores(impl, number, operation, draws, cores);
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
