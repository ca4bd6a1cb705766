// A batch of operations to measure or test; each item has its own key pair, ciphertext and two
// shared secrets.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "bench/report/memory.h"
#include "cli/support/command.h"
#include "warpseal/kem.h"

namespace warpseal::bench {

enum class KemOperation : uint8_t { keygen = 0, encapsulate = 1, decapsulate = 2 };
constexpr std::array<KemOperation, 3> kem_operations{
    KemOperation::keygen, KemOperation::encapsulate, KemOperation::decapsulate};
const char* kem_operation_name(KemOperation operation);

// Every failure throws BenchWrong.
class KemBatch {
public:
    // Uses memory of the engine's GPU or of the host. The library zeroizes both when they are
    // freed.
    KemBatch(warpseal_engine* engine, const warpseal_kem_info& set, uint64_t count, bool on_device);
    KemBatch(const KemBatch&) = delete;
    KemBatch& operator=(const KemBatch&) = delete;

    // From here on, encapsulation and decapsulation use the first item's pair for all items, and
    // its prepared keys. In host memory alone.
    void prepare_keys();

    // Runs the first `count` items with coins that the library draws, and waits for completion.
    // Decapsulation uses the keys and ciphertexts of the operations before it.
    void run(KemOperation operation, uint64_t count);

    // Returns how many of the first `count` items failed or have two different secrets. Run each
    // operation once before.
    uint64_t mismatches(uint64_t count);
    // Returns the encapsulated secret that `mismatches` read, in the batch's memory.
    std::span<const uint8_t> secret(uint64_t item) const;
    // Overwrites the results, so that the next check reads results of the next operations. Prepared
    // keys need no next key generation.
    void spoil_results();

private:
    struct Results {
        uint8_t *sent, *received;
        int32_t* statuses[kem_operations.size()];
    };
    struct FreeKey {
        void operator()(warpseal_kem_key* key) const { warpseal_kem_key_destroy(key); }
    };
    Results results_in(uint8_t* memory) const;
    warpseal_status call(KemOperation operation, const warpseal_kem_batch& batch) const;

    warpseal_engine* engine_;
    const warpseal_kem_info set_;
    const uint64_t count_;
    const bool on_device_;
    const size_t secrets_at_, ciphertexts_at_, results_at_, bytes_;
    // `memory_` holds all arrays; `copy_` holds a GPU's results in host memory.
    BulkMemory memory_, copy_;
    uint8_t* results_ = nullptr;                                          // in host memory
    std::unique_ptr<warpseal_kem_key, FreeKey> public_key_, secret_key_;  // null: not prepared
};

}  // namespace warpseal::bench
