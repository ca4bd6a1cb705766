// With WARPSEAL_TEST_FAULT=cores every target expands another key than it was given, so that every
// self-test fails as on a broken machine or build.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "backends/cipher_backend.h"

namespace {

constexpr size_t most = 256;  // ciphers on all targets
std::array<const warpseal::CpuCipher*, most> rights;
std::array<warpseal::CpuCipher, most> wrongs;

template <size_t i>
void expand_another(void* state, const uint8_t* key) {
    uint8_t other[64];
    std::transform(key, key + rights[i]->key_bytes, other,
                   [](uint8_t byte) { return static_cast<uint8_t>(byte ^ 0x10); });
    rights[i]->expand(state, other);
}

template <size_t... i>
constexpr std::array<void (*)(void*, const uint8_t*), most> expand_others(
    std::index_sequence<i...>) {
    return {expand_another<i>...};
}

}  // namespace

extern "C" {

// warpseal::cpu_cipher(Target, const char*).
const warpseal::CpuCipher* __real__ZN8warpseal10cpu_cipherENS_6TargetEPKc(warpseal::Target,
                                                                          const char*);
const warpseal::CpuCipher* __wrap__ZN8warpseal10cpu_cipherENS_6TargetEPKc(warpseal::Target target,
                                                                          const char* name) {
    const warpseal::CpuCipher* const right =
        __real__ZN8warpseal10cpu_cipherENS_6TargetEPKc(target, name);
    const char* const fault = std::getenv("WARPSEAL_TEST_FAULT");
    if (right == nullptr || !fault || std::strcmp(fault, "cores") != 0) return right;
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    const auto place = static_cast<size_t>(
        std::find_if(rights.begin(), rights.end(), [&](auto* r) { return r == right || !r; }) -
        rights.begin());
    warpseal::CpuCipher& wrong = wrongs.at(place);
    if (rights[place] == nullptr) {
        rights[place] = right;
        wrong = *right;
        wrong.expand = expand_others(std::make_index_sequence<most>())[place];
    }
    return &wrong;
}

}  // extern "C"
