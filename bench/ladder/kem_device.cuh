// Helpers for running NTRU's steps on a GPU: rows of keys, kernel launches, and the product's calls
// with drawn coins.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backends/gpu_backend.h"
#include "backends/kem_catalogue.h"
#include "bench/ladder/device.cuh"
#include "bench/ladder/kem.h"

namespace warpseal::ladder {

// Items of one product call, as in its published figures, so that memory need not hold coins for
// all.
inline constexpr uint64_t batch_items = 1 << 17;
inline std::vector<uint8_t> row(const Memory& memory, uint64_t item, size_t bytes) {
    std::vector<uint8_t> out(bytes);
    check(cudaMemcpy(out.data(), memory.data() + item * bytes, bytes, cudaMemcpyDeviceToHost));
    return out;
}

inline bool same(const Memory& a, const Memory& b) {
    Memory differences(sizeof(uint32_t));
    differences.set(0);
    count_differences<<<1024, threads>>>(a.as<uint64_t>(), b.as<uint64_t>(), a.bytes() / 8,
                                         differences.as<uint32_t>());
    check(cudaGetLastError());
    uint32_t found = 1;
    check(cudaMemcpy(&found, differences.data(), sizeof found, cudaMemcpyDeviceToHost));
    return found == 0;
}

inline void agree(bool same) {
    if (!same) throw Failure{WARPSEAL_SELF_TEST_FAILED};
}

inline uint64_t whole(uint64_t bytes, uint64_t multiple) {
    return (bytes + multiple - 1) / multiple * multiple;
}

// States and work space of the backends must be aligned to 64 bytes.
inline uint8_t* aligned(std::vector<uint8_t>& memory) {
    return memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
}

// Rows of a batch, padded to a multiple of 8 bytes, with every byte initialized.
struct Rows : Memory {
    Rows(uint64_t count, size_t bytes) : Memory(whole(count * bytes, 8)) { set(0xa5); }
};

template <class Launch>
double median_time(const KemOptions& options, const Launch& launch) {
    std::vector<double> taken;
    Event first, begin, end;
    first.record();
    do {
        begin.record();
        launch();
        end.record();
        taken.push_back(end.milliseconds_since(begin));
    } while (static_cast<int>(taken.size()) < options.repetitions &&
             end.milliseconds_since(first) < 1000 * options.seconds);
    std::sort(taken.begin(), taken.end());
    return taken[taken.size() / 2];
}

// A compiled kernel: its attributes, block size and launch.
class Kernel {
public:
    // The number of threads per block must be a multiple of `threads_together`.
    Kernel(const void* kernel, int own_threads, int threads_together, size_t shared_bytes,
           const KemOptions& options)
        : kernel_(kernel),
          multiprocessors_(attribute_of(options.device, cudaDevAttrMultiProcessorCount)) {
        check(cudaFuncGetAttributes(&attributes_, kernel));
        threads_ = options.threads_per_block != 0 ? options.threads_per_block : own_threads;
        if (threads_ < 1 || threads_ > attributes_.maxThreadsPerBlock ||
            threads_ % threads_together != 0)
            throw Failure{WARPSEAL_INVALID_ARGUMENT};
        residency_.emplace(kernel, threads_, shared_bytes, 0, options.device);
    }
    uint64_t grid_blocks() const {
        return static_cast<uint64_t>(residency_->blocks()) *
               static_cast<uint64_t>(multiprocessors_);
    }
    void launch(uint64_t blocks, void* job) const {
        void* arguments[] = {job};
        check(cudaLaunchKernel(kernel_, dim3(static_cast<unsigned>(blocks)),
                               dim3(static_cast<unsigned>(threads_)), arguments,
                               residency_->shared_bytes(), nullptr));
    }
    // `blocks`: blocks of threads of the launch.
    KemMeasured figure(uint64_t count, double milliseconds, uint64_t blocks) const {
        KemMeasured m;
        m.milliseconds = milliseconds;
        m.count = count;
        m.registers = attributes_.numRegs;
        m.local_bytes = static_cast<int>(attributes_.localSizeBytes);
        m.shared_bytes = static_cast<int>(attributes_.sharedSizeBytes + residency_->shared_bytes());
        m.threads_per_block = threads_;
        m.resident_blocks = residency_->blocks();
        m.occupancy = residency_->occupancy();
        m.multiprocessors = multiprocessors_;
        m.blocks = static_cast<double>(blocks);
        return m;
    }

private:
    const void* kernel_;
    const int multiprocessors_;
    cudaFuncAttributes attributes_{};
    int threads_ = 0;
    std::optional<Residency> residency_;
};

// The product's calls on whole batches in device memory.
class Product {
public:
    explicit Product(const char* set)
        : kem_(*cuda_kem(set)),
          set_(*kem_.set->ntru),
          stride_(whole(std::max(set_.keypair_coins(), set_.encapsulation_coins()), 16)) {}
    const kem::Params& set() const { return set_; }

    // Runs the operation with the coins that `draw` writes into device memory for each range of
    // items.
    template <class Draw>
    void run(KemOperation operation, warpseal_kem_batch batch, Draw&& draw) {
        const uint64_t all = batch.count;
        reserve(operation, std::min(all, batch_items));
        for (uint64_t first = 0; first < all; first += batch.count) {
            batch.count = std::min(batch_items, all - first);
            if (operation != KemOperation::decapsulate) {
                draw(coins_->data(), stride_, first, batch.count);
                batch.coins = coins_->data();
                batch.coins_stride = stride_;
            }
            check(kem_.run[static_cast<int>(operation)](batch, all, work_->data(), nullptr));
            for (auto [at, stride] : {std::pair{&batch.public_keys, batch.public_key_stride},
                                      {&batch.secret_keys, batch.secret_key_stride},
                                      {&batch.ciphertexts, batch.ciphertext_stride},
                                      {&batch.shared_secrets, batch.shared_secret_stride}})
                if (*at != nullptr) *at += batch.count * stride;
        }
    }

private:
    void reserve(KemOperation operation, uint64_t count) {
        const size_t work = kem_.work_bytes(operation, count);
        if (!coins_ || coins_->bytes() < count * stride_)
            coins_ = std::make_unique<Memory>(count * stride_);
        if (!work_ || work_->bytes() < work) work_ = std::make_unique<Memory>(work);
    }

    const CudaKem& kem_;
    const kem::Params& set_;
    const uint64_t stride_;
    std::unique_ptr<Memory> coins_, work_;
};

// Draws coins with AES-256 in counter mode on the GPU, as the library does if the caller gives
// none.
class DrawnCoins {
public:
    explicit DrawnCoins(int device)
        : device_(device), aes_(*gpu_backend()->cipher("aes-256")), memory_(aes_.state_bytes + 64) {
        // Fixed key of the study; the library takes a user's key from the operating system.
        const uint8_t key[32] = {0x57, 0x61, 0x72, 0x70};
        aes_.expand(aligned(memory_), key);
    }
    void operator()(uint8_t* coins, uint64_t stride, uint64_t, uint64_t count) {
        const uint8_t iv[16] = {};
        check(cudaMemsetAsync(coins, 0, count * stride));
        check(gpu_backend()->sweep_device(device_, aes_, aligned(memory_), WARPSEAL_CTR,
                                          Direction::encrypt, iv, coins, coins, count * stride,
                                          nullptr));
    }

private:
    const int device_;
    const CudaCipher& aes_;
    std::vector<uint8_t> memory_;
};

}  // namespace warpseal::ladder
