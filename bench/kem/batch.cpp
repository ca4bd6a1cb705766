// A batch of operations in one allocation, and the comparison of both secrets.
#include "bench/kem/batch.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "bench/report/failure.h"

namespace warpseal::bench {
namespace {

struct Operation {
    const char* name;
    warpseal_status (*on_host)(warpseal_engine*, const char*, const warpseal_kem_batch*);
    warpseal_status (*on_device)(warpseal_engine*, const char*, const warpseal_kem_batch*,
                                 void* stream);
};
constexpr Operation operations[kem_operations.size()] = {
    {"keygen", warpseal_kem_keypair, warpseal_kem_keypair_device},
    {"encapsulate", warpseal_kem_encapsulate, warpseal_kem_encapsulate_device},
    {"decapsulate", warpseal_kem_decapsulate, warpseal_kem_decapsulate_device},
};

constexpr int32_t no_status = -1;

size_t aligned(size_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

const char* kem_operation_name(KemOperation operation) {
    return operations[static_cast<size_t>(operation)].name;
}

KemBatch::KemBatch(warpseal_engine* engine, const warpseal_kem_info& set, uint64_t count,
                   bool on_device)
    : engine_(engine),
      set_(set),
      count_(count),
      on_device_(on_device),
      secrets_at_(aligned(count * set.public_key_bytes)),
      ciphertexts_at_(secrets_at_ + aligned(count * set.secret_key_bytes)),
      results_at_(ciphertexts_at_ + aligned(count * set.ciphertext_bytes)),
      bytes_(results_at_ + 2 * aligned(count * set_.shared_secret_bytes) +
             kem_operations.size() * aligned(count * sizeof(int32_t))),
      memory_(engine, on_device),
      copy_(engine, false) {
    memory_.at_least(bytes_);
    results_ = on_device ? copy_.at_least(bytes_ - results_at_) : memory_.data() + results_at_;
    spoil_results();
}

KemBatch::Results KemBatch::results_in(uint8_t* memory) const {
    const size_t secrets = aligned(count_ * set_.shared_secret_bytes),
                 statuses = aligned(count_ * sizeof(int32_t));
    Results results{memory, memory + secrets, {}};
    for (size_t i = 0; i < kem_operations.size(); ++i)
        results.statuses[i] = reinterpret_cast<int32_t*>(memory + 2 * secrets + i * statuses);
    return results;
}

void KemBatch::prepare_keys() {
    warpseal_kem_key* made = nullptr;
    require_ok(warpseal_kem_public_key_create(engine_, set_.name, memory_.data(),
                                              set_.public_key_bytes, &made),
               "preparing the public key");
    public_key_.reset(made);
    require_ok(warpseal_kem_secret_key_create(engine_, set_.name, memory_.data() + secrets_at_,
                                              set_.secret_key_bytes, &made),
               "preparing the secret key");
    secret_key_.reset(made);
}

warpseal_status KemBatch::call(KemOperation operation, const warpseal_kem_batch& batch) const {
    if (public_key_ == nullptr || operation == KemOperation::keygen)
        return operations[static_cast<size_t>(operation)].on_host(engine_, set_.name, &batch);
    return operation == KemOperation::encapsulate
               ? warpseal_kem_key_encapsulate(public_key_.get(), &batch)
               : warpseal_kem_key_decapsulate(secret_key_.get(), &batch);
}

void KemBatch::run(KemOperation operation, uint64_t count) {
    const Operation& called = operations[static_cast<size_t>(operation)];
    const Results results = results_in(memory_.data() + results_at_);
    warpseal_kem_batch batch{};
    batch.struct_bytes = sizeof batch;
    batch.count = count;
    batch.public_keys = memory_.data();
    batch.public_key_stride = set_.public_key_bytes;
    batch.secret_keys = memory_.data() + secrets_at_;
    batch.secret_key_stride = set_.secret_key_bytes;
    batch.ciphertexts = memory_.data() + ciphertexts_at_;
    batch.ciphertext_stride = set_.ciphertext_bytes;
    batch.shared_secrets = operation == KemOperation::decapsulate ? results.received : results.sent;
    batch.shared_secret_stride = set_.shared_secret_bytes;
    batch.statuses = results.statuses[static_cast<size_t>(operation)];
    if (!on_device_) return require_ok(call(operation, batch), called.name);
    require_ok(called.on_device(engine_, set_.name, &batch, nullptr), called.name);
    require_ok(warpseal_device_synchronize(engine_, nullptr), called.name);
}

uint64_t KemBatch::mismatches(uint64_t count) {
    if (on_device_)
        require_ok(warpseal_device_download(engine_, results_, memory_.data() + results_at_,
                                            bytes_ - results_at_),
                   "copying from the GPU");
    const Results results = results_in(results_);
    uint64_t found = 0;
    for (uint64_t i = 0; i < count; ++i) {
        const size_t at = i * set_.shared_secret_bytes;
        bool right =
            std::memcmp(results.sent + at, results.received + at, set_.shared_secret_bytes) == 0;
        for (const int32_t* statuses : results.statuses)
            right = right && statuses[i] == WARPSEAL_OK;
        found += !right;
    }
    return found;
}

std::span<const uint8_t> KemBatch::secret(uint64_t item) const {
    return {results_in(results_).sent + item * set_.shared_secret_bytes, set_.shared_secret_bytes};
}

void KemBatch::spoil_results() {
    const Results results = results_in(results_);
    std::memset(results.sent, 0x53, count_ * set_.shared_secret_bytes);
    std::memset(results.received, 0xac, count_ * set_.shared_secret_bytes);
    const size_t first = public_key_ == nullptr ? 0 : 1;
    for (size_t i = first; i < kem_operations.size(); ++i)
        std::fill_n(results.statuses[i], count_, no_status);
    if (on_device_)
        require_ok(warpseal_device_upload(engine_, memory_.data() + results_at_, results_,
                                          bytes_ - results_at_),
                   "copying to the GPU");
}

}  // namespace warpseal::bench
