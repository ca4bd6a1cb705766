// What an engine keeps for key encapsulation: the targets that it may use, those whose self-tests
// hold, and work space.
#pragma once

#include <atomic>

#include "backends/kem_backend.h"
#include "engine/kem/throughput.h"
#include "engine/targets.h"
#include "platform/workspace.h"

namespace warpseal {

// In kem::sets; -1: there is none of that name.
int set_number(const char* name);

// What drawn coins are made from: the key of AES-256, then the counter of the first block.
struct CoinSeed {
    static constexpr size_t key_bytes = 32, bytes = key_bytes + 16;
};

// Items [begin, end) of a call.
struct KemRange {
    uint64_t begin, end;
};

// The GPUs that a call in host memory goes to, by their numbers, and what runs there.
struct KemGpus {
    const CudaKem* kem = nullptr;
    const CudaCipher* aes = nullptr;
    unsigned numbers[most_gpus] = {};
    unsigned count = 0;
};

// What runs a call on the cores. aes: of drawn coins; null: there are none.
struct KemCores {
    const CpuKem* kem = nullptr;
    const CpuCipher* aes = nullptr;
};

struct KemImpl {
    const CpuKem* (*const cpu_kem)(Target, const char*);
    bool (*const cpu_has_kem)(Target);
    Workspaces workspaces;
    // The choice among the CPU targets, -1 before there is one: so that small calls ask nobody.
    std::atomic<int8_t> chosen[kem::set_count][kem_operation_count];
    std::atomic<int8_t> chosen_for_coins{-1};  // AES-256
    // A bit for each GPU of the engine whose path holds, through host memory and on device memory;
    // and for AES-256 of coins.
    std::atomic<uint32_t> gpu_tested[2][kem::set_count][kem_operation_count] = {};
    std::atomic<uint32_t> gpu_coins_tested[2] = {};
    KemThroughput throughput;
    uint64_t items_for_another_gpu = 32768;  // less is not worth its thread; tests ask for less

    KemImpl(const CpuKem* (*cpu_kem)(Target, const char*), bool (*cpu_has_kem)(Target),
            unsigned threads)
        : cpu_kem(cpu_kem), cpu_has_kem(cpu_has_kem), throughput(threads) {
        for (auto& set : chosen)
            for (auto& operation : set) operation = -1;
    }
};

}  // namespace warpseal
