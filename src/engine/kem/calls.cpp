// Key encapsulation in host memory: choice of the target, drawn coins, and distribution over
// threads.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "core/secret.h"
#include "core/word.h"
#include "engine/engine_impl.h"
#include "engine/kem/check.h"
#include "engine/kem/self_test.h"

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
struct Cut {
    uint64_t job_items, step_items, jobs;

    // A job of 100 microseconds or more is worth waking a thread, and inverting more keys together
    // makes each cheaper.
    // Jobs are not larger, because idle threads wait for the last one.
    Cut(const CpuKem& kem, KemOperation operation, uint64_t count, unsigned threads) {
        const uint64_t group = kem.group[static_cast<int>(operation)];
        const bool keypair = operation == KemOperation::keypair;
        const uint64_t least = keypair ? 8 : 16,
                       most = keypair ? group : std::max(least, 2 * group);
        const uint64_t even = (count + threads - 1) / threads;
        job_items = std::clamp(even, std::min(least, most), most);
        if (job_items > group) job_items = (job_items + group - 1) / group * group;
        step_items = std::min(job_items, std::max<uint64_t>(group, 8));
        jobs = (count + job_items - 1) / job_items;
    }
};

class Stopwatch {
public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }

private:
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// The CPU's items of a call whose arguments and path are settled.
class KemCall {
public:
    KemCall(Engine::Impl& impl, const CpuKem& kem, KemOperation operation,
            const warpseal_kem_batch& batch, KemRange range)
        : impl_(impl),
          kem_(kem),
          operation_(operation),
          batch_(batch),
          range_(range),
          cut_(kem, operation, range.end - range.begin, impl.pool.threads()) {}

    // aes, seed: null if no coins are drawn. Adds the number of items without a result to `failed`.
    warpseal_status run(const CpuCipher* aes, const uint8_t* seed, uint64_t& failed) {
        const size_t stride = aes == nullptr ? 0 : drawn_coins_stride(*kem_.params, operation_);
        const auto whole = [](size_t bytes) { return (bytes + 63) / 64 * 64; };
        const size_t own = whole(kem_.work_bytes(operation_, cut_.step_items)),
                     capacity = whole(stride * cut_.step_items);
        const auto wanted =
            static_cast<unsigned>(std::min<uint64_t>(impl_.pool.threads(), cut_.jobs));
        for (unsigned i = 0; i < wanted; ++i) {
            const size_t state = aes != nullptr && i == 0 ? aes->state_bytes : 0;
            Workspaces::Lease lease = impl_.kem.workspaces.lease(own + capacity + state);
            if (!lease) break;
            leases_.push_back(std::move(lease));
        }
        if (leases_.empty()) return WARPSEAL_OUT_OF_MEMORY;
        const auto threads = static_cast<unsigned>(leases_.size());
        const auto state = static_cast<uint8_t*>(leases_[0].data()) + own + capacity;
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
                coins.fill(first, count, stride, work + own);
                return step(first, count, work + own, stride, work);
            });
        }
        failed += failed_.load(std::memory_order_relaxed);
        return WARPSEAL_OK;
    }

private:
    uint64_t step(uint64_t first, uint64_t count, const uint8_t* coins, uint64_t coins_stride,
                  void* work) const {
        warpseal_kem_batch part = sub_batch(batch_, first, count);
        part.coins = coins;
        part.coins_stride = coins_stride;
        return kem_.run[static_cast<int>(operation_)](part, 0, count, work);
    }

    // Runs all jobs. Each thread starts with its own segment of items, which its cache may still
    // hold from the last call, and then helps with the others.
    template <class Step>
    void each_job(unsigned threads, const Step& step) {
        std::vector<std::atomic<uint64_t>> taken(threads);  // jobs started in each segment
        impl_.pool.run(threads, threads, [&](size_t own) {
            uint8_t* const work = static_cast<uint8_t*>(leases_[own].data());
            uint64_t failed = 0;
            for (size_t stretch = own; stretch < own + threads; ++stretch) {
                const size_t i = stretch % threads;
                const uint64_t first = cut_.jobs * i / threads, end = cut_.jobs * (i + 1) / threads;
                for (uint64_t job;
                     (job = first + taken[i].fetch_add(1, std::memory_order_relaxed)) < end;)
                    failed += one_job(job, work, step);
            }
            failed_.fetch_add(failed, std::memory_order_relaxed);
        });
    }

    template <class Step>
    uint64_t one_job(uint64_t job, uint8_t* work, const Step& step) const {
        const uint64_t begin = range_.begin + job * cut_.job_items,
                       end = std::min(begin + cut_.job_items, range_.end);
        uint64_t failed = 0;
        for (uint64_t first = begin; first < end; first += cut_.step_items)
            failed += step(first, std::min(cut_.step_items, end - first), work);
        return failed;
    }

    Engine::Impl& impl_;
    const CpuKem& kem_;
    const KemOperation operation_;
    const warpseal_kem_batch& batch_;
    const KemRange range_;
    const Cut cut_;
    std::vector<Workspaces::Lease> leases_;
    std::atomic<uint64_t> failed_{0};
};

}  // namespace

int set_number(const char* name) {
    for (int i = 0; i < kem::set_count; ++i)
        if (std::strcmp(kem::sets[i]->name, name) == 0) return i;
    return -1;
}

