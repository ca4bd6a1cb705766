// Chunks that submitting threads fill.
#include "engine/kem/batcher/submission_queue.h"

#include <utility>

namespace warpseal {

KemSubmissionQueue::~KemSubmissionQueue() {
    while (spare_ != nullptr) delete std::exchange(spare_, spare_->next);
}

KemSubmissionQueue::Put KemSubmissionQueue::put(KemKind kind, const KemRequest& request,
                                                BatcherClock::time_point now,
                                                bool its_caller_waits) {
    const std::lock_guard lock(mutex_);
    const uint32_t capacity = capacity_.load(std::memory_order_relaxed);
    if (capacity == 0) return Put::no_capacity;
    chunk_for(kind).push(request, now, its_caller_waits);
    capacity_.store(capacity - 1, std::memory_order_relaxed);
    ++count_;
    kinds_ |= kind.mask();
    if (!reached()) return counted_ ? Put::counted : Put::quiet;
    wake_at_ = never;
    wake_kinds_ = 0;
    counted_ = false;
    return Put::wake;
}

KemChunk& KemSubmissionQueue::chunk_for(KemKind kind) {
    KemChunk*& open = open_[static_cast<size_t>(kind.number())];
    if (open != nullptr && open->filled < KemChunk::capacity) return *open;
    KemChunk* chunk = spare_;
    if (chunk != nullptr)
        spare_ = chunk->next;
    else
        chunk = new KemChunk;
    chunk->next = nullptr;
    chunk->owner = this;
    chunk->kind = kind;
    chunk->filled = 0;
    chunk->waited_for = 0;
    (first_ == nullptr ? first_ : last_->next) = chunk;
    last_ = chunk;
    open = chunk;
    return *chunk;
}

KemChunk* KemSubmissionQueue::drain() {
    const std::lock_guard lock(mutex_);
    if (first_ == nullptr) return nullptr;
    count_ = 0;
    kinds_ = 0;
    open_ = {};
    for (KemChunk* chunk = first_; chunk != nullptr; chunk = chunk->next)
        chunk->left.store(chunk->filled, std::memory_order_relaxed);
    return std::exchange(first_, nullptr);
}

uint32_t KemSubmissionQueue::arm(KemKindMask kinds, uint32_t count, bool counted) {
    const std::lock_guard lock(mutex_);
    wake_kinds_ = kinds;
    wake_at_ = count;
    counted_ = counted;
    return reached() ? never : count_;
}

void KemSubmissionQueue::reserve(uint32_t capacity) {
    const std::lock_guard lock(mutex_);
    capacity_.fetch_add(capacity, std::memory_order_relaxed);
}

uint32_t KemSubmissionQueue::release_capacity() {
    if (capacity() == 0) return 0;
    const std::lock_guard lock(mutex_);
    return capacity_.exchange(0, std::memory_order_relaxed);
}

void KemSubmissionQueue::completed(KemChunk& chunk, uint32_t count) {
    if (chunk.left.fetch_sub(count, std::memory_order_acq_rel) != count) return;
    KemSubmissionQueue& owner = *chunk.owner;
    const std::lock_guard lock(owner.mutex_);
    chunk.next = owner.spare_;
    owner.spare_ = &chunk;
}

}  // namespace warpseal
