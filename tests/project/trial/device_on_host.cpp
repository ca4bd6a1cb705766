// Runs the device code that scripts/new-cipher --from generates on a core, with CUDA's words
// defined away. Its three places for tables must give what the C file gives.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <vector>

#include "trial.h"

#define __device__
#define __constant__
#define __shared__
#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ inline

namespace {

struct {
    unsigned x = 0;
} threadIdx;

using cudaError_t = int;
constexpr cudaError_t cudaSuccess = 0;

template <class Symbol>
cudaError_t cudaMemcpyToSymbol(Symbol& symbol, const void* from, size_t bytes) {
    std::memcpy(const_cast<std::remove_cv_t<Symbol>*>(&symbol), from, bytes);
    return bytes == sizeof symbol ? cudaSuccess : 1;
}

// Byte i of the result is the byte of y:x that digit i of the selector names.
[[maybe_unused]] uint32_t __byte_perm(uint32_t x, uint32_t y, uint32_t selector) {
    const uint64_t both = uint64_t{y} << 32 | x;
    uint32_t result = 0;
    for (int i = 0; i < 4; ++i)
        result |= uint32_t(both >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    return result;
}

[[maybe_unused]] void* device_memmove(void* to, const void* from, size_t bytes) {
    return std::memmove(to, from, bytes);
}
[[maybe_unused]] int device_memcmp(const void* a, const void* b, size_t bytes) {
    return std::memcmp(a, b, bytes);
}

void copy_to_shared(unsigned char* to, const unsigned char* from, unsigned bytes) {
    if (threadIdx.x == 0) std::memcpy(to, from, bytes);
}

void __syncthreads() {}

}  // namespace

#include "device_cipher.cuh"

alignas(16) uint8_t shared_memory[1 << 20];

namespace {

const trial_cipher& cipher = cipher_under_trial;

template <class Cipher>
bool equal(const std::vector<uint8_t>& context) {
    const uint8_t* const prepared = Cipher::prepare(context.data());
    uint32_t state = 1;
    for (int n = 0; n < 1000; ++n) {
        alignas(16) uint8_t in[16], want[16], got[16];
        for (uint8_t& b : in)
            b = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
        cipher.encrypt(context.data(), in, want);
        Cipher::encrypt(prepared, in, got);
        bool right = !std::memcmp(got, want, cipher.block_bytes);
        if (cipher.decrypt != nullptr) {
            Cipher::decrypt(prepared, want, got);
            right &= !std::memcmp(got, in, cipher.block_bytes);
        }
        if (right) continue;
        std::printf("device code with tables in %s memory differs in block %d\n", Cipher::place, n);
        return false;
    }
    return true;
}

}  // namespace

int main() {
    std::vector<uint8_t> key(cipher.key_bytes), context(cipher.context_bytes);
    for (size_t i = 0; i < key.size(); ++i) key[i] = static_cast<uint8_t>(37 * i + 11);
    cipher.expand(key.data(), context.data());
    if (trial_block_bytes != cipher.block_bytes || in_shared::Cipher::shared_bytes < context.size())
        return 2;
    if (copy_tables(context.data(), context.size()) != cudaSuccess) return 2;
    bool right = equal<in_global::Cipher>(context);
#if TRIAL_CONSTANT
    right &= equal<in_constant::Cipher>(context);
#endif
    // Shared memory has no tables until `prepare` copies them.
    std::memset(shared_memory, 0xee, sizeof shared_memory);
    return right & equal<in_shared::Cipher>(context) ? 0 : 1;
}
