// Inputs of measurements: random data, keys, IVs, batches, the library calls and the expected
// outputs.
#pragma once

#include "bench/bulk/reference.h"

namespace warpseal::bench {

struct BenchKeyDelete {
    void operator()(warpseal_key* key) const { warpseal_key_destroy(key); }
};
using BenchKey = std::unique_ptr<warpseal_key, BenchKeyDelete>;

// Returns a key that is not weak and whose two halves differ.
std::vector<uint8_t> bench_key(const BenchCase& what);
BenchKey make_bench_key(warpseal_engine* engine, const BenchCase& what);  // Throws BenchWrong.
// Returns `count` keys in a row; empty unless each message has its own key.
std::vector<uint8_t> message_keys(const BenchCase& what, uint64_t count);

// Fills `out` with pseudorandom, incompressible data, the same on every machine. Not for secrets.
// `from`, a multiple of 8, is the offset in that stream.
void fill_random(uint8_t* out, size_t bytes, uint64_t from = 0);
// Returns `count` distinct IVs in a row.
std::vector<uint8_t> message_ivs(size_t iv_bytes, uint64_t count);

// Returns the IV for a slice that starts `blocks` blocks into a message. This is the counter (SP
// 800-38A B.1, modulo the whole block), the previous ciphertext block or the data unit number.
std::vector<uint8_t> bench_iv_at(const BenchCase& what, std::vector<uint8_t> iv, uint64_t blocks,
                                 const uint8_t* in);

// Processes one message. Writes or compares `tag` in modes that have one; a MAC ignores `out`.
warpseal_status bench_call_one(const BenchCase& what, const warpseal_key* key, const uint8_t* iv,
                               const uint8_t* in, uint8_t* out, size_t bytes, uint8_t* tag);
// Same as bench_call_one in device memory, for parallel modes without a tag. `iv` is in host
// memory.
warpseal_status bench_call_device(const BenchCase& what, const warpseal_key* key, const uint8_t* iv,
                                  const uint8_t* in, uint8_t* out, size_t bytes, void* stream);

// Arrays of a batch, all in host memory or all in GPU memory.
struct BatchMemory {
    const uint8_t* in;
    uint8_t* out;
    const uint8_t* ivs;
    const uint8_t* keys;  // null: all messages use the call's key
    uint8_t* tags;
    int32_t* statuses;
};
warpseal_batch bench_batch(const BenchCase& what, const BatchMemory& memory, uint64_t bytes,
                           uint64_t message_bytes);
warpseal_status bench_call_batch(const BenchCase& what, const warpseal_key* key,
                                 const warpseal_batch& batch);
warpseal_status bench_call_batch_device(const BenchCase& what, const warpseal_key* key,
                                        const warpseal_batch& batch, void* stream);

// Source of the expected output.
enum class Oracle {
    openssl,  // OpenSSL if it has the cipher, otherwise another of our targets.
    // Our own cores, whose outputs other tests compare with OpenSSL's. Fast enough for gigabytes of
    // any cipher.
    cores
};

// Input of a large buffer with its expected output and tags, computed on all cores if the mode
// allows it.
struct ReferenceOutput {
    const uint8_t *in, *out;  // In the caller's memory; `out` is null for a MAC.
    uint64_t bytes, message_bytes;
    std::vector<uint8_t> ivs, keys, tags;
    std::string checked_against;
    // `text` and `other` each have `bytes` bytes. `in` and `out` tell which of the two holds the
    // input.
    ReferenceOutput(const BenchCase& what, uint8_t* text, uint8_t* other, uint64_t bytes,
                    uint64_t message_bytes, const std::string& device, Oracle oracle);
    uint64_t count() const { return tags.size() / bench_tag_stride; }

private:
    void compute(const BenchCase& what, const uint8_t* from, uint8_t* to, const std::string& device,
                 Oracle oracle);
};

}  // namespace warpseal::bench
