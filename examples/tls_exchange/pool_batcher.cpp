// Combines requests to a key pool into batches.
#include "examples/tls_exchange/pool_batcher.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace warpseal::tls {
namespace {

warpseal_kem_pool* make_pool(warpseal_engine* engine, const warpseal_kem_info& set,
                             uint64_t pairs) {
    warpseal_kem_pool* pool = nullptr;
    const warpseal_status status = warpseal_kem_pool_create(engine, set.name, pairs, &pool);
    if (status != WARPSEAL_OK)
        throw std::runtime_error(std::string("no key pool: ") + warpseal_status_text(status));
    return pool;
}

// Completes the request. The owner may change it before wake() returns.
void complete(PoolRequest& request, warpseal_status status) {
    request.status = status;
    const Poll::Wakeup done = request.done;
    done.wake();
}

}  // namespace

PoolBatcher::PoolBatcher(warpseal_engine* engine, const warpseal_kem_info& set, uint64_t pairs,
                         size_t max_batch, std::chrono::microseconds max_delay)
    : set_(set),
      max_batch_(max_batch),
      max_delay_(max_delay),
      pool_(make_pool(engine, set, pairs)),
      filler_([this] { run_refills(); }),
      batcher_([this] { run_batches(); }) {}

PoolBatcher::~PoolBatcher() {
    {
        std::lock_guard lock(mutex_);
        ending_ = true;
    }
    arrived_.notify_all();
    acquired_.notify_all();
    batcher_.join();
    filler_.join();
}

void PoolBatcher::submit(PoolRequest& request) {
    std::lock_guard lock(mutex_);
    if (request.kind == PoolRequest::Kind::acquire) {
        acquisitions_.push_back(&request);
    } else {
        if (decapsulations_.empty()) first_decapsulation_ = Clock::now();
        decapsulations_.push_back(&request);
    }
    arrived_.notify_one();
}

void PoolBatcher::release(uint64_t handle) {
    warpseal_kem_pool_release(pool_.get(), 1, &handle);
    std::lock_guard lock(mutex_);
    --handles_out_;
    arrived_.notify_one();
}

PoolBatcher::Counts PoolBatcher::counts() const {
    std::lock_guard lock(mutex_);
    return counts_;
}

bool PoolBatcher::due() const {
    return decapsulations_.size() >= max_batch_ ||
           (!decapsulations_.empty() && (decapsulations_.size() >= handles_out_ ||
                                         Clock::now() >= first_decapsulation_ + max_delay_));
}

void PoolBatcher::run_batches() {
    std::unique_lock lock(mutex_);
    const auto anything = [this] { return ending_ || !acquisitions_.empty() || due(); };
    while (true) {
        if (decapsulations_.empty())
            arrived_.wait(lock, anything);
        else
            arrived_.wait_until(lock, first_decapsulation_ + max_delay_, anything);
        if (ending_) return;
        const std::vector<PoolRequest*> acquisitions = std::exchange(acquisitions_, {});
        std::vector<PoolRequest*> batch;
        if (due()) {
            const auto end = decapsulations_.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                           decapsulations_.size(), max_batch_));
            batch.assign(decapsulations_.begin(), end);
            decapsulations_.erase(decapsulations_.begin(), end);
        }
        lock.unlock();
        if (!acquisitions.empty()) acquire(acquisitions);
        if (!batch.empty()) decapsulate(batch);
        lock.lock();
    }
}

void PoolBatcher::run_refills() {
    std::unique_lock lock(mutex_);
    while (true) {
        acquired_.wait(lock, [this] { return ending_ || refill_; });
        if (ending_) return;
        refill_ = false;
        lock.unlock();
        warpseal_kem_pool_fill(pool_.get());  // Replaces the pairs that requests have acquired.
        lock.lock();
    }
}

// Acquires as many keys as there are slots and rejects the remaining requests.
void PoolBatcher::acquire(std::vector<PoolRequest*> batch) {
    std::vector<uint64_t> handles(batch.size());
    std::vector<uint8_t> keys(batch.size() * set_.public_key_bytes);
    warpseal_status status = WARPSEAL_OK;
    while (!batch.empty()) {
        status = warpseal_kem_pool_acquire(pool_.get(), batch.size(), keys.data(),
                                           set_.public_key_bytes, handles.data());
        if (status == WARPSEAL_OK) break;
        const size_t left = status == WARPSEAL_LIMIT_EXCEEDED ? batch.size() / 2 : 0;
        for (size_t i = left; i < batch.size(); ++i) complete(*batch[i], status);
        batch.resize(left);
    }
    {
        std::lock_guard lock(mutex_);
        handles_out_ += batch.size();
        counts_.keys += batch.size();
        counts_.key_batches += !batch.empty();
        refill_ = true;
    }
    acquired_.notify_one();
    for (size_t i = 0; i < batch.size(); ++i) {
        const uint8_t* key = keys.data() + i * set_.public_key_bytes;
        batch[i]->handle = handles[i];
        batch[i]->public_key.assign(key, key + set_.public_key_bytes);
        complete(*batch[i], WARPSEAL_OK);
    }
}

void PoolBatcher::decapsulate(const std::vector<PoolRequest*>& batch) {
    std::vector<uint64_t> handles;
    std::vector<uint8_t> ciphertexts;
    for (const PoolRequest* request : batch) {
        handles.push_back(request->handle);
        ciphertexts.insert(ciphertexts.end(), request->ciphertext.begin(),
                           request->ciphertext.end());
    }
    std::vector<SecretKey> secrets(batch.size());
    // initial value until the call sets it
    std::vector<int32_t> statuses(batch.size(), WARPSEAL_INVALID_ARGUMENT);
    static_assert(sizeof(SecretKey) == SecretKey::size());
    const warpseal_status all = warpseal_kem_pool_decapsulate(
        pool_.get(), batch.size(), handles.data(), ciphertexts.data(), set_.ciphertext_bytes,
        secrets.front().data(), SecretKey::size(), statuses.data());
    {
        std::lock_guard lock(mutex_);
        counts_.secrets += batch.size();
        ++counts_.secret_batches;
        counts_.largest_batch = std::max<uint64_t>(counts_.largest_batch, batch.size());
    }
    for (size_t i = 0; i < batch.size(); ++i) {
        const auto status =
            all == WARPSEAL_OK ? WARPSEAL_OK : static_cast<warpseal_status>(statuses[i]);
        // A failed item keeps its handle, which must be released.
        if (status == WARPSEAL_OK)
            batch[i]->secret = std::move(secrets[i]);
        else
            warpseal_kem_pool_release(pool_.get(), 1, &batch[i]->handle);
        complete(*batch[i], status);
    }
    std::lock_guard lock(mutex_);
    handles_out_ -= batch.size();
}

}  // namespace warpseal::tls
