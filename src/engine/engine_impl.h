// Internal state of the engine: targets, GPUs, threads, and the selection of a self-tested path.
#pragma once

#include <map>
#include <vector>

#include "engine/kem/kem_impl.h"
#include "engine/limits.h"
#include "engine/pinned_blocks.h"
#include "engine/schedule/gpus.h"
#include "engine/schedule/plan.h"
#include "engine/schedule/throughput.h"
#include "engine/self_test/results.h"
#include "engine/targets.h"
#include "platform/forks.h"
#include "platform/thread_pool.h"

namespace warpseal {

// Description of a call, from which its route is chosen.
struct Call {
    warpseal_mode mode;
    Direction direction;
    BackendEntry entry;
    uint64_t bytes;
    uint64_t messages = 1;
    // Memory ranges that the call reads and writes; null if unknown.
    const void* in = nullptr;
    const void* out = nullptr;
    uint64_t in_extent = 0, out_extent = 0;
    bool divisible = true;
    bool mixed = true;  // see CallFacts::mixed
    // The call runs on the caller's thread, one of many with such work; GPUs take turns.
    bool one_thread = false;

    uint64_t chains() const {
        return entry == BackendEntry::batch && mode != WARPSEAL_GCM && !sweeps(mode, direction)
                   ? messages
                   : 0;
    }
};

// A self-tested CPU target and the key's schedules there.
struct CorePath {
    const CpuCipher* cores = nullptr;
    Target core = Target::portable;
    const void* state = nullptr;
    const void* tweak_state = nullptr;  // XTS: schedule of the second key
};

// Route of a call. The CPU path is always set: it begins and finishes GCM messages and takes over
// from a GPU.
struct Route : CorePath {
    bool gpu = false;  // a GPU has a shard; cuda and cuda_state are then set
    const CudaCipher* cuda = nullptr;
    const void* cuda_state = nullptr;
    const void* cuda_tweak_state = nullptr;
    Plan plan;              // for the complete work on the CPU
    Plan shard_plan;        // assigns the shards
    bool measured = false;  // the call's time enters the throughput model
    CallClass call_class = {};
    const char* target = "";
};

struct Engine::Impl {
    Impl(const EngineOptions& options, const DeviceChoice& choice, const TargetSet& usable);

    Key::Descriptors descriptors(const char* cipher) const;

    // Selects the engine's best CPU target that passes the self-test of that mode; runs missing
    // tests.
    // Returns WARPSEAL_SELF_TEST_FAILED if there is none.
    warpseal_status tested_cores(const Key::Descriptors& descriptors, warpseal_mode mode,
                                 Direction direction, Target& target);
    // Opens a GPU and tests the path.
    // Returns WARPSEAL_NO_DEVICE or WARPSEAL_OUT_OF_MEMORY if this call cannot use it,
    // WARPSEAL_SELF_TEST_FAILED if no call can.
    warpseal_status test_gpu_path(const Key::Descriptors& descriptors, warpseal_mode mode,
                                  Direction direction, Path path, unsigned gpu);

    // Plans a call on host memory without running self-tests. `without` is a bit mask of GPUs to
    // leave out.
    // `cores` is a self-tested CPU target; `state` is its key schedule, or null to skip
    // calibration.
    Plan plan_call(const Key::Descriptors& descriptors, Target cores, const Call& call,
                   const CallClass& call_class, const void* state, uint32_t without);
    CallClass call_class_of(const Key::Descriptors& descriptors, Target cores,
                            const Call& call) const;
    // True if the CPU, at its measured throughput, finishes before a GPU would have started, for
    // any memory kind.
    bool cpu_is_faster(const CpuCipher& cipher, Target core, const Call& call,
                       const CallClass& call_class, const void* state);

    // Plans a call that will come later; opens and tests the GPUs that would have a shard. Returns
    // false if nothing can run it.
    bool plan_ahead(const char* cipher, const Call& call, Target& core, Plan& shard_plan);

    warpseal_status route(const Key& key, const Call& call, Route& out);
    warpseal_status route_cores(const Key& key, const Call& call, Route& out);  // without GPUs
    // Like route_cores, but without a plan.
    warpseal_status path_on_cores(const Key& key, warpseal_mode mode, Direction direction,
                                  BackendEntry entry, CorePath& out);

    const std::function<void(const char*)> notice;
    const CpuCipher* (*const cpu_cipher)(Target, const char*);
    bool (*const cpu_has)(Target);
    TargetSet cores = {};     // CPU targets that work may run on
    const bool cuda_allowed;  // calls on host memory may use a GPU
    const bool cuda_only;     // calls on host memory always use a GPU
    const bool cuda_exists;   // calls on device memory may use a GPU
    Gpus gpus;
    Pool pool;
    Throughput throughput;
    KemImpl kem;
    std::atomic<unsigned> turn{0};
    const std::function<Speed(int)> speeds;  // replaces measured throughput in tests

    // Memory handed out to callers. free() ignores an address without a record; it zeroizes the
    // others.
    struct Allocation {
        enum class Kind : uint8_t { pageable, pinned, device };
        size_t bytes;
        Kind kind;
    };
    // Memory that is wanted pageable is pinned if a GPU is open. Device memory belongs to the first
    // GPU, which must be open.
    warpseal_status allocate(size_t bytes, Allocation::Kind wanted, void** out);
    void free(void* memory, bool on_device);
    ForkMutex allocations_mutex;
    std::map<void*, Allocation> allocations;
    PinnedBlocks pinned_blocks{*this};

private:
    static void* pageable(size_t bytes);
    MemoryKind memory_kind_of(const Call& call) const;
    // Throughput of all cores together, or of one thread if the call has only that.
    Speed core_speed(const Call& call, const CallClass& call_class, const void* state);
    // Self-tests the GPUs that have a shard in the plan. Returns the bit mask of those that cannot
    // be used, and the last status in `why`.
    uint32_t failed_gpus(const Key& key, const Call& call, const Plan& plan, warpseal_status& why);
    void say_closed(Target target, const char* cipher, warpseal_mode mode,
                    Direction direction) const;
};

}  // namespace warpseal