// If none of the engine's targets implements the set, a lower target that runs on the same machines
// stands in.
warpseal_status Engine::Impl::tested_kem(int set, KemOperation operation, const CpuKem*& out) {
    std::atomic<int8_t>& chosen = kem.chosen[set][static_cast<int>(operation)];
    const char* name = kem::sets[set]->name;
    if (const int8_t known = chosen.load(std::memory_order_acquire); known >= 0) {
        out = kem.cpu_kem(static_cast<Target>(known), name);
        return WARPSEAL_OK;
    }
    warpseal_status status = WARPSEAL_UNSUPPORTED;
    for (const bool stand_ins : {false, true}) {
        bool reached = false;
        for (const Target target : cpu_targets_best_first) {
            reached = reached || cores[static_cast<size_t>(target)];
            if (!(stand_ins ? reached : cores[static_cast<size_t>(target)]) ||
                !kem.cpu_has_kem(target))
                continue;
            const CpuKem* test_case = kem.cpu_kem(target, name);
            if (test_case == nullptr) continue;
            // Identifies the path by the address of its function pointer, which is unique: modes
            // and directions apply to ciphers only.
            bool failed_now = false;
            const PathName path{&test_case->run[static_cast<int>(operation)],
                                nullptr,
                                -1,
                                Path::cores,
                                WARPSEAL_ECB,
                                Direction::encrypt};
            status = self_test_result(
                path, [&] { return test_kem(*test_case, operation); }, &failed_now);
            if (failed_now) say_closed(target, name, operation);
            if (status == WARPSEAL_SELF_TEST_FAILED) continue;
            if (status != WARPSEAL_OK) return status;
            chosen.store(static_cast<int8_t>(target), std::memory_order_release);
            out = test_case;
            return WARPSEAL_OK;
        }
        if (status != WARPSEAL_UNSUPPORTED) break;
    }
    return status;
}

void Engine::Impl::say_closed(Target target, const char* set, KemOperation operation) const {
    constexpr const char* names[kem_operation_count] = {"key generation", "encapsulation",
                                                        "decapsulation"};
    if (!notice) return;
    const std::string text = std::string(target_name(target)) + " failed its self-test in " + set +
                             " " + names[static_cast<int>(operation)] +
                             " and is closed for it in this process";
    notice(text.c_str());
}

warpseal_status Engine::Impl::tested_coins(const CpuCipher*& out) {
    constexpr const char* cipher = "aes-256";
    Target target = static_cast<Target>(kem.chosen_for_coins.load(std::memory_order_acquire));
    if (static_cast<int8_t>(target) < 0) {
        const warpseal_status status =
            tested_cores(descriptors(cipher), WARPSEAL_ECB, Direction::encrypt, target);
        if (status != WARPSEAL_OK) return status;
        kem.chosen_for_coins.store(static_cast<int8_t>(target), std::memory_order_release);
    }
    out = cpu_cipher(target, cipher);
    return WARPSEAL_OK;
}

warpseal_status Engine::Impl::kem_cores(int set, KemOperation operation, bool draws,
                                        KemCores& out) {
    const warpseal_status status = tested_kem(set, operation, out.kem);
    return status == WARPSEAL_OK && draws ? tested_coins(out.aes) : status;
}

warpseal_status Engine::Impl::kem_on_cores(const KemCores& chosen, KemOperation operation,
                                           const warpseal_kem_batch& batch, KemRange range,
                                           const uint8_t* seed, uint64_t& failed) {
    return KemCall(*this, *chosen.kem, operation, batch, range).run(chosen.aes, seed, failed);
}

warpseal_status Engine::kem(KemOperation operation, const char* set,
                            const warpseal_kem_batch& batch, RandomSource random) {
    Impl& impl = *impl_;
    const int number = set_number(set);
    if (number < 0) return WARPSEAL_UNSUPPORTED;
    warpseal_status status = check_kem(*kem::sets[number], operation, batch);
    if (status != WARPSEAL_OK || batch.count == 0) return status;
    const bool draws = operation != KemOperation::decapsulate && batch.coins == nullptr;
    KemGpus gpus;
    if (impl.gpu_pays(number, operation, batch.count))
        status = impl.kem_gpus(number, operation, batch.count, draws, gpus);
    if (status == WARPSEAL_SELF_TEST_FAILED && impl.cuda_only) return status;
    Secret<CoinSeed::bytes> seed;
    if (draws && !random(seed.data(), seed.size())) return WARPSEAL_NO_RANDOM;
    const uint8_t* drawn = draws ? seed.data() : nullptr;

    // Measures the work only: a self-test, which runs once per operation, would make the target
    // appear slow.
    uint64_t failed = 0;
    KemCores cores;
    KemThroughput& throughput = impl.kem.throughput;
    if (gpus.count == 0) {
        status = impl.kem_cores(number, operation, draws, cores);
        if (status != WARPSEAL_OK) return status;
        const Stopwatch watch;
        status = impl.kem_on_cores(cores, operation, batch, {0, batch.count}, drawn, failed);
        if (status == WARPSEAL_OK)
            throughput.note(number, operation, false, batch.count, watch.seconds());
    } else {
        const Stopwatch watch;
        const std::vector<KemRange> left = impl.kem_on_gpus(gpus, operation, batch, drawn, failed);
        const double seconds = watch.seconds();
        if (left.empty()) {
            throughput.note(number, operation, true, batch.count, seconds);
        } else {
            uint64_t done = batch.count;
            for (const KemRange& range : left) done -= range.end - range.begin;
            throughput.handed_back(number, operation, done, seconds);
            status = impl.kem_cores(number, operation, draws, cores);
            for (const KemRange& range : left)
                if (status == WARPSEAL_OK)
                    status = impl.kem_on_cores(cores, operation, batch, range, drawn, failed);
        }
    }
    return status == WARPSEAL_OK && failed != 0 ? WARPSEAL_INVALID_ARGUMENT : status;
}

}  // namespace warpseal
