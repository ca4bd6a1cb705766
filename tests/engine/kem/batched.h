// Requests for a batcher test: items of one set whose secrets must match.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "container/random.h"
#include "engine/kem/batcher/batcher.h"
#include "engine/pattern.h"

namespace batched {

using namespace warpseal;
using tests::Text;
using namespace std::chrono_literals;

inline const KemSet& set = kem_sets[0];
inline const KemSet& other_set = kem_sets[4];

inline bool system_random(void* out, size_t bytes) { return container::random_bytes(out, bytes); }

inline std::unique_ptr<Engine> engine_on(const char* device, unsigned threads = 2,
                                         const GpuBackend* backend = nullptr) {
    EngineOptions options;
    options.device = device;
    options.threads = threads;
    options.cuda = backend;
    std::unique_ptr<Engine> engine;
    EXPECT_EQ(Engine::create(options, engine), WARPSEAL_OK);
    return engine;
}

inline KemBatcherOptions with(size_t most, BatcherClock::duration delay,
                              uint32_t most_waiting = 4096) {
    KemBatcherOptions options;
    options.rule = {most, delay};
    options.most_waiting = most_waiting;
    return options;
}

// A clock that only a test advances. Operations take no time by it, so a busy machine cannot lower
// the limit of a batch.
struct FakeClock {
    static BatcherClock::time_point now() {
        return BatcherClock::time_point(BatcherClock::duration(ticks));
    }
    static void advance(BatcherClock::duration by) { ticks += by.count(); }

private:
    static inline std::atomic<BatcherClock::rep> ticks{BatcherClock::duration(1h).count()};
};

// Batches start when they are full: the delay is an hour of a stopped clock.
inline KemBatcherOptions full_batches(size_t most) {
    KemBatcherOptions options = with(most, 1h);
    options.now = FakeClock::now;
    return options;
}

inline warpseal_kem_batcher_counts counts_of(KemBatcher& batcher) {
    warpseal_kem_batcher_counts counts{};
    counts.struct_bytes = sizeof counts;
    batcher.read(counts);
    return counts;
}

// Returns true as soon as the condition holds, or false after a minute, as a busy machine may delay
// a thread for seconds.
template <class Condition>
bool soon(const Condition& condition) {
    const auto end = BatcherClock::now() + 60s;
    while (!condition())
        if (BatcherClock::now() > end)
            return false;
        else
            std::this_thread::sleep_for(100us);
    return true;
}

// Contiguous items, each with a key pair of its own, and the status of each request.
struct Items {
    const KemSet& set;
    const size_t count;
    Text publics, secrets, ciphertexts, sent, received;
    std::vector<std::atomic<int>> statuses;  // -1: not done
    std::atomic<size_t> done{0};

    explicit Items(size_t items, const KemSet& params = batched::set)
        : set(params),
          count(items),
          publics(items * params.public_key_bytes(), 0xa5),
          secrets(items * params.secret_key_bytes(), 0xa5),
          ciphertexts(items * params.ciphertext_bytes(), 0xa5),
          sent(items * params.shared_secret_bytes(), 0xa5),
          received(items * params.shared_secret_bytes(), 0xa5),
          statuses(items) {
        reset();
    }
    void reset() {
        for (std::atomic<int>& status : statuses) status = -1;
        done = 0;
    }
    void fill(Engine& engine, KemOperation operation) {
        warpseal_kem_batch batch{};
        batch.struct_bytes = sizeof batch;
        batch.count = count;
        batch.public_keys = publics.data();
        batch.public_key_stride = set.public_key_bytes();
        batch.secret_keys = secrets.data();
        batch.secret_key_stride = set.secret_key_bytes();
        batch.ciphertexts = ciphertexts.data();
        batch.ciphertext_stride = set.ciphertext_bytes();
        batch.shared_secrets =
            operation == KemOperation::decapsulate ? received.data() : sent.data();
        batch.shared_secret_stride = set.shared_secret_bytes();
        EXPECT_EQ(engine.kem(operation, set.name, batch, system_random), WARPSEAL_OK);
    }

    struct Completion {
        Items* items;
        size_t i;
    };
    warpseal_kem_request request(KemOperation operation, size_t i) {
        warpseal_kem_request out{};
        out.struct_bytes = sizeof out;
        out.operation = static_cast<int32_t>(operation);
        out.set = set.name;
        out.public_key = publics.data() + i * set.public_key_bytes();
        out.secret_key = secrets.data() + i * set.secret_key_bytes();
        out.ciphertext = ciphertexts.data() + i * set.ciphertext_bytes();
        out.shared_secret = (operation == KemOperation::decapsulate ? received : sent).data() +
                            i * set.shared_secret_bytes();
        out.done = [](void* user, warpseal_status status) {
            const std::unique_ptr<Completion> completion(static_cast<Completion*>(user));
            EXPECT_EQ(completion->items->statuses[completion->i].exchange(status), -1);
            completion->items->done.fetch_add(1);
        };
        return out;
    }
    warpseal_status submit(KemBatcher& batcher, KemOperation operation, size_t i) {
        warpseal_kem_request one = request(operation, i);
        auto completion = std::make_unique<Completion>(Completion{this, i});
        one.user = completion.get();
        const warpseal_status status = batcher.submit(one);
        if (status == WARPSEAL_OK) (void)completion.release();
        return status;
    }
    bool all_done() const { return done == count; }
    size_t good() const {
        size_t out = 0;
        for (const std::atomic<int>& status : statuses) out += status == WARPSEAL_OK;
        return out;
    }
};

}  // namespace batched
