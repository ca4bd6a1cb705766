// The threads' side of a batcher: one watches the queue, and lets another watch while it does a batch.
#include <signal.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "engine/kem_crew.h"

namespace warpseal {
namespace {

// Copied by one thread as soon as by several, and a part for each of those.
constexpr size_t little_to_copy = 1 << 20, part_items = 128;
constexpr size_t fetched_ahead = 8;
constexpr int32_t no_status = -1;

double seconds_between(BatcherClock::time_point begin, BatcherClock::time_point end) {
    return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

bool& KemCrew::serving() {
    static thread_local bool yes = false;
    return yes;
}

bool KemCrew::start_thread() {
    sigset_t every, before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    bool started = true;
    try {
        threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
        started = false;
    } catch (const std::bad_alloc&) {
        started = false;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
}

bool KemCrew::collect() {
    bool any = false;
    for (KemInbox& inbox : inboxes_) {
        inbox.take(arriving_);
        any = any || !arriving_.empty();
        for (size_t i = 0; i < arriving_.size(); ++i) {
            if (i + fetched_ahead < arriving_.size()) __builtin_prefetch(arriving_[i + fetched_ahead], 1);
            KemRequest& one = *arriving_[i];
            queues_[static_cast<size_t>(one.kind.number())].arrive(one, options_.rule);
        }
    }
    return any;
}

KemQueue* KemCrew::ready(Time now) {
    KemQueue* oldest = nullptr;
    for (KemQueue& queue : queues_)
        if (may_start(queue) && (ending_ || queue.due(options_.rule) <= now) && (oldest == nullptr || queue.oldest() < oldest->oldest()))
            oldest = &queue;
    return oldest;
}

// Of kinds that have the threads that they may have nothing is due before one of those is done, and looks itself.
KemCrew::Wake KemCrew::next_wake() const {
    Wake wake{0, never};
    size_t waiting = 0, missing = never;
    for (size_t i = 0; i < queues_.size(); ++i) {
        const KemQueue& queue = queues_[i];
        waiting += queue.size();
        if (queue.running() >= most_of_a_kind_) continue;
        if (queue.size() == 0)
            wake.kinds |= 1u << i;
        else
            missing = std::min(missing, queue.limit(options_.rule) - std::min(queue.size(), queue.limit(options_.rule)));
    }
    if (missing != never) wake.waiting = static_cast<uint32_t>(std::min<size_t>(waiting + missing, never - 1));
    return wake;
}

std::optional<KemCrew::Time> KemCrew::next_due() const {
    std::optional<Time> first;
    for (const KemQueue& queue : queues_)
        if (may_start(queue)) first = std::min(first.value_or(Time::max()), queue.due(options_.rule));
    return first;
}

// What arrives while the inboxes are looked at only raises the number at which this thread is to be woken: who saw the last one wakes it
// too early at worst. Where many arrive all the time it sleeps nonetheless until a batch is due: to look on would keep those who submit,
// and those who come back from a batch, from their locks.
void KemCrew::sleep(std::unique_lock<std::mutex>& lock) {
    tell(next_wake());
    const bool arrived = collect();
    if (arrived) tell(next_wake());
    if (!arrived || ready(BatcherClock::now()) == nullptr) {
        watched_ = true;
        std::optional<Time> until = next_due();
        if (unwritten_.load(std::memory_order_relaxed))
            until = std::min(until.value_or(Time::max()), Time(Time::duration(next_write_.load(std::memory_order_relaxed))));
        if (until)
            wake_.wait_until(lock, *until);
        else
            wake_.wait(lock);
        watched_ = false;
    }
    tell({0, never});
}

// To one who has nothing to do, or to a new one.
void KemCrew::hand_over() {
    if (watched_)
        wake_.notify_one();
    else if (resting_ != 0)
        rest_.notify_one();
    else if (threads_.size() < most_threads_ && !ending_)  // else who ends them would miss it
        (void)start_thread();
}

void KemCrew::serve() {
    serving() = true;
    KemTray tray(engine_);
    std::unique_lock lock(mutex_);
    bool freed = false;  // a kind that had all its threads has no longer
    while (true) {
        (void)collect();
        const Time now = BatcherClock::now();
        KemQueue* const queue = ready(now);
        if (queue != nullptr) {
            const KemRequests batch = queue->take(options_.rule);
            waiting_.fetch_sub(static_cast<uint32_t>(batch.size()), std::memory_order_relaxed);
            // Whoever sleeps has another queue before it now.
            if (watched_ || next_due() || !queue->is_short(batch.size(), options_.rule)) hand_over();
            lock.unlock();
            const double seconds = complete(batch, now, tray);
            write_metrics(false);
            lock.lock();
            freed = freed || queue->running() == most_of_a_kind_;
            queue->finished(batch.size(), seconds);
        } else if (ending_) {
            return;
        } else if (watched_) {
            if (std::exchange(freed, false)) wake_.notify_one();
            ++resting_;
            rest_.wait(lock);
            --resting_;
        } else {
            freed = false;
            sleep(lock);
            if (unwritten_.load(std::memory_order_relaxed)) {
                lock.unlock();
                write_metrics(false);
                lock.lock();
            }
        }
    }
}

double KemCrew::complete(KemRequests batch, Time begun, KemTray& tray) {
    const size_t count = batch.size();
    const KemKind kind = batch.first()->kind;
    const bool laid = count > 1 && tray.lay(kind, count, options_.rule.most);
    KemCounts::Waits waits;
    size_t i = 0;
    for (KemRequest* one = batch.first(); i < count; one = one->next, ++i) {
        waits.add(seconds_between(one->arrived, begun));
        if (laid) tray.request(i) = one;
    }
    counts_.count_batch(count, waits);
    if (!laid) {
        if (count > 1) counts_.count_redone(count);
        while (!batch.empty()) complete_one(batch.pop());
        return seconds_between(begun, BatcherClock::now());
    }
    in_parts(tray, count, [&](size_t first, size_t end) {
        for (size_t i = first; i < end; ++i) {
            tray.status(i) = no_status;
            tray.gather(i);
        }
    });
    const Time computing = BatcherClock::now();
    (void)kem(kind, tray.batch());  // the items' own say what came of it
    const double seconds = seconds_between(computing, BatcherClock::now());
    in_parts(tray, count, [&](size_t first, size_t end) { complete_items(tray, first, end); });
    return seconds;
}

// Those that are the batcher's own lie by their inboxes, as they were collected, and go back there.
void KemCrew::complete_items(KemTray& tray, size_t first, size_t end) {
    KemRequests used;
    for (size_t i = first; i < end; ++i) {
        KemRequest* const one = tray.request(i);
        KemInbox* const home = one->home;
        complete_item(tray, i);
        if (home == nullptr) continue;
        if (!used.empty() && used.first()->home != home) {
            used.first()->home->give_back(used);
            used = {};
        }
        used.push(*one);
    }
    if (!used.empty()) used.first()->home->give_back(used);
}

// A call of any item's own, after the batch's has failed, says what is the matter with that item.
void KemCrew::complete_item(KemTray& tray, size_t i) {
    KemRequest& request = *tray.request(i);
    auto status = static_cast<warpseal_status>(tray.status(i));
    if (tray.status(i) != no_status) {
        tray.scatter(i);
    } else {
        tray.wipe(i);
        counts_.count_redone(1);
        status = kem(request.kind, request.as_batch());
    }
    if (status != WARPSEAL_OK) counts_.count_failures(1);
    request.done(request.user, status);  // a waiting caller's is gone now
}

void KemCrew::complete_one(KemRequest& request) {
    KemInbox* const home = request.home;
    const warpseal_status status = kem(request.kind, request.as_batch());
    if (status != WARPSEAL_OK) counts_.count_failures(1);
    request.done(request.user, status);
    if (home == nullptr) return;
    KemRequests used;
    used.push(request);
    home->give_back(used);
}

template <class Work>
void KemCrew::in_parts(const KemTray& tray, size_t count, const Work& work) {
    struct {
        const Work& work;
        const size_t count;
        std::atomic<bool> begun{false};
    } all{work, count};
    if (count * tray.item_bytes() < little_to_copy) return work(0, count);
    try {
        engine_.parallel((count + part_items - 1) / part_items, [&all](size_t part) {
            all.begun.store(true, std::memory_order_relaxed);
            const bool before = std::exchange(serving(), true);
            all.work(part * part_items, std::min(all.count, (part + 1) * part_items));
            serving() = before;
        });
    } catch (const std::bad_alloc&) {  // for want of memory to ask others
        if (!all.begun) work(0, count);
    }
}

}  // namespace warpseal
