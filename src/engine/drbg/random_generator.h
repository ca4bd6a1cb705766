// A random generator over an engine: a root CTR_DRBG instance, seeded by the operating system,
// whose output seeds leaf instances. All output comes from leaves.
#pragma once

#include <atomic>
#include <memory>

#include "engine/drbg/ctr_drbg.h"
#include "engine/drbg/leaves.h"
#include "engine/engine.h"
#include "platform/forks.h"
#include "platform/workspace.h"

namespace warpseal {

struct RandomGeneratorOptions {
    Bytes personalization;  // at most drbg::seed_bytes; copied
    bool prediction_resistance = false;
};

// Any number of threads may use one. The engine must outlive it.
class RandomGenerator {
public:
    // random: source of full entropy; returns false on failure.
    static warpseal_status create(Engine& engine, const RandomGeneratorOptions& options,
                                  Engine::RandomSource random,
                                  std::unique_ptr<RandomGenerator>& out);

    // additional: at most drbg::seed_bytes.
    warpseal_status reseed(Bytes additional);
    // Zeroizes `out` if it fails.
    warpseal_status fill(uint8_t* out, size_t bytes);
    // Device memory, asynchronous on the stream. The contents are undefined if it fails.
    warpseal_status fill_device(uint8_t* out, size_t bytes, void* stream);

private:
    RandomGenerator(Engine& engine, const RandomGeneratorOptions& options,
                    Engine::RandomSource random, const CpuCipher& aes);
    warpseal_status open(const RandomGeneratorOptions& options);

    // The next two lock, and call work() on a root that is seeded for its next request.
    template <class Work>
    warpseal_status with_root(const Work& work);
    warpseal_status seed_root();
    warpseal_status draw_entropy(uint8_t entropy[drbg::seed_bytes]);

    warpseal_status fill_group(uint8_t* out, size_t bytes);
    warpseal_status find_gpu(const uint8_t* out, unsigned& number);
    warpseal_status queue_group(unsigned number, uint8_t* out, size_t bytes, void* stream);

    Engine& engine_;
    const Engine::RandomSource random_;
    const bool prediction_resistance_;
    Workspaces workspaces_;
    std::unique_ptr<Key> key_;  // its bytes are not used: leaves have their own keys
    InstantiationMask mask_{};
    SecretMemory personalization_;  // drbg::seed_bytes, with zeros after its end
    std::atomic<uint32_t> gpus_tested_{0};

    ForkMutex mutex_;  // newer than workspaces_
    CtrDrbg root_;
    unsigned long forks_ = 0;  // forks_so_far() when the root was instantiated
};

}  // namespace warpseal
