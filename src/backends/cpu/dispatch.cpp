// CPU backend: finds ciphers by target and name, and detects what this machine's CPU can run.
#include <cpuid.h>

#include <atomic>
#include <cstring>

#include "backends/block_loops.h"

using warpseal::CpuBackend, warpseal::cpu_target_count;
#include "cpu_exports.h"

namespace warpseal {
namespace {

constexpr bool bit(unsigned word, int n) { return (word >> n & 1) != 0; }

// Returns the register sets that the operating system saves: XCR0 (Intel SDM volume 1, 13.3).
uint64_t saved_registers() {
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return uint64_t{high} << 32 | low;
}

struct Machine {
    bool has[cpu_target_count] = {};

    uint32_t bits() const {
        uint32_t all = 0;
        for (int i = 0; i < cpu_target_count; ++i) all |= uint32_t{has[i]} << i;
        return all;
    }

    // Feature bits: Intel SDM volume 2, CPUID, leaves 1 and 7.
    Machine() {
        has[static_cast<int>(Target::portable)] = true;
        unsigned a, b, c, d;
        if (!__get_cpuid(1, &a, &b, &c, &d)) return;
        const bool pclmulqdq = bit(c, 1), ssse3 = bit(c, 9), sse41 = bit(c, 19), aes = bit(c, 25),
                   osxsave = bit(c, 27), avx = bit(c, 28);
        has[static_cast<int>(Target::aesni)] = pclmulqdq && ssse3 && sse41 && aes;
        if (!has[static_cast<int>(Target::aesni)] || !osxsave || !avx ||
            !__get_cpuid_count(7, 0, &a, &b, &c, &d))
            return;

        // ymm: XMM registers and upper halves of YMM. zmm: mask registers, upper halves of ZMM0
        // to ZMM15, and ZMM16 to ZMM31.
        constexpr uint64_t ymm = 0x6, zmm = 0xe0;
        const uint64_t saved = saved_registers();
        const bool avx2 = bit(b, 5) && bit(b, 8) && (saved & ymm) == ymm;  // AVX2, BMI2
        const bool vaes256 =
            avx2 && bit(c, 8) && bit(c, 9) && bit(c, 10);  // GFNI, VAES, VPCLMULQDQ
        const bool f = bit(b, 16), dq = bit(b, 17), bw = bit(b, 30), vl = bit(b, 31),
                   vbmi = bit(c, 1);
        has[static_cast<int>(Target::avx2)] = avx2;
        has[static_cast<int>(Target::vaes256)] = vaes256;
        has[static_cast<int>(Target::vaes512)] =
            vaes256 && f && dq && bw && vl && vbmi && (saved & zmm) == zmm;
    }
};

}  // namespace

// Thread-safe: concurrent first calls compute the same value. There is no lock, because a fork
// could copy it while it is held.
bool cpu_has(Target target) {
    // Bit i is target i. 0: not yet detected, since every CPU has a target.
    static constinit std::atomic<uint32_t> known{0};
    uint32_t bits = known.load(std::memory_order_relaxed);
    if (bits == 0) known.store(bits = Machine().bits(), std::memory_order_relaxed);
    return static_cast<int>(target) < cpu_target_count &&
           (bits >> static_cast<int>(target) & 1) != 0;
}

const CpuCipher* cpu_cipher(Target target, const char* name) {
    if (static_cast<int>(target) >= cpu_target_count) return nullptr;
    for (const CpuBackend* set : cpu_exports[static_cast<int>(target)])
        for (uint32_t i = 0; i < set->count; ++i)
            if (std::strcmp(set->ciphers[i].name, name) == 0) return &set->ciphers[i];
    return nullptr;
}

const CpuCipher* cpu_cipher_at(size_t index) {
    for (const CpuBackend* set : cpu_exports[static_cast<int>(Target::portable)]) {
        if (index < set->count) return &set->ciphers[index];
        index -= set->count;
    }
    return nullptr;
}

const CpuBlockLoops* cpu_block_loops(const CpuCipher& cipher) {
    for (const auto& sets : cpu_exports)
        for (const CpuBackend* set : sets)
            for (uint32_t i = 0; set->loops != nullptr && i < set->count; ++i)
                if (&set->ciphers[i] == &cipher) return &set->loops[i];
    return nullptr;
}

}  // namespace warpseal
