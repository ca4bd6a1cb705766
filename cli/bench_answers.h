// What measurements are made on: random data, IVs, batches, and OpenSSL's answer to compare the output with.
#pragma once

#include <functional>

#include "bench_openssl.h"

namespace warpseal::cli {

struct BenchKeyDelete {
    void operator()(warpseal_key* key) const { warpseal_key_destroy(key); }
};
using BenchKey = std::unique_ptr<warpseal_key, BenchKeyDelete>;

std::vector<uint8_t> bench_key(const BenchCase& what);
BenchKey make_bench_key(warpseal_engine* engine, const BenchCase& what, const std::vector<uint8_t>& key);  // throws BenchWrong

void fill_random(uint8_t* out, size_t bytes);  // not secret: as incompressible as random bytes, the same on every machine
std::vector<uint8_t> message_ivs(size_t iv_bytes, uint64_t count);  // one after the other, all different

// Where a batch's arrays lie: all in host memory, or all on the GPU.
struct BatchMemory {
    const uint8_t* in;
    uint8_t* out;
    const uint8_t* ivs;
    uint8_t* tags;
    int32_t* statuses;
};
warpseal_batch bench_batch(const BenchCase& what, const BatchMemory& memory, uint64_t bytes, uint64_t message_bytes);
warpseal_status bench_call_batch(const BenchCase& what, const warpseal_key* key, const warpseal_batch& batch);
warpseal_status bench_call_batch_device(const BenchCase& what, const warpseal_key* key, const warpseal_batch& batch, void* stream);

// A large buffer's plaintext with OpenSSL's ciphertext and tags, computed on all cores where the mode allows.
struct Answers {
    std::vector<uint8_t> plaintext, ciphertext, ivs, tags;
    uint64_t message_bytes;
    Answers(const BenchCase& what, uint64_t bytes, uint64_t message_bytes);
};

// OpenSSL's rate in GB/s on options.threads threads with buffers of their own, as measure_cores takes it; one call is one repetition.
std::function<double()> openssl_meter(const BenchOptions& options, const BenchCase& what, uint64_t bytes, uint64_t message_bytes);

// Calls work(begin, end) on slices of [0, count), one for each processor.
void in_slices(uint64_t count, const std::function<void(uint64_t begin, uint64_t end)>& work);

}  // namespace warpseal::cli
