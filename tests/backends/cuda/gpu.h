// Shared by the GPU tests: the real backend, every cipher and table layout, keys, device memory of
// exact size, and expected outputs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cuda/host/device.h"
#include "backends/cuda/kernels/ghash.h"
#include "backends/gpu_backend.h"
#include "core/secret.h"
#include "reference/modes.h"
#include "support/oracle.h"
#include "support/random.h"
#include "support/reference_cipher.h"

namespace gpu {

using reference::Text;
using warpseal::CudaCipher;
using warpseal::Direction;

inline const warpseal::GpuBackend& backend() { return *warpseal::gpu_backend(); }
inline constexpr int device = 0;

inline bool present() {
    int count = 0;
    return backend().device_count(&count) == WARPSEAL_OK && count > 0;
}

// Returns true if GCM of long texts takes two passes there.
inline bool has_ghash() {
    warpseal::cuda::Limits limits;
    return warpseal::cuda::current_limits(limits) == WARPSEAL_OK &&
           warpseal::cuda::has_ghash(limits);
}

// AES again, with the table layout of GPUs that have less shared memory
// (tests/backends/cuda/CMakeLists.txt).
extern "C" const warpseal::CudaCipherSet warpseal_cuda_merged_aes;

enum class Layouts { usual, merged };

// The parameter selects the table layouts: every cipher with the usual ones, AES with those of
// small GPUs.
class OnGpu : public testing::TestWithParam<Layouts> {
protected:
    void SetUp() override {
        if (!present()) GTEST_SKIP() << "no GPU";
    }
    static std::vector<const CudaCipher*> ciphers() {
        std::vector<const CudaCipher*> all;
        if (GetParam() == Layouts::merged) {
            for (uint32_t i = 0; i < warpseal_cuda_merged_aes.count; ++i)
                all.push_back(&warpseal_cuda_merged_aes.ciphers[i]);
        } else {
            const warpseal::CpuCipher* cpu = nullptr;
            for (size_t i = 0; (cpu = warpseal::cpu_cipher_at(i)) != nullptr; ++i)
                all.push_back(backend().cipher(cpu->name));
        }
        return all;
    }
};

class OnGpuOnce : public testing::Test {
protected:
    void SetUp() override {
        if (!present()) GTEST_SKIP() << "no GPU";
    }
};

// While it lives and `on` is set, kernels for long texts accept any length.
struct AnyLength {
    explicit AnyLength(bool on) { warpseal::cuda::accept_any_length(on); }
    AnyLength(const AnyLength&) = delete;
    AnyLength& operator=(const AnyLength&) = delete;
    ~AnyLength() { warpseal::cuda::accept_any_length(false); }
};

// Device memory of exactly that many bytes, so that a memory checker detects every access outside.
class Memory {
public:
    explicit Memory(size_t bytes) : bytes_(bytes) {
        EXPECT_EQ(backend().device_alloc(device, bytes == 0 ? 1 : bytes, &data_), WARPSEAL_OK);
    }
    explicit Memory(const Text& text) : Memory(text.size()) { put(text); }
    ~Memory() { backend().device_free(device, data_, bytes_); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    uint8_t* data() const { return static_cast<uint8_t*>(data_); }
    void put(const Text& text) {
        EXPECT_EQ(
            text.empty() ? WARPSEAL_OK : backend().upload(device, data_, text.data(), text.size()),
            WARPSEAL_OK);
    }
    Text get() const {
        Text text(bytes_);
        EXPECT_EQ(
            bytes_ == 0 ? WARPSEAL_OK : backend().download(device, text.data(), data_, bytes_),
            WARPSEAL_OK);
        return text;
    }

private:
    void* data_ = nullptr;
    size_t bytes_;
};

struct Key {
    const CudaCipher& cipher;
    Text bytes;
    std::vector<uint8_t> memory;

    Key(const CudaCipher& c, const Text& key) : cipher(c), bytes(key), memory(c.state_bytes + 64) {
        cipher.expand(state(), key.data());
    }
    Key(const CudaCipher& c, tests::Random& random) : Key(c, random.text(c.key_bytes)) {}
    Key(const char* name, tests::Random& random) : Key(*backend().cipher(name), random) {}
    void* state() { return memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64); }
    std::string mode(const char* name) const { return std::string(cipher.name) + "-" + name; }
};

// Queues a kernel that accesses unmapped memory and does not wait for it: the context dies.
inline void poison(Key& key, const Text& iv) {
    uint8_t* nowhere = reinterpret_cast<uint8_t*>(uintptr_t{4096});
    backend().sweep_device(device, key.cipher, key.state(), WARPSEAL_CTR, Direction::encrypt,
                           iv.data(), nowhere, nowhere, 1 << 20, nullptr);
}

inline const char* const names[] = {"aes-128", "aes-192", "aes-256"};

inline Text slice(const Text& text, size_t at, size_t bytes) {
    return Text(text.begin() + static_cast<std::ptrdiff_t>(at),
                text.begin() + static_cast<std::ptrdiff_t>(at + bytes));
}
inline void write(Text& to, size_t at, const Text& text) {
    std::copy(text.begin(), text.end(), to.begin() + static_cast<std::ptrdiff_t>(at));
}

// Returns the big-endian counter plus n.
inline Text plus(Text counter, uint64_t n) {
    for (int i = 15; i >= 0; --i) {
        const uint64_t sum = counter[static_cast<size_t>(i)] + (n & 0xff);
        counter[static_cast<size_t>(i)] = static_cast<uint8_t>(sum);
        n = (n >> 8) + (sum >> 8);
    }
    return counter;
}

// Returns the expected output of a mode without a tag, from the slow reference; from libcrypto for
// AES-CTR.
inline Text expected(const CudaCipher& cipher, warpseal_mode mode, Direction direction,
                     const Text& key, const Text& iv, uint64_t first_block, const Text& in) {
    const bool encrypt = direction == Direction::encrypt;
    if (in.empty()) return {};
    if (mode == WARPSEAL_CTR && std::strncmp(cipher.name, "aes", 3) == 0)
        return oracle::run(std::string(cipher.name) + "-ctr", true, key, plus(iv, first_block), {},
                           in, nullptr);
    const auto reference_cipher = tests::make_reference_cipher(cipher.name, key);
    switch (mode) {
        case WARPSEAL_ECB:
            return encrypt ? reference::ecb_encrypt(*reference_cipher, in)
                           : reference::ecb_decrypt(*reference_cipher, in);
        case WARPSEAL_CBC:
            return encrypt ? reference::cbc_encrypt(*reference_cipher, iv, in)
                           : reference::cbc_decrypt(*reference_cipher, iv, in);
        case WARPSEAL_CFB:
            return encrypt ? reference::cfb_encrypt(*reference_cipher, iv, in)
                           : reference::cfb_decrypt(*reference_cipher, iv, in);
        case WARPSEAL_OFB: return reference::ofb(*reference_cipher, iv, in);
        default: return reference::ctr(*reference_cipher, iv, in, first_block);
    }
}

}  // namespace gpu
