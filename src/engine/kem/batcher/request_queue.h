// The requests of one kind that wait for their batch, and the rule by which it starts. No lock, no
// clock: both are the owner's.
#pragma once

#include <optional>

#include "engine/kem/batcher/request.h"

namespace warpseal {

struct KemBatchRule {
    size_t most = 4096;
    BatcherClock::duration delay = std::chrono::milliseconds(2);
};

class KemRequestQueue {
public:
    using Time = BatcherClock::time_point;

    void arrive(KemChunk& chunk, const KemBatchRule& rule);

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
    // By the last one, a batch of so many is done before others miss the thread that does it.
    bool is_short(size_t count, const KemBatchRule& rule) const;

private:
    void note_arrival(Time arrived, const KemBatchRule& rule);
    bool others_expected(const KemBatchRule& rule) const;
    BatcherClock::duration silence(const KemBatchRule& rule)
        const;  // after which nobody is expected any more; of a finite gap_

    KemRequests waiting_;
    Time oldest_;
    size_t running_ = 0;  // batches

    // Of submitted requests. A caller who waits for its own sends no other meanwhile, and so
    // foretells none.
    std::optional<Time>
        last_arrival_;  // a clock may begin with the machine: its zero is no time long ago
    BatcherClock::duration gap_ =
        BatcherClock::duration::max();  // between arrivals, but for silences; a decaying mean; max:
                                        // the last came after the delay
    unsigned alone_ = 0;    // batches in a row that waited for others, of which none came
    unsigned at_once_ = 0;  // so many more do not wait

    static constexpr size_t first_limit = 256;  // of a kind whose operations' time is not known
    double limit_ = first_limit;
    double each_ = 0;  // seconds of a request of the last batch, of however few; 0: there was none
};

}  // namespace warpseal
