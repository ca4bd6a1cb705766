// What an engine keeps for key encapsulation: the targets that it may use, those whose self-tests hold, and work space.
#pragma once

#include <atomic>

#include "backends/kem_ops.h"
#include "engine/workspace.h"

namespace warpseal {

struct KemInside {
    const CpuKem* (*const cpu_kem)(Target, const char*);
    bool (*const cpu_has_kem)(Target);
    Workspaces workspaces;
    // The choice among the CPU targets, -1 before there is one: so that small calls ask nobody.
    std::atomic<int8_t> chosen[kem::set_count][kem_operation_count];
    std::atomic<int8_t> chosen_for_coins{-1};  // AES-256

    KemInside(const CpuKem* (*cpu_kem)(Target, const char*), bool (*cpu_has_kem)(Target)) : cpu_kem(cpu_kem), cpu_has_kem(cpu_has_kem) {
        for (auto& set : chosen)
            for (auto& operation : set) operation = -1;
    }
};

}  // namespace warpseal
