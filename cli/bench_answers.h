// What measurements are made on: random data, keys, IVs, batches, the calls themselves, and the
// right answers.
#pragma once

#include <functional>

#include "bench_reference.h"

namespace warpseal::cli {

struct BenchKeyDelete {
    void operator()(warpseal_key* key) const { warpseal_key_destroy(key); }
};
using BenchKey = std::unique_ptr<warpseal_key, BenchKeyDelete>;

// Throws BenchWrong, which says what could not be done and why.
void require_ok(warpseal_status status, const char* what);

std::vector<uint8_t> bench_key(const BenchCase& what);  // not weak, in two halves that differ
BenchKey make_bench_key(warpseal_engine* engine, const BenchCase& what);  // throws BenchWrong
std::vector<uint8_t> message_keys(
    const BenchCase& what,
    uint64_t count);  // one after the other; empty unless each message has its own

// Not secret: as incompressible as random bytes, the same on every machine. `from`, a multiple of
// 8: which part of that data.
void fill_random(uint8_t* out, size_t bytes, uint64_t from = 0);
std::vector<uint8_t> message_ivs(size_t iv_bytes,
                                 uint64_t count);  // one after the other, all different

// The IV that a slice of one message begins with, `blocks` further on: the counter (SP 800-38A B.1,
// modulo the whole block), the ciphertext block before, or the number of the data unit.
std::vector<uint8_t> bench_iv_at(const BenchCase& what, std::vector<uint8_t> iv, uint64_t blocks,
                                 const uint8_t* in);

// One message. `tag` is written or compared where the mode has one; `out` is not looked at by a
// MAC.
warpseal_status bench_call_one(const BenchCase& what, const warpseal_key* key, const uint8_t* iv,
                               const uint8_t* in, uint8_t* out, size_t bytes, uint8_t* tag);
// The same in device memory, of modes that are not serial and have no tag. iv is in host memory.
warpseal_status bench_call_device(const BenchCase& what, const warpseal_key* key, const uint8_t* iv,
                                  const uint8_t* in, uint8_t* out, size_t bytes, void* stream);

// Where a batch's arrays lie: all in host memory, or all on the GPU.
struct BatchMemory {
    const uint8_t* in;
    uint8_t* out;
    const uint8_t* ivs;
    const uint8_t* keys;  // null: the call's key for all
    uint8_t* tags;
    int32_t* statuses;
};
warpseal_batch bench_batch(const BenchCase& what, const BatchMemory& memory, uint64_t bytes,
                           uint64_t message_bytes);
warpseal_status bench_call_batch(const BenchCase& what, const warpseal_key* key,
                                 const warpseal_batch& batch);
warpseal_status bench_call_batch_device(const BenchCase& what, const warpseal_key* key,
                                        const warpseal_batch& batch, void* stream);

// What says which output is right.
enum class Oracle {
    openssl,  // where it has the cipher, else another target of ours
    cores  // our own, whose outputs are held to OpenSSL's elsewhere: quick enough for gigabytes of
           // any cipher
};

// A large buffer's input with the right output and tags, computed on all cores where the mode
// allows.
struct Answers {
    const uint8_t *in, *out;  // in the caller's memory; out: null for a MAC
    uint64_t bytes, message_bytes;
    std::vector<uint8_t> ivs, keys, tags;
    std::string checked_against;
    // `text` and `other` are `bytes` long; where each of input and output lies is for `in` and
    // `out` to say.
    Answers(const BenchCase& what, uint8_t* text, uint8_t* other, uint64_t bytes,
            uint64_t message_bytes, const std::string& device, Oracle oracle);
    uint64_t count() const { return tags.size() / bench_tag_stride; }

private:
    void compute(const BenchCase& what, const uint8_t* from, uint8_t* to, const std::string& device,
                 Oracle oracle);
};

// OpenSSL's rate on options.threads threads with buffers of their own, as measure_cores takes it;
// one call is one repetition, in GB/s.
struct OpenSslMeter {
    std::function<double()> rate;  // null: OpenSSL has neither the mode nor the cipher's ECB
    std::string yardstick;         // set where it runs its ECB instead
};
OpenSslMeter openssl_meter(const BenchOptions& options, const BenchCase& what, uint64_t bytes,
                           uint64_t message_bytes);

// Calls work(begin, end) on slices of [0, count), one for each processor.
void in_slices(uint64_t count, const std::function<void(uint64_t begin, uint64_t end)>& work);
// The same on [0, bytes), cut at whole mebibytes.
void in_pieces(uint64_t bytes, const std::function<void(uint64_t begin, uint64_t end)>& work);

}  // namespace warpseal::cli
