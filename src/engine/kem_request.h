// Requests for key encapsulation on their way through a batcher: what one names, lists of them, and where submitters leave them.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "backends/kem_ops.h"

namespace warpseal {

using BatcherClock = std::chrono::steady_clock;

inline constexpr int kem_kind_count = kem::set_count * kem_operation_count;
// What may share a batch: a set and an operation.
struct KemKind {
    uint8_t set = 0;  // in kem::sets
    KemOperation operation = KemOperation::keypair;
    int number() const { return set * kem_operation_count + static_cast<int>(operation); }
    const kem::Params& params() const { return *kem::sets[set]; }
};

class KemInbox;

struct KemRequest {
    KemRequest* next = nullptr;
    KemInbox* home = nullptr;  // whose it is; null: a waiting caller's, gone as soon as `done` is called
    uint8_t* public_key = nullptr;
    uint8_t* secret_key = nullptr;
    uint8_t* ciphertext = nullptr;
    uint8_t* shared_secret = nullptr;
    void (*done)(void* user, warpseal_status status) = nullptr;
    void* user = nullptr;
    BatcherClock::time_point arrived;
    KemKind kind;

    bool waited_for() const { return home == nullptr; }
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

// First in, first out; owns nothing.
class KemRequests {
public:
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    KemRequest* first() const { return first_; }
    void push(KemRequest& one) {
        one.next = nullptr;
        (first_ == nullptr ? first_ : last_->next) = &one;
        last_ = &one;
        ++size_;
    }
    KemRequest& pop() {
        KemRequest& one = *first_;
        first_ = one.next;
        --size_;
        return one;
    }
    // The first `count` of them, of which there are as many.
    KemRequests pop(size_t count) {
        if (count == size_) return std::exchange(*this, {});
        KemRequests out;
        while (count-- > 0) out.push(pop());
        return out;
    }
    void append(const KemRequests& others) {
        if (others.empty()) return;
        (first_ == nullptr ? first_ : last_->next) = others.first_;
        last_ = others.last_;
        size_ += others.size_;
    }

private:
    KemRequest* first_ = nullptr;
    KemRequest* last_ = nullptr;
    size_t size_ = 0;
};

// One of several, so that submitters on many cores seldom meet. Its requests are made once and used again: there are never more of them
// than were under way at a time.
class alignas(64) KemInbox {
public:
    ~KemInbox() {
        while (!spare_.empty()) delete &spare_.pop();
    }
    // A copy; may throw for want of memory.
    void put(const KemRequest& request) {
        std::unique_lock lock(mutex_);
        KemRequest* own = nullptr;
        if (spare_.empty()) {
            lock.unlock();
            std::unique_ptr<KemRequest> fresh = std::make_unique<KemRequest>();
            lock.lock();
            arrived_.push_back(fresh.get());
            own = fresh.release();
        } else {
            arrived_.push_back(spare_.first());
            own = &spare_.pop();
        }
        *own = request;
        own->home = this;
    }
    // A waiting caller's, in place; may throw likewise.
    void put_own(KemRequest& request) {
        const std::lock_guard lock(mutex_);
        arrived_.push_back(&request);
    }
    // What arrived in place of what `emptied` had. Side by side, so that the next ones can be fetched ahead: they lie in other cores'
    // caches.
    void take(std::vector<KemRequest*>& emptied) {
        emptied.clear();
        const std::lock_guard lock(mutex_);
        arrived_.swap(emptied);
    }
    void give_back(const KemRequests& used) {
        const std::lock_guard lock(mutex_);
        spare_.append(used);
    }

private:
    std::mutex mutex_;
    std::vector<KemRequest*> arrived_;
    KemRequests spare_;
};

}  // namespace warpseal
