// Decides when a batch starts: when it is full, old enough, or when no further request is expected
// in time.
#include "engine/kem/batcher/request_queue.h"

#include <algorithm>

namespace warpseal {
namespace {

// Maximum seconds of a batch, which bounds how long requests of another kind wait for it.
constexpr double max_batch_seconds = 5e-3;
constexpr double least_limit = 16, most_limit = 1 << 30;
// Arrivals have ended after a silence of this many mean gaps. Even for random arrivals only one gap
// in 3,000 is as long.
constexpr int silence_over_gap = 8;
// The silence is at least the delay divided by this, because submitting threads may be preempted.
constexpr int delay_over_silence = 8;
constexpr unsigned max_no_wait_batches = 1023;

}  // namespace

void KemRequestQueue::arrive(KemChunk& chunk, const KemBatchRule& rule) {
    for (uint32_t i = 0; i < chunk.filled; ++i) {
        const Time arrived = chunk.arrived[i];
        const bool first = waiting_.empty() && i == 0;
        if (first || arrived < oldest_) oldest_ = arrived;
        if (chunk.waits(i)) continue;
        if (!first || running_ != 0) lone_batches_ = no_wait_batches_ = 0;
        note_arrival(arrived, rule);
    }
    waiting_.push(chunk);
}

void KemRequestQueue::note_arrival(Time arrived, const KemBatchRule& rule) {
    const auto gap = last_arrival_
                         ? std::max(arrived - *last_arrival_, BatcherClock::duration::zero())
                         : BatcherClock::duration::max();
    if (gap > rule.delay)
        gap_ = BatcherClock::duration::max();
    else if (gap_ == BatcherClock::duration::max())
        gap_ = gap;
    // Longer gaps arise when a few clients all wait for results. They must not raise the mean.
    else if (gap <= silence(rule))
        gap_ += (gap - gap_) / 8;
    last_arrival_ = std::max(last_arrival_.value_or(arrived), arrived);
}

size_t KemRequestQueue::limit(const KemBatchRule& rule) const {
    return std::min(rule.most, static_cast<size_t>(limit_));
}

bool KemRequestQueue::others_expected(const KemBatchRule& rule) const {
    return gap_ <= rule.delay && no_wait_batches_ == 0;
}

BatcherClock::duration KemRequestQueue::silence(const KemBatchRule& rule) const {
    return std::max(gap_ * silence_over_gap, rule.delay / delay_over_silence);
}

KemRequestQueue::Time KemRequestQueue::due(const KemBatchRule& rule) const {
    if (waiting_.size() >= limit(rule) || !others_expected(rule)) return oldest_;
    return std::min(oldest_ + rule.delay, *last_arrival_ + silence(rule));
}

// A client that sends one request at a time is alone: waiting for others is futile, so batches wait
// less often each time.
KemRequests KemRequestQueue::take(const KemBatchRule& rule) {
    if (waiting_.size() == 1 && !waiting_.first_waits()) {
        if (no_wait_batches_ != 0)
            --no_wait_batches_;
        else if (others_expected(rule))
            no_wait_batches_ =
                std::min(2u << std::min(lone_batches_++, 9u), max_no_wait_batches + 1) - 1;
    }
    // oldest_ stays: the remaining requests have waited at most as long as the first.
    const KemRequests out = waiting_.pop(std::min(waiting_.size(), limit(rule)));
    ++running_;
    return out;
}

// A slow batch may have been preempted, or be the first, which pays for a self-test: it lowers the
// limit by at most a quarter.
// Only a batch of at least half the limit raises it.
void KemRequestQueue::finished(size_t count, double seconds) {
    --running_;
    const auto size = static_cast<double>(count);
    seconds_per_request_ = seconds / size;
    const double fits = std::min(size * max_batch_seconds / std::max(seconds, 1e-9), most_limit);
    if (seconds > max_batch_seconds)
        limit_ = std::max(std::min((3 * limit_ + fits) / 4, limit_), least_limit);
    else if (2 * size >= limit_)
        limit_ = std::clamp(fits, limit_, 4 * limit_);
}

bool KemRequestQueue::is_short(size_t count, const KemBatchRule& rule) const {
    return seconds_per_request_ != 0 && seconds_per_request_ * static_cast<double>(count) <
                                            std::chrono::duration<double>(rule.delay).count() / 8;
}

}  // namespace warpseal
