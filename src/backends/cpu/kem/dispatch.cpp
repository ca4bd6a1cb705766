// CPU backend for key encapsulation: finds parameter sets by target and name, and detects what this
// machine's CPU can run.
#include <cpuid.h>

#include <atomic>
#include <cstring>

#include "backends/kem_backend.h"
#include "kem/hybrid_params.h"
#include "kem/mlkem_params.h"

using warpseal::CpuKem, warpseal::cpu_target_count;
#include "cpu_kem_exports.h"

namespace warpseal {
namespace {

// True if the CPU has AVX512_VNNI, AVX512_VBMI2 and AVX512_IFMA (Intel SDM volume 2, CPUID, leaf
// 7).
// Thread-safe: concurrent first calls compute the same value.
bool has_kem512() {
    enum : uint8_t { unknown, no, yes };
    static constinit std::atomic<uint8_t> known{unknown};
    uint8_t answer = known.load(std::memory_order_relaxed);
    if (answer == unknown) {
        unsigned a, b, c, d;
        constexpr unsigned wanted = 1u << 11 | 1u << 6, ifma = 1u << 21;
        answer = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & wanted) == wanted &&
                         (b & ifma) != 0
                     ? yes
                     : no;
        known.store(answer, std::memory_order_relaxed);
    }
    return answer == yes;
}

}  // namespace

bool cpu_has_kem(Target target) {
    if (static_cast<int>(target) >= cpu_target_count ||
        cpu_kem_exports[static_cast<int>(target)] == nullptr || !cpu_has(target))
        return false;
    return target != Target::vaes512 || has_kem512();
}

const CpuKem* cpu_kem(Target target, const char* name) {
    if (static_cast<int>(target) >= cpu_target_count ||
        cpu_kem_exports[static_cast<int>(target)] == nullptr)
        return nullptr;
    for (int i = 0; i < kem::set_count; ++i)
        if (std::strcmp(kem::sets[i]->name, name) == 0)
            return &cpu_kem_exports[static_cast<int>(target)][i];
    for (int i = 0; i < kem::mlkem_set_count; ++i)
        if (std::strcmp(kem::mlkem_sets[i]->name, name) == 0)
            return &cpu_mlkem_exports[static_cast<int>(target)][i];
    for (int i = 0; i < kem::hybrid_set_count; ++i)
        if (std::strcmp(kem::hybrid_sets[i]->name, name) == 0)
            return &cpu_hybrid_exports[static_cast<int>(target)][i];
    return nullptr;
}

}  // namespace warpseal
