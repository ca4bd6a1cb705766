// Key encapsulation requests in a batcher, the chunks that store them, and lists of chunks.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "backends/kem_catalogue.h"

namespace warpseal {

using BatcherClock = std::chrono::steady_clock;

inline constexpr int kem_kind_count = kem_set_count * kem_operation_count;
using KemKindMask = uint64_t;  // a bit for each kind
static_assert(kem_kind_count <= 64);
// Requests of the same kind may share a batch: same set and same operation.
struct KemKind {
    uint8_t set = 0;  // index in kem_sets
    KemOperation operation = KemOperation::keypair;
    constexpr int number() const { return set * kem_operation_count + static_cast<int>(operation); }
    constexpr KemKindMask mask() const { return KemKindMask{1} << number(); }
    const KemSet& params() const { return kem_sets[set]; }
};

struct KemRequest {
    uint8_t* public_key = nullptr;
    uint8_t* secret_key = nullptr;
    uint8_t* ciphertext = nullptr;
    uint8_t* shared_secret = nullptr;
    void (*done)(void* user, warpseal_status status) = nullptr;
    void* user = nullptr;

    warpseal_kem_batch as_batch() const {
        warpseal_kem_batch one{};
        one.struct_bytes = sizeof one;
        one.count = 1;
        one.public_keys = public_key;
        one.secret_keys = secret_key;
        one.ciphertexts = ciphertext;
        one.shared_secrets = shared_secret;
        return one;
    }
};

class KemSubmissionQueue;

// Consecutive requests of one kind, filled by submitting threads and then passed on together.
// On many cores, moving a cache line costs as much as a request's arithmetic. So fields that only
// the batch rule reads are stored apart.
struct KemChunk {
    static constexpr uint32_t capacity = 64;

    KemChunk* next = nullptr;
    KemSubmissionQueue* owner = nullptr;
    KemKind kind;
    uint32_t filled = 0;
    uint64_t waited_for = 0;         // bit mask of requests whose callers are blocked
    std::atomic<uint32_t> left = 0;  // requests to complete, once the chunk is drained
    std::array<BatcherClock::time_point, capacity> arrived;
    std::array<KemRequest, capacity> requests;

    bool waits(uint32_t i) const { return (waited_for >> i & 1) != 0; }
    void push(const KemRequest& request, BatcherClock::time_point now, bool its_caller_waits) {
        arrived[filled] = now;
        requests[filled] = request;
        waited_for |= uint64_t{its_caller_waits} << filled;
        ++filled;
    }
};

// FIFO of requests of one kind; owns nothing. Two lists may share a chunk at the end of one and the
// start of the other.
class KemRequests {
public:
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    KemKind kind() const { return first_->kind; }
    bool first_waits() const { return first_->waits(begin_); }

    void push(KemChunk& chunk) {
        chunk.next = nullptr;
        (empty() ? first_ : last_->next) = &chunk;
        last_ = &chunk;
        size_ += chunk.filled;
    }
    // Removes and returns the first `count` requests; there must be as many.
    KemRequests pop(size_t count) {
        KemRequests out = *this;
        out.size_ = count;
        size_ -= count;
        count += begin_;
        for (; first_ != nullptr && count >= first_->filled; first_ = first_->next)
            count -= first_->filled;
        begin_ = static_cast<uint32_t>(count);
        return out;
    }
    // Calls use(chunk, begin, end) for each chunk, which may be freed afterwards.
    template <class Use>
    void each(const Use& use) const {
        KemChunk* chunk = first_;
        uint32_t begin = begin_;
        for (size_t left = size_; left != 0; begin = 0) {
            KemChunk& now = *chunk;
            const auto count = static_cast<uint32_t>(std::min<size_t>(left, now.filled - begin));
            left -= count;
            if (left != 0) chunk = now.next;
            use(now, begin, begin + count);
        }
    }

private:
    KemChunk* first_ = nullptr;
    KemChunk* last_ = nullptr;
    uint32_t begin_ = 0;
    size_t size_ = 0;
};

}  // namespace warpseal
