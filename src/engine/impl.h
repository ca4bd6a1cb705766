// What the engine's parts share: its targets, its GPU, its threads, and the choice of a path whose
// self-test holds.
#pragma once

#include <map>
#include <vector>

#include "engine/kem/impl.h"
#include "engine/limits.h"
#include "engine/schedule/gpus.h"
#include "engine/schedule/plan.h"
#include "engine/schedule/throughput.h"
#include "engine/self_test/results.h"
#include "engine/targets.h"
#include "platform/forks.h"
#include "platform/thread_pool.h"

namespace warpseal {

// What a call asks for.
struct Call {
    warpseal_mode mode;
    Direction direction;
    Shape shape;
    uint64_t bytes;
    uint64_t messages = 1;
    // What it reads and writes, from the first byte to the last; null where that does not show.
    const void* in = nullptr;
    const void* out = nullptr;
    uint64_t in_extent = 0, out_extent = 0;
    bool divisible = true;
    bool mixed = true;  // as in the plan
    bool one_thread =
        false;  // the caller's, one of many who have work of this kind: a GPU each in turn

    uint64_t chains() const {
        return shape == Shape::batch && mode != WARPSEAL_GCM && !sweeps(mode, direction) ? messages
                                                                                         : 0;
    }
};

// A target of the cores that holds, and the key's schedules there.
struct CorePath {
    const CpuCipher* cores = nullptr;
    Target core = Target::portable;
    const void* state = nullptr;
    const void* tweak_state = nullptr;  // XTS: of the key's second half
};

// Where a call goes. The cores are always there: they begin and finish GCM messages and take over
// from a GPU.
struct Route : CorePath {
    bool gpu = false;  // one of them has a part; cuda and cuda_state are then set
    const CudaCipher* cuda = nullptr;
    const void* cuda_state = nullptr;
    const void* cuda_tweak_state = nullptr;
    Plan plan;           // of the whole work on the cores
    Plan shard_plan;     // who has what part
    bool rated = false;  // what it takes is noted
    CallClass call_class = {};
    const char* target = "";
};

struct Engine::Impl {
    Impl(const EngineOptions& options, const DeviceChoice& choice, const TargetSet& usable);

    Key::Descriptors descriptors(const char* cipher) const;

    // The best CPU target of the engine whose self-test holds for that use; runs tests not yet run.
    // WARPSEAL_SELF_TEST_FAILED: none.
    warpseal_status tested_cores(const Key::Descriptors& descriptors, warpseal_mode mode,
                                 Direction direction, Target& target);
    // Opens that GPU and tests it. WARPSEAL_NO_DEVICE and WARPSEAL_OUT_OF_MEMORY: not for this
    // call; WARPSEAL_SELF_TEST_FAILED: never.
    warpseal_status test_gpu_path(const Key::Descriptors& descriptors, warpseal_mode mode,
                                  Direction direction, Path path, unsigned gpu);

    // How host data would be shared out, the self-tests aside, without the GPUs that are a bit of
    // `without`. The core target is one that holds; state: of its key, null for no calibration.
    Plan plan_call(const Key::Descriptors& descriptors, Target cores, const Call& call,
                   const CallClass& call_class, const void* state, uint32_t without);
    CallClass call_class_of(const Key::Descriptors& descriptors, Target cores,
                            const Call& call) const;
    // Whether the cores together, by their rates, are done before a GPU would have begun, wherever
    // the data lies.
    bool quick(const CpuCipher& cipher, Target core, const Call& call, const CallClass& call_class,
               const void* state);

    // Where such a call would go; opens and tests the GPUs that would have a part. False: nowhere.
    bool foresee(const char* cipher, const Call& call, Target& core, Plan& shard_plan);

    warpseal_status route(const Key& key, const Call& call, Route& out);
    warpseal_status route_cores(const Key& key, const Call& call, Route& out);  // past the GPU
    // Of that alone what runs it: for who has no need of a plan.
    warpseal_status path_on_cores(const Key& key, warpseal_mode mode, Direction direction,
                                  Shape shape, CorePath& out);

    // The best CPU target for that operation of that set (a number in kem::sets) whose self-test
    // holds; AES-256 for coins.
    warpseal_status tested_kem(int set, KemOperation operation, const CpuKem*& out);
    warpseal_status tested_coins(const CpuCipher*& out);
    // Both of them, as the call has need.
    warpseal_status kem_cores(int set, KemOperation operation, bool draws, KemCores& out);
    // seed: of drawn coins; null: there are none. failed: so many more have no result.
    warpseal_status kem_on_cores(const KemCores& chosen, KemOperation operation,
                                 const warpseal_kem_batch& batch, KemRange range,
                                 const uint8_t* seed, uint64_t& failed);
    // The same on a GPU. WARPSEAL_NO_DEVICE and WARPSEAL_OUT_OF_MEMORY: not for this call.
    warpseal_status test_kem_gpu(int set, KemOperation operation, Path path, unsigned gpu,
                                 const CudaKem*& out);
    warpseal_status test_coins_gpu(unsigned gpu, Path path, const CudaCipher*& out);
    // Whether a call in host memory goes to GPUs; to which; and what they leave of it, with the
    // coins of that seed or, null, given ones.
    bool gpu_pays(int set, KemOperation operation, uint64_t count);
    warpseal_status kem_gpus(int set, KemOperation operation, uint64_t count, bool draws,
                             KemGpus& out);
    std::vector<KemRange> kem_on_gpus(const KemGpus& chosen, KemOperation operation,
                                      const warpseal_kem_batch& batch, const uint8_t* seed,
                                      uint64_t& failed);

    const std::function<void(const char*)> notice;
    const CpuCipher* (*const cpu_cipher)(Target, const char*);
    bool (*const cpu_has)(Target);
    TargetSet cores = {};     // CPU targets that work may run on
    const bool cuda_allowed;  // host data may go to the GPU
    const bool cuda_only;     // and always does
    const bool cuda_exists;   // device memory calls may use it
    Gpus gpus;
    Pool pool;
    Throughput throughput;
    KemImpl kem;
    std::atomic<unsigned> turn{0};
    const std::function<Speed(int)> speeds;  // in place of what is measured

    // Memory that the engine gave to callers: it frees, and wipes, what it has a record of and
    // nothing else.
    struct Allocation {
        enum class Kind : uint8_t { pageable, pinned, device };
        size_t bytes;
        Kind kind;
    };
    // Host memory is pinned where a GPU is open. Device memory is the first GPU's, which is open.
    warpseal_status allocate(size_t bytes, Allocation::Kind wanted, void** out);
    void free(void* memory, bool on_device);
    ForkMutex allocations_mutex;
    std::map<void*, Allocation> allocations;

private:
    static void* pageable(size_t bytes);
    const CpuCipher* block_reference(const char* cipher) const;
    MemoryKind memory_kind_of(const Call& call) const;
    // Of all of them together, or of the one thread that the call has.
    Speed core_speed(const Call& call, const CallClass& call_class, const void* state);
    // Proves the GPUs that the plan gives a part; the bits of those that do not hold.
    uint32_t untested(const Key& key, const Call& call, const Plan& plan, warpseal_status& why);
    void say_closed(Target target, const char* cipher, warpseal_mode mode,
                    Direction direction) const;
    void say_closed(Target target, const char* set, KemOperation operation) const;
};

}  // namespace warpseal
