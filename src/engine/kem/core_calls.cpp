// Key encapsulation on cores: drawn coins, and distribution over threads.
#include "engine/kem/core_calls.h"

#include <algorithm>

#include "core/word.h"
#include "engine/kem/paths.h"

namespace warpseal {
namespace {

// Drawn coins of a call: AES-256-CTR keystream under a random key and counter. Each item has its
// own complete blocks, so any thread can generate its items' coins.
// Encrypts in ECB, which needs little stack.
class Coins {
public:
    static constexpr size_t block_bytes = 16;

    // state: aes.state_bytes bytes, 64-byte-aligned.
    Coins(const CpuCipher& aes, void* state, const uint8_t* seed)
        : aes_(aes),
          state_(state),
          high_(load_be64(seed + CoinSeed::key_bytes)),
          low_(load_be64(seed + CoinSeed::key_bytes + 8)) {
        aes_.expand(state, seed);
    }
    void fill(uint64_t first_item, uint64_t count, size_t stride, uint8_t* out) const {
        const uint64_t first = first_item * (stride / block_bytes),
                       blocks =
                           count * (stride / block_bytes);  // below 2^64: the coins fit in memory
        for (uint64_t i = 0; i < blocks; ++i) {
            const uint64_t low = low_ + first + i;
            store_be64(out + block_bytes * i, high_ + (low < low_ ? 1 : 0));
            store_be64(out + block_bytes * i + 8, low);
        }
        aes_.sweep[WARPSEAL_ECB][static_cast<int>(Direction::encrypt)](state_, nullptr, 0, out, out,
                                                                       count * stride);
    }

private:
    const CpuCipher& aes_;
    const void* state_;
    const uint64_t high_, low_;
};

// Splits a call into jobs of one thread each. A job runs step_items items at a time, with coins
// drawn for them.
struct Split {
    uint64_t job_items, step_items, jobs;

    // A job of 100 microseconds or more is worth waking a thread, and inverting more keys together
    // makes each cheaper.
    // Jobs are not larger, because idle threads wait for the last one.
    Split(const CpuKem& kem, KemOperation operation, uint64_t count, unsigned threads) {
        const uint64_t group = kem.group[static_cast<int>(operation)];
        const bool keypair = operation == KemOperation::keypair;
        const uint64_t fewest = keypair ? 8 : 16,
                       most = std::max(fewest, keypair ? group : 2 * group);
        const uint64_t even = (count + threads - 1) / threads;
        job_items = std::clamp(even, fewest, most);
        if (job_items > group) job_items = (job_items + group - 1) / group * group;
        step_items = std::min(job_items, std::max<uint64_t>(group, 8));
        jobs = (count + job_items - 1) / job_items;
    }
};

// The CPU's items of a call whose arguments and path are settled.
class KemCall {
public:
    KemCall(Engine::Impl& impl, const KemCores& cores, KemOperation operation,
            const warpseal_kem_batch& batch, KemRange range)
        : impl_(impl),
          set_(*cores.set),
          kem_(*cores.kem),
          prepared_(cores.prepared),
          operation_(operation),
          batch_(batch),
          range_(range),
          split_(kem_, operation, range.end - range.begin, impl.pool.threads()) {}

