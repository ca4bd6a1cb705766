// What the GPU tests share: the real door, keys, device memory of exact size, and batches in device memory.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "backends/cuda/device.h"
#include "backends/ops.h"
#include "core/secret.h"
#include "oracle.h"
#include "random.h"

namespace gpu {

using reference::Text;
using warpseal::CudaCipher;
using warpseal::Direction;

inline const warpseal::CudaDoor& door() { return *warpseal::cuda_door(); }
inline constexpr int device = 0;

inline bool present() {
    int count = 0;
    return door().device_count(&count) == WARPSEAL_OK && count > 0;
}

// The parameter pretends that much shared memory a block, so that both table layouts run.
class OnGpu : public testing::TestWithParam<size_t> {
protected:
    void SetUp() override {
        if (!present()) GTEST_SKIP() << "no GPU";
        warpseal::cuda::pretend_shared_bytes(GetParam());
    }
    void TearDown() override { warpseal::cuda::pretend_shared_bytes(SIZE_MAX); }
};
inline constexpr size_t layouts[] = {SIZE_MAX, 64 * 1024};

class OnGpuOnce : public testing::Test {
protected:
    void SetUp() override {
        if (!present()) GTEST_SKIP() << "no GPU";
    }
};

// Device memory of exactly so many bytes (so that a memory checker sees every byte outside).
class Memory {
public:
    explicit Memory(size_t bytes) : bytes_(bytes) { EXPECT_EQ(door().device_alloc(device, bytes == 0 ? 1 : bytes, &data_), WARPSEAL_OK); }
    explicit Memory(const Text& text) : Memory(text.size()) { put(text); }
    ~Memory() { door().device_free(device, data_, bytes_); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    uint8_t* data() const { return static_cast<uint8_t*>(data_); }
    void put(const Text& text) {
        EXPECT_EQ(text.empty() ? WARPSEAL_OK : door().upload(device, data_, text.data(), text.size()), WARPSEAL_OK);
    }
    Text get() const {
        Text text(bytes_);
        EXPECT_EQ(bytes_ == 0 ? WARPSEAL_OK : door().download(device, text.data(), data_, bytes_), WARPSEAL_OK);
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

    Key(const char* name, const Text& key) : cipher(*door().cipher(name)), bytes(key), memory(cipher.state_bytes + 64) {
        cipher.expand(state(), key.data());
    }
    Key(const char* name, tests::Random& random) : Key(name, random.text(door().cipher(name)->key_bytes)) {}
    void* state() { return memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64); }
    std::string mode(const char* name) const { return std::string(cipher.name) + "-" + name; }
};

inline const char* const names[] = {"aes-128", "aes-192", "aes-256"};

// The counter, a big-endian number, plus n.
inline Text plus(Text counter, uint64_t n) {
    for (int i = 15; i >= 0; --i) {
        const uint64_t sum = counter[static_cast<size_t>(i)] + (n & 0xff);
        counter[static_cast<size_t>(i)] = static_cast<uint8_t>(sum);
        n = (n >> 8) + (sum >> 8);
    }
    return counter;
}

}  // namespace gpu
