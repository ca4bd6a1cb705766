// One block of memory with the arrays of the operation, a status for each item, and the ranges of
// chunks.
#include "engine/kem/batcher/staging_buffer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/secret.h"

namespace warpseal {
namespace {

// Corresponding fields of a request and of a batch.
struct Field {
    uint8_t* KemRequest::*one;
    uint8_t* warpseal_kem_batch::*all;
    uint64_t warpseal_kem_batch::*stride;
    size_t (*bytes)(const KemSet&);
    // Bit masks of the operations that read and write the field.
    unsigned read, written;
    bool secret;
};
constexpr unsigned keypair = 1, encapsulate = 2, decapsulate = 4;
constexpr Field fields[] = {
    {&KemRequest::public_key, &warpseal_kem_batch::public_keys,
     &warpseal_kem_batch::public_key_stride,
     [](const KemSet& set) { return set.public_key_bytes(); }, encapsulate, keypair, false},
    {&KemRequest::secret_key, &warpseal_kem_batch::secret_keys,
     &warpseal_kem_batch::secret_key_stride,
     [](const KemSet& set) { return set.secret_key_bytes(); }, decapsulate, keypair, true},
    {&KemRequest::ciphertext, &warpseal_kem_batch::ciphertexts,
     &warpseal_kem_batch::ciphertext_stride,
     [](const KemSet& set) { return set.ciphertext_bytes(); }, decapsulate, encapsulate, false},
    {&KemRequest::shared_secret, &warpseal_kem_batch::shared_secrets,
     &warpseal_kem_batch::shared_secret_stride,
     [](const KemSet& set) { return set.shared_secret_bytes(); }, 0, encapsulate | decapsulate,
     true},
};
unsigned bit_of(KemKind kind) { return 1u << static_cast<int>(kind.operation); }

// Prefetches cache lines. Accesses nothing, so the address may be invalid.
template <int for_writing>
void prefetch(const uint8_t* at, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch(at + i, for_writing);
}

size_t whole(size_t bytes) { return (bytes + 63) / 64 * 64; }

// Bytes of an item, and of a whole batch with statuses and ranges.
size_t bytes_of(KemKind kind) {
    size_t bytes = 0;
    for (const Field& field : fields)
        if (((field.read | field.written) & bit_of(kind)) != 0) bytes += field.bytes(kind.params());
    return bytes;
}
size_t bytes_for(KemKind kind, size_t count) {
    size_t bytes = whole(count * sizeof(int32_t)) + whole(count * sizeof(KemStagingBuffer::Range));
    for (const Field& field : fields)
        if (((field.read | field.written) & bit_of(kind)) != 0)
            bytes += whole(count * field.bytes(kind.params()));
    return bytes;
}

}  // namespace

bool KemStagingBuffer::lay_out(KemKind kind, size_t count, std::span<uint8_t> pinned) {
    kind_ = kind;
    item_bytes_ = bytes_of(kind);
    const size_t bytes = bytes_for(kind, count);
    if (bytes > pinned.size() && bytes > secret_bytes_) {
        secret_bytes_ = 0;
        const size_t more = std::bit_ceil(bytes);
        if (!secret_.allocate(more, SecretMemory::AfterFork::wiped)) return false;
        secret_bytes_ = more;
    }
    auto* at = bytes <= pinned.size() ? pinned.data() : static_cast<uint8_t*>(secret_.data());
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
    return true;
}

bool KemStagingBuffer::lay_out(const KemRequests& requests, std::span<uint8_t> pinned) {
    if (!lay_out(requests.kind(), requests.size(), pinned)) return false;
    size_t item = 0;
    requests.each([&](KemChunk& chunk, uint32_t begin, uint32_t end) {
        ranges_[range_count_++] = {&chunk, begin, end, item};
        item += end - begin;
    });
    return true;
}

size_t KemStagingBuffer::capacity(KemKind kind, size_t bytes) {
    const size_t rounding = (std::size(fields) + 2) * 64;
    return bytes < rounding
               ? 0
               : (bytes - rounding) / (bytes_of(kind) + sizeof(int32_t) + sizeof(Range));
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

}  // namespace warpseal
