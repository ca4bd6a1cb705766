// A batch of NTRU operations to measure or to test: each item has a key pair, a ciphertext and two
// secrets of its own.
#pragma once

#include <array>

#include "bench_memory.h"
#include "kem.h"

namespace warpseal::cli {

enum class KemOperation : uint8_t { keygen = 0, encapsulate = 1, decapsulate = 2 };
constexpr std::array<KemOperation, 3> kem_operations{
    KemOperation::keygen, KemOperation::encapsulate, KemOperation::decapsulate};
const char* kem_operation_name(KemOperation operation);

using KemSecret = std::array<uint8_t, 32>;

// Whatever fails throws BenchWrong.
class KemBatch {
public:
    // In the memory of the engine's GPU, or in the host's: the library wipes both when they are
    // freed.
    KemBatch(warpseal_engine* engine, const warpseal_kem_info& set, uint64_t count, bool on_device);
    KemBatch(const KemBatch&) = delete;
    KemBatch& operator=(const KemBatch&) = delete;

    // The first `count` items, with coins that the library draws; returns when it is done.
    // Decapsulation is of what was encapsulated, under the keys that were generated.
    void run(KemOperation operation, uint64_t count);

    // After one operation of each: how many of the first `count` items have no result, or another
    // secret than was sent.
    uint64_t mismatches(uint64_t count);
    // The secret that `mismatches` saw sent.
    KemSecret secret(uint64_t item) const;
    // So that the next look is at results of the next operations.
    void spoil_results();

private:
    struct Results {
        uint8_t *sent, *received;
        int32_t* statuses[kem_operations.size()];
    };
    Results results_in(uint8_t* memory) const;

    warpseal_engine* engine_;
    const warpseal_kem_info set_;
    const uint64_t count_;
    const bool on_device_;
    const size_t secrets_at_, ciphertexts_at_, results_at_, bytes_;
    BulkMemory memory_, copy_;    // all of it; a GPU's results, as the host sees them
    uint8_t* results_ = nullptr;  // in host memory
};

}  // namespace warpseal::cli