    // aes, seed: null if no coins are drawn. Adds the number of items without a result to `failed`.
    warpseal_status run(const CpuCipher* aes, const uint8_t* seed, uint64_t& failed) {
        const size_t stride = aes == nullptr ? 0 : drawn_coins_stride(set_, operation_);
        const auto whole = [](size_t bytes) { return (bytes + 63) / 64 * 64; };
        const size_t work_bytes = whole(kem_.work_bytes(operation_, split_.step_items)),
                     coins_bytes = whole(stride * split_.step_items);
        const auto wanted =
            static_cast<unsigned>(std::min<uint64_t>(impl_.pool.threads(), split_.jobs));
        for (unsigned i = 0; i < wanted; ++i) {
            const size_t state_bytes = aes != nullptr && i == 0 ? aes->state_bytes : 0;
            Workspaces::Lease lease =
                impl_.kem.workspaces.lease(work_bytes + coins_bytes + state_bytes);
            if (!lease) break;
            leases_.push_back(std::move(lease));
        }
        if (leases_.empty()) return WARPSEAL_OUT_OF_MEMORY;
        const auto threads = static_cast<unsigned>(leases_.size());
        const auto state = static_cast<uint8_t*>(leases_[0].data()) + work_bytes + coins_bytes;
        if (aes == nullptr) {
            each_job(threads, [&](uint64_t first, uint64_t count, uint8_t* work) {
                return step(
                    first, count,
                    batch_.coins == nullptr ? nullptr : batch_.coins + first * batch_.coins_stride,
                    batch_.coins_stride, work);
            });
        } else {
            const Coins coins(*aes, state, seed);
            each_job(threads, [&](uint64_t first, uint64_t count, uint8_t* work) {
                coins.fill(first, count, stride, work + work_bytes);
                return step(first, count, work + work_bytes, stride, work);
            });
        }
        failed += failed_.load(std::memory_order_relaxed);
        return WARPSEAL_OK;
    }

private:
    uint64_t step(uint64_t first, uint64_t count, const uint8_t* coins, uint64_t coins_stride,
                  void* work) const {
        warpseal_kem_batch items = sub_batch(batch_, first, count);
        items.coins = coins;
        items.coins_stride = coins_stride;
        if (prepared_ == nullptr)
            return kem_.run[static_cast<int>(operation_)](items, 0, count, work);
        const KemKeyKind kind = kind_for(operation_);
        // The batch's keys are for arrays that are read and for those that are written.
        auto* const key = static_cast<uint8_t*>(const_cast<void*>(prepared_));
        (kind == KemKeyKind::public_key ? items.public_keys : items.secret_keys) = key;
        (kind == KemKeyKind::public_key ? items.public_key_stride : items.secret_key_stride) = 0;
        return kem_.run_prepared[static_cast<int>(kind)](items, 0, count, work);
    }

    // Runs all jobs, in one range for each thread. A thread starts with its own range, whose items
    // its cache may still hold from the last call, and then helps with the others.
    template <class Step>
    void each_job(unsigned threads, const Step& step) {
        std::vector<std::atomic<uint64_t>> started(threads);  // jobs, in each range
        impl_.pool.run(threads, threads, [&](size_t thread) {
            uint8_t* const work = static_cast<uint8_t*>(leases_[thread].data());
            uint64_t failed = 0;
            for (size_t k = 0; k < threads; ++k) {
                const size_t i = (thread + k) % threads;
                const uint64_t first = split_.jobs * i / threads,
                               end = split_.jobs * (i + 1) / threads;
                for (uint64_t job;
                     (job = first + started[i].fetch_add(1, std::memory_order_relaxed)) < end;)
                    failed += one_job(job, work, step);
            }
            failed_.fetch_add(failed, std::memory_order_relaxed);
        });
    }

    template <class Step>
    uint64_t one_job(uint64_t job, uint8_t* work, const Step& step) const {
        const uint64_t begin = range_.begin + job * split_.job_items,
                       end = std::min(begin + split_.job_items, range_.end);
        uint64_t failed = 0;
        for (uint64_t first = begin; first < end; first += split_.step_items)
            failed += step(first, std::min(split_.step_items, end - first), work);
        return failed;
    }

    Engine::Impl& impl_;
    const KemSet& set_;
    const CpuKem& kem_;
    const void* const prepared_;  // null: each item's own key
    const KemOperation operation_;
    const warpseal_kem_batch& batch_;
    const KemRange range_;
    const Split split_;
    std::vector<Workspaces::Lease> leases_;
    std::atomic<uint64_t> failed_{0};
};

}  // namespace

warpseal_status kem_cores(Engine::Impl& impl, int set, KemOperation operation, bool draws,
                          KemCores& out) {
    out.set = &kem_sets[set];
    const warpseal_status status = tested_kem(impl, set, operation, out.kem);
    return status == WARPSEAL_OK && draws ? tested_coins(impl, out.aes) : status;
}

warpseal_status kem_on_cores(Engine::Impl& impl, const KemCores& cores, KemOperation operation,
                             const warpseal_kem_batch& batch, KemRange range, const uint8_t* seed,
                             uint64_t& failed) {
    return KemCall(impl, cores, operation, batch, range).run(cores.aes, seed, failed);
}

}  // namespace warpseal
