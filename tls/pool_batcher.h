// Requests to a key pool from event loops, gathered: keys handed out and ciphertexts decapsulated
// in batches, on a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "event_poll.h"
#include "exchange.h"

namespace warpseal::tls {

// A connection's. It stays where it is, and is left alone, until its place is woken, which happens
// once for each submit.
struct PoolRequest {
    enum class Kind { take, decapsulate } kind = Kind::take;
    Poll::Place place{};
    uint64_t handle = 0;              // take writes it, decapsulate uses it up
    std::vector<uint8_t> public_key;  // take
    std::vector<uint8_t> ciphertext;  // decapsulate
    SecretKey secret;
    warpseal_status status = WARPSEAL_OK;
};

class PoolBatcher {
public:
    struct Counts {
        uint64_t keys = 0, key_batches = 0, secrets = 0, secret_batches = 0, largest_batch = 0;
    };

    // A batch of ciphertexts starts when it has max_batch of them, when its first has waited so
    // long, or as soon as no other can come, since everybody who has a key is in it. Keys are
    // handed out at once.
    PoolBatcher(warpseal_engine* engine, const warpseal_kem_info& set, uint64_t pairs,
                size_t max_batch, std::chrono::microseconds max_delay);
    // No requests are under way.
    ~PoolBatcher();
    PoolBatcher(const PoolBatcher&) = delete;
    PoolBatcher& operator=(const PoolBatcher&) = delete;

    void submit(PoolRequest& request);
    // Of a client who will not answer.
    void drop(uint64_t handle);
    Counts counts() const;

private:
    using Clock = std::chrono::steady_clock;
    void gather();
    void fill();
    bool due() const;
    void take(std::vector<PoolRequest*> batch);
    void decapsulate(const std::vector<PoolRequest*>& batch);

    struct Destroy {
        void operator()(warpseal_kem_pool* pool) const { warpseal_kem_pool_destroy(pool); }
    };
    const warpseal_kem_info set_;
    const size_t max_batch_;
    const std::chrono::microseconds max_delay_;
    std::unique_ptr<warpseal_kem_pool, Destroy> pool_;
    mutable std::mutex mutex_;
    std::condition_variable arrived_, taken_;
    std::vector<PoolRequest*> takes_, secrets_;
    Clock::time_point first_secret_;
    uint64_t handles_out_ = 0;  // those of `secrets_` among them
    bool wanting_pairs_ = true, ending_ = false;
    Counts counts_;
    std::jthread filler_, batcher_;
};

}  // namespace warpseal::tls
