// One block of memory with the arrays of the operation, a status for each item, and the ranges of
// chunks.
#include "engine/kem/batcher/staging_buffer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/secret.h"
#include "engine/engine_impl.h"

namespace warpseal {
namespace {

// Corresponding fields of a request and of a batch.
struct Field {
    uint8_t* KemRequest::*one;
    uint8_t* warpseal_kem_batch::*all;
    uint64_t warpseal_kem_batch::*stride;
    size_t (*bytes)(const kem::Params&);
    // Bit masks of the operations that read and write the field.
    unsigned read, written;
    bool secret;
};
constexpr unsigned keypair = 1, encapsulate = 2, decapsulate = 4;
constexpr Field fields[] = {
    {&KemRequest::public_key, &warpseal_kem_batch::public_keys,
     &warpseal_kem_batch::public_key_stride,
     [](const kem::Params& set) { return set.public_key_bytes(); }, encapsulate, keypair, false},
    {&KemRequest::secret_key, &warpseal_kem_batch::secret_keys,
     &warpseal_kem_batch::secret_key_stride,
     [](const kem::Params& set) { return set.secret_key_bytes(); }, decapsulate, keypair, true},
    {&KemRequest::ciphertext, &warpseal_kem_batch::ciphertexts,
     &warpseal_kem_batch::ciphertext_stride,
     [](const kem::Params& set) { return set.ciphertext_bytes(); }, decapsulate, encapsulate,
     false},
    {&KemRequest::shared_secret, &warpseal_kem_batch::shared_secrets,
     &warpseal_kem_batch::shared_secret_stride,
     [](const kem::Params&) { return size_t{kem::Params::shared_secret_bytes}; }, 0,
     encapsulate | decapsulate, true},
};
unsigned bit_of(KemKind kind) { return 1u << static_cast<int>(kind.operation); }

// Up to this many items, a GPU is as fast with unpinned memory, and the first requests do not wait
// milliseconds for pinning.
constexpr size_t max_unpinned_items = 128;
constexpr size_t max_pinned_ahead = 16384;

// Prefetches cache lines. Accesses nothing, so the address may be invalid.
template <int for_writing>
void prefetch(const uint8_t* at, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch(at + i, for_writing);
}

size_t whole(size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

size_t KemStagingBuffer::bytes_for(size_t count) const {
    size_t bytes = whole(count * sizeof(int32_t)) + whole(count * sizeof(Range));
    for (const Field& field : fields)
        if (((field.read | field.written) & bit_of(kind_)) != 0)
            bytes += whole(count * field.bytes(kind_.params()));
    return bytes;
}

bool KemStagingBuffer::lay_out(const KemRequests& requests, size_t most) {
    const KemKind kind = kind_ = requests.kind();
    const size_t count = requests.size();
    item_bytes_ = 0;
    for (const Field& field : fields)
        if (((field.read | field.written) & bit_of(kind)) != 0)
            item_bytes_ += field.bytes(kind.params());
    const bool pin = count > max_unpinned_items && engine_.impl().gpus.any_open();
    if (bytes_for(count) > capacity_ || (pin && pinned_ == nullptr)) {
        reset();
        // Pinning takes milliseconds (up to 0.1 s with thousands of items on many threads) and
        // stalls the GPU.
        // So it happens once, for the largest batch within max_pinned_ahead.
        const size_t capacity = std::bit_ceil(
            bytes_for(pin ? std::max(count, std::min(most, max_pinned_ahead)) : count));
        if (!(pin ? pinned(capacity) : secret_.allocate(capacity, SecretMemory::AfterFork::wiped)))
            return false;
        capacity_ = capacity;
    }
    auto* at = static_cast<uint8_t*>(pinned_ != nullptr ? pinned_ : secret_.data());
    batch_ = {};
    batch_.struct_bytes = sizeof batch_;
    batch_.count = count;
    for (const Field& field : fields) {
        if (((field.read | field.written) & bit_of(kind)) == 0) continue;
        batch_.*field.stride = field.bytes(kind.params());
        batch_.*field.all = at;
        at += whole(count * field.bytes(kind.params()));
    }
    batch_.statuses = reinterpret_cast<int32_t*>(at);
    ranges_ = reinterpret_cast<Range*>(at + whole(count * sizeof(int32_t)));
    range_count_ = 0;
    size_t item = 0;
    requests.each([&](KemChunk& chunk, uint32_t begin, uint32_t end) {
        ranges_[range_count_++] = {&chunk, begin, end, item};
        item += end - begin;
    });
    return true;
}

void KemStagingBuffer::prefetch_inputs(const KemRequest& request) const {
    for (const Field& field : fields)
        if ((field.read & bit_of(kind_)) != 0)
            prefetch<0>(request.*field.one, batch_.*field.stride);
}

void KemStagingBuffer::prefetch_outputs(const KemRequest& request) const {
    for (const Field& field : fields)
        if ((field.written & bit_of(kind_)) != 0)
            prefetch<1>(request.*field.one, batch_.*field.stride);
    prefetch<1>(static_cast<const uint8_t*>(request.user), 64);
}

void KemStagingBuffer::gather(const KemRequest& request, size_t i) {
    for (const Field& field : fields)
        if ((field.read & bit_of(kind_)) != 0)
            std::memcpy(batch_.*field.all + i * (batch_.*field.stride), request.*field.one,
                        batch_.*field.stride);
}

void KemStagingBuffer::scatter(const KemRequest& request, size_t i) {
    for (const Field& field : fields)
        if ((field.written & bit_of(kind_)) != 0)
            std::memcpy(request.*field.one, batch_.*field.all + i * (batch_.*field.stride),
                        batch_.*field.stride);
    wipe(i);
}

void KemStagingBuffer::wipe(size_t i) {
    for (const Field& field : fields)
        if (field.secret && ((field.read | field.written) & bit_of(kind_)) != 0)
            warpseal::wipe(batch_.*field.all + i * (batch_.*field.stride), batch_.*field.stride);
}

bool KemStagingBuffer::pinned(size_t bytes) {
    try {
        return engine_.host_alloc(bytes, &pinned_) == WARPSEAL_OK;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

void KemStagingBuffer::reset() {
    if (pinned_ != nullptr) engine_.host_free(pinned_);
    pinned_ = nullptr;
    secret_.reset();
    capacity_ = 0;
}

}  // namespace warpseal
