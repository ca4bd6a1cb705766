// With WARPSEAL_TEST_FAULT=cores no target expands a key as it should, so that every self-test fails: what a broken machine or build would
// be.
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "backends/ops.h"

extern "C" {

// warpseal::cpu_cipher(Target, const char*).
const warpseal::CpuCipher* __real__ZN8warpseal10cpu_cipherENS_6TargetEPKc(warpseal::Target, const char*);
const warpseal::CpuCipher* __wrap__ZN8warpseal10cpu_cipherENS_6TargetEPKc(warpseal::Target target, const char* name) {
    const warpseal::CpuCipher* const right = __real__ZN8warpseal10cpu_cipherENS_6TargetEPKc(target, name);
    const char* const fault = std::getenv("WARPSEAL_TEST_FAULT");
    if (right == nullptr || !fault || std::strcmp(fault, "cores") != 0) return right;
    static std::mutex mutex;
    static std::map<const warpseal::CpuCipher*, warpseal::CpuCipher> broken;
    const std::lock_guard lock(mutex);
    warpseal::CpuCipher& wrong = broken.try_emplace(right, *right).first->second;
    wrong.expand = [](void* state, const uint8_t*) { *static_cast<uint8_t*>(state) = 0; };
    return &wrong;
}

}  // extern "C"
