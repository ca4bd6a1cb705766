// The requests of one kind that wait for their batch, and the rule by which it starts. No lock, no clock: both are the owner's.
#pragma once

#include "engine/kem_request.h"

namespace warpseal {

struct KemBatchRule {
    size_t most = 4096;
    BatcherClock::duration delay = std::chrono::milliseconds(2);
};

class KemQueue {
public:
    using Time = BatcherClock::time_point;

    void arrive(KemRequest& request, const KemBatchRule& rule);

    size_t size() const { return waiting_.size(); }
    Time oldest() const { return oldest_; }  // if there is one
    // How many a batch has at most: what the rule says, or what takes `longest`.
    size_t limit(const KemBatchRule& rule) const;
    // When its batch starts if nothing arrives before; if any waits.
    Time due(const KemBatchRule& rule) const;

    KemRequests take(const KemBatchRule& rule);
    // One that was taken is done. seconds: what the operations took.
    void finished(size_t count, double seconds);
    size_t running() const { return running_; }
    // A batch of so many will be done before others would miss the thread that does it.
    bool is_short(size_t count, const KemBatchRule& rule) const;

private:
    bool others_expected(const KemBatchRule& rule) const;
    Time last_expected(const KemBatchRule& rule) const;

    KemRequests waiting_;
    Time oldest_;
    size_t running_ = 0;  // batches

    // Of submitted requests. A caller who waits for its own sends no other meanwhile, and so foretells none.
    Time last_arrival_;
    BatcherClock::duration gap_ = BatcherClock::duration::max();  // between arrivals, a decaying mean; max: the last came out of silence
    unsigned alone_ = 0;                                          // batches in a row that waited for others, of which none came
    unsigned at_once_ = 0;                                        // so many more do not wait

    double rate_ = 0;  // requests a second, rising at once and falling slowly; 0: not known yet
};

}  // namespace warpseal
