// Combines event loops' requests to a key pool: acquires keys and decapsulates ciphertexts in
// batches, on a separate thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "examples/tls_exchange/event_poll.h"
#include "examples/tls_exchange/exchange.h"

namespace warpseal::tls {

// Request of a connection. It must not be moved or changed until `done` is woken, once for each
// submit.
struct PoolRequest {
    enum class Kind { acquire, decapsulate } kind = Kind::acquire;
    Poll::Wakeup done{};
    uint64_t handle = 0;              // `acquire` writes it, `decapsulate` consumes it.
    std::vector<uint8_t> public_key;  // for acquire
    std::vector<uint8_t> ciphertext;  // for decapsulate
    SecretKey secret;
    warpseal_status status = WARPSEAL_OK;
};

class PoolBatcher {
public:
    struct Counts {
        uint64_t keys = 0, key_batches = 0, secrets = 0, secret_batches = 0, largest_batch = 0;
    };

    // Starts a batch of ciphertexts when it has max_batch of them or its first has waited
    // max_delay. Also starts when no other can arrive, because every client with a key is in it.
    // Keys are acquired at once.
    PoolBatcher(warpseal_engine* engine, const warpseal_kem_info& set, uint64_t pairs,
                size_t max_batch, std::chrono::microseconds max_delay);
    // Requires that no requests are pending.
    ~PoolBatcher();
    PoolBatcher(const PoolBatcher&) = delete;
    PoolBatcher& operator=(const PoolBatcher&) = delete;

    void submit(PoolRequest& request);
    // Releases the key of a client that will not answer.
    void release(uint64_t handle);
    Counts counts() const;

private:
    using Clock = std::chrono::steady_clock;
    void run_batches();
    void run_refills();
    bool due() const;
    void acquire(std::vector<PoolRequest*> batch);
    void decapsulate(const std::vector<PoolRequest*>& batch);

    struct Destroy {
        void operator()(warpseal_kem_pool* pool) const { warpseal_kem_pool_destroy(pool); }
    };
    const warpseal_kem_info set_;
    const size_t max_batch_;
    const std::chrono::microseconds max_delay_;
    std::unique_ptr<warpseal_kem_pool, Destroy> pool_;
    mutable std::mutex mutex_;
    std::condition_variable arrived_, acquired_;
    std::vector<PoolRequest*> acquisitions_, decapsulations_;
    Clock::time_point first_decapsulation_;
    uint64_t handles_out_ = 0;  // including those of `decapsulations_`
    bool refill_ = true, ending_ = false;
    Counts counts_;
    std::jthread filler_, batcher_;
};

}  // namespace warpseal::tls
