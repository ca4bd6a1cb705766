// When a batch starts: full, old enough, or when no other request is to be expected in time.
#include "engine/kem_queue.h"

#include <algorithm>

namespace warpseal {
namespace {

// Nobody waits longer than this for a batch of another kind to end, however slow its operation is.
constexpr double longest = 5e-3;
// Of a kind whose rate is not known.
constexpr size_t first_limit = 256, least_limit = 16;
// Shorter batches, of few requests, say little of a rate.
constexpr double telling_seconds = 0.5e-3;
// Arrivals are over after a silence of so many mean gaps: even if they come at random, one in 3,000 gaps is as long.
constexpr int silent_gaps = 8;
// But never before this part of the delay, as threads that submit are interrupted.
constexpr int silent_part = 8;
constexpr unsigned most_at_once = 127;

}  // namespace

void KemQueue::arrive(KemRequest& request, const KemBatchRule& rule) {
    if (waiting_.empty() || request.arrived < oldest_) oldest_ = request.arrived;
    if (!request.waited_for()) {
        if (!waiting_.empty() || running_ != 0) alone_ = at_once_ = 0;
        const auto gap = std::max(request.arrived - last_arrival_, BatcherClock::duration::zero());
        if (gap > rule.delay)
            gap_ = BatcherClock::duration::max();
        else
            gap_ = gap_ == BatcherClock::duration::max() ? gap : gap_ + (gap - gap_) / 8;
        last_arrival_ = std::max(last_arrival_, request.arrived);
    }
    waiting_.push(request);
}

size_t KemQueue::limit(const KemBatchRule& rule) const {
    if (rate_ == 0) return std::min(rule.most, first_limit);
    return std::min(rule.most, std::max(least_limit, static_cast<size_t>(rate_ * longest)));
}

bool KemQueue::others_expected(const KemBatchRule& rule) const { return gap_ <= rule.delay && at_once_ == 0; }

KemQueue::Time KemQueue::last_expected(const KemBatchRule& rule) const {
    return last_arrival_ + std::max(gap_ * silent_gaps, rule.delay / silent_part);
}

KemQueue::Time KemQueue::due(const KemBatchRule& rule) const {
    if (waiting_.size() >= limit(rule) || !others_expected(rule)) return oldest_;
    return std::min(oldest_ + rule.delay, last_expected(rule));
}

// A client that sends one request after another is alone: what waits for others does so in vain, and seldomer each time.
KemRequests KemQueue::take(const KemBatchRule& rule) {
    if (waiting_.size() == 1 && !waiting_.first()->waited_for()) {
        if (at_once_ != 0)
            --at_once_;
        else if (others_expected(rule))
            at_once_ = std::min(2u << std::min(alone_++, 6u), most_at_once + 1) - 1;
    }
    // What is left waits no less than the first did.
    const KemRequests out = waiting_.pop(std::min(waiting_.size(), limit(rule)));
    ++running_;
    return out;
}

void KemQueue::finished(size_t count, double seconds) {
    --running_;
    if (seconds < telling_seconds) return;
    const double rate = static_cast<double>(count) / seconds;
    rate_ = rate_ == 0 ? rate : std::max(rate, (3 * rate_ + rate) / 4);
}

bool KemQueue::is_short(size_t count, const KemBatchRule& rule) const {
    if (count <= 4) return true;
    const double delay = std::chrono::duration<double>(rule.delay).count();
    return rate_ != 0 && static_cast<double>(count) / rate_ < delay / 8;
}

}  // namespace warpseal
