// Key encapsulation state of an engine: targets, self-test results and workspaces.
#pragma once

#include <atomic>

#include "backends/kem_catalogue.h"
#include "engine/kem/throughput.h"
#include "engine/targets.h"
#include "platform/workspace.h"

namespace warpseal {

// Seed of drawn coins: an AES-256 key, then the first counter block.
struct CoinSeed {
    static constexpr size_t key_bytes = 32, bytes = key_bytes + 16;
};

// Items [begin, end) of a call.
struct KemRange {
    uint64_t begin, end;
};

struct KemImpl {
    const CpuKem* (*const cpu_kem)(Target, const char*);
    bool (*const cpu_has_kem)(Target);
    Workspaces workspaces;
    // Selected CPU target, or -1 before the selection. Lets small calls skip it.
    std::atomic<int8_t> chosen[kem_set_count][kem_operation_count];
    std::atomic<int8_t> chosen_for_coins{-1};  // AES-256
    // True once the selected target has passed its self-test with prepared keys.
    std::atomic<bool> prepared_tested[kem_set_count][kem_key_kind_count] = {};
    // Bit masks of the engine's GPUs whose path passed its self-test, for host memory and for
    // device memory. gpu_coins_tested: AES-256 for coins.
    std::atomic<uint32_t> gpu_tested[2][kem_set_count][kem_operation_count] = {};
    std::atomic<uint32_t> gpu_coins_tested[2] = {};
    KemThroughput throughput;
    // Minimum items per GPU; fewer are not worth a thread. Tests lower it.
    uint64_t items_for_another_gpu = 32768;

    KemImpl(const CpuKem* (*cpu_kem)(Target, const char*), bool (*cpu_has_kem)(Target),
            unsigned threads)
        : cpu_kem(cpu_kem), cpu_has_kem(cpu_has_kem), throughput(threads) {
        for (auto& set : chosen)
            for (auto& operation : set) operation = -1;
    }
};

}  // namespace warpseal
