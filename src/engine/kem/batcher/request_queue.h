// Queue of waiting requests of one kind, and the rule that starts their batches. The owner provides
// lock and clock.
#pragma once

#include <algorithm>
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

    // Sets the limit of the first batches, until the duration of an operation is known: a
    // millisecond of the fastest operations on that many threads.
    void set_first_limit(unsigned threads) { limit_ = std::max(first_limit, 64.0 * threads); }

    void arrive(KemChunk& chunk, const KemBatchRule& rule);

    size_t size() const { return waiting_.size(); }
    KemKind kind() const { return waiting_.kind(); }  // must not be empty
    Time oldest() const { return oldest_; }           // must not be empty
    // Maximum requests of a batch: by the rule, or by the maximum duration of a batch.
    size_t limit(const KemBatchRule& rule) const;
    // Time at which the batch starts if nothing else arrives. Must not be empty.
    Time due(const KemBatchRule& rule) const;

    KemRequests take(const KemBatchRule& rule);
    // Records that the last batch is run as one more shard; each shard is finished by itself.
    void divide() { ++running_; }
    // Records the end of a batch. seconds: duration of its operations.
    void finished(size_t count, double seconds);
    size_t running() const { return running_; }
    // True if a batch of that size, at the speed of the last one, ends before others need its
    // thread.
    bool is_short(size_t count, const KemBatchRule& rule) const;

private:
    void note_arrival(Time arrived, const KemBatchRule& rule);
    bool others_expected(const KemBatchRule& rule) const;
    // Duration without arrivals after which no request is expected. gap_ must be finite.
    BatcherClock::duration silence(const KemBatchRule& rule) const;

    KemRequests waiting_;
    Time oldest_;
    size_t running_ = 0;  // batches

    // Last arrival of a submitted request. A blocked caller submits no other request, so its
    // request predicts none.
    // Optional, because a clock may start at zero with the machine.
    std::optional<Time> last_arrival_;
    // Decaying mean of the gaps between arrivals, without silences. max: the last gap exceeded the
    // delay.
    BatcherClock::duration gap_ = BatcherClock::duration::max();
    unsigned lone_batches_ = 0;     // consecutive batches that waited for others in vain
    unsigned no_wait_batches_ = 0;  // number of batches that will not wait

    static constexpr double first_limit = 256;
    double limit_ = first_limit;
    // Seconds per request in the last batch of any size; 0 before the first.
    double seconds_per_request_ = 0;
};

}  // namespace warpseal
