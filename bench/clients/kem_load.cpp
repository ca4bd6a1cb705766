// Key exchanges of many clients without TLS.
#include "bench/clients/kem_load.h"

#include <time.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <thread>

#include "bench/clients/submitter.h"
#include "cli/support/command.h"

namespace warpseal::tls {
namespace {

// Measures wall time, and CPU time of all threads of this process, since its construction.
class Watch {
public:
    double seconds() const { return seconds_since(start_); }
    double core_seconds() const { return cpu() - cpu_start_; }

private:
    static double cpu() {
        timespec now{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    }
    const Clock::time_point start_ = Clock::now();
    const double cpu_start_ = cpu();
};

void check(warpseal_status status) {
    if (status != WARPSEAL_OK)
        throw cli::Failure(cli::exit_code_of(status),
                           std::string("key exchange: ") + warpseal_status_text(status));
}

struct DestroyBatcher {
    void operator()(warpseal_kem_batcher* batcher) const { warpseal_kem_batcher_destroy(batcher); }
};
using Batcher = std::unique_ptr<warpseal_kem_batcher, DestroyBatcher>;

Batcher make_batcher(warpseal_engine* engine, const warpseal_kem_batcher_options& options) {
    warpseal_kem_batcher* batcher = nullptr;
    check(warpseal_kem_batcher_create(engine, &options, &batcher));
    return Batcher(batcher);
}

warpseal_kem_batcher_counts counts_of(warpseal_kem_batcher* batcher) {
    warpseal_kem_batcher_counts counts{};
    counts.struct_bytes = sizeof counts;
    check(warpseal_kem_batcher_counts_read(batcher, &counts));
    return counts;
}

double mean_batch(const warpseal_kem_batcher_counts& from, const warpseal_kem_batcher_counts& to) {
    const uint64_t batches = to.batches - from.batches;
    return batches ? static_cast<double>(to.batched_requests - from.batched_requests) /
                         static_cast<double>(batches)
                   : 0;
}

void set_percentiles(KemFigure& figure, std::vector<double> seconds) {
    if (seconds.empty()) return;
    std::sort(seconds.begin(), seconds.end());
    figure.p50_seconds = seconds[seconds.size() / 2];
    figure.p99_seconds =
        seconds[static_cast<size_t>(std::lround(0.99 * static_cast<double>(seconds.size() - 1)))];
}

}  // namespace

KemClients::KemClients(warpseal_engine* clients_engine, const warpseal_kem_info& set,
                       uint64_t count)
    : engine_(clients_engine),
      set_(set),
      count_(count),
      public_keys_(count * set.public_key_bytes),
      secret_keys_(count * set.secret_key_bytes),
      ciphertexts_(count * set.ciphertext_bytes),
      secrets_(count * set.shared_secret_bytes),
      expected_(count * set.shared_secret_bytes) {
    const warpseal_kem_batch all = items(0, count);
    check(warpseal_kem_keypair(engine_, set_.name, &all));
}

KemClients::~KemClients() {
    for (std::vector<uint8_t>* secret : {&secret_keys_, &secrets_, &expected_})
        warpseal_wipe(secret->data(), secret->size());
}

warpseal_kem_batch KemClients::items(uint64_t first, uint64_t count) {
    warpseal_kem_batch batch{};
    batch.struct_bytes = sizeof batch;
    batch.count = count;
    batch.public_keys = public_keys_.data() + first * set_.public_key_bytes;
    batch.public_key_stride = set_.public_key_bytes;
    batch.secret_keys = secret_keys_.data() + first * set_.secret_key_bytes;
    batch.secret_key_stride = set_.secret_key_bytes;
    batch.ciphertexts = ciphertexts_.data() + first * set_.ciphertext_bytes;
    batch.ciphertext_stride = set_.ciphertext_bytes;
    batch.shared_secrets = secrets_.data() + first * set_.shared_secret_bytes;
    batch.shared_secret_stride = set_.shared_secret_bytes;
    return batch;
}

warpseal_kem_request KemClients::request(uint64_t item, bool decapsulates) {
    const warpseal_kem_batch one = items(item, 1);
    warpseal_kem_request request{};
    request.struct_bytes = sizeof request;
    request.operation = decapsulates ? WARPSEAL_KEM_DECAPSULATE : WARPSEAL_KEM_ENCAPSULATE;
    request.set = set_.name;
    request.public_key = one.public_keys;
    request.secret_key = one.secret_keys;
    request.ciphertext = one.ciphertexts;
    request.shared_secret = one.shared_secrets;
    return request;
}

void KemClients::zeroize_results() {
    std::fill(secrets_.begin(), secrets_.end(), uint8_t{0});
    std::fill(ciphertexts_.begin(), ciphertexts_.end(), uint8_t{0});
}

// Lets each client decapsulate its last ciphertext; returns the number of wrong secrets.
uint64_t KemClients::count_wrong() {
    warpseal_kem_batch all = items(0, count_);
    all.shared_secrets = expected_.data();
    check(warpseal_kem_decapsulate(engine_, set_.name, &all));
    return count_differing();
}

uint64_t KemClients::count_differing() const {
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < count_; ++i)
        wrong +=
            std::memcmp(&secrets_[i * set_.shared_secret_bytes],
                        &expected_[i * set_.shared_secret_bytes], set_.shared_secret_bytes) != 0;
    return wrong;
}

KemFigure KemClients::encapsulate(warpseal_engine* engine, uint64_t batch, double seconds) {
    zeroize_results();
    KemFigure figure;
    const Watch watch;
    do {
        for (uint64_t first = 0; first < count_; first += batch) {
            const warpseal_kem_batch some = items(first, std::min(batch, count_ - first));
            check(warpseal_kem_encapsulate(engine, set_.name, &some));
        }
        figure.exchanges += count_;
    } while (watch.seconds() < seconds);
    figure.seconds = watch.seconds();
    figure.core_seconds = watch.core_seconds();
    figure.wrong = count_wrong();
    return figure;
}

KemFigure KemClients::encapsulate(warpseal_engine* engine,
                                  const warpseal_kem_batcher_options& options, unsigned threads,
                                  double seconds) {
    zeroize_results();
    // Must outlive the batcher, whose threads complete them.
    Submitters submitters;
    const Batcher batcher = make_batcher(engine, options);
    for (std::vector<warpseal_kem_request>& some : requests_of(threads, false))
        submitters.push_back(std::make_unique<Submitter>(std::move(some)));
    const auto run = [&] {
        std::vector<std::jthread> running;
        running.reserve(submitters.size());
        for (const auto& submitter : submitters)
            running.emplace_back([&] { submitter->run(batcher.get(), seconds); });
    };
    if (seconds > 0) {
        run();
        for (const auto& submitter : submitters) check(submitter->status);
        zeroize_results();
    }
    const warpseal_kem_batcher_counts before = counts_of(batcher.get());
    KemFigure figure;
    const Watch watch;
    run();
    figure.seconds = watch.seconds();
    figure.core_seconds = watch.core_seconds();
    std::vector<double> latencies;
    for (const auto& submitter : submitters) {
        check(submitter->status);
        latencies.insert(latencies.end(), submitter->latencies.begin(), submitter->latencies.end());
    }
    figure.exchanges = latencies.size();
    set_percentiles(figure, std::move(latencies));
    figure.mean_batch = mean_batch(before, counts_of(batcher.get()));
    figure.wrong = count_wrong();
    return figure;
}

std::vector<std::vector<warpseal_kem_request>> KemClients::requests_of(unsigned threads,
                                                                       bool decapsulates) {
    std::vector<std::vector<warpseal_kem_request>> all(threads);
    for (unsigned i = 0; i < threads; ++i)
        for (uint64_t item = count_ * i / threads; item < count_ * (i + 1) / threads; ++item)
            all[i].push_back(request(item, decapsulates));
    return all;
}

// Threads that exist before a burst, and submit their requests at the same moment.
class KemClients::Burst {
public:
    Burst(Submitters& submitters, const Batcher& batcher)
        : begin_(static_cast<std::ptrdiff_t>(submitters.size() + 1)),
          end_(static_cast<std::ptrdiff_t>(submitters.size() + 1)) {
        size_t missing = submitters.size();
        try {
            running_.reserve(missing);
            for (const auto& submitter : submitters) {
                running_.emplace_back([&, one = submitter.get()] { serve(*one, batcher); });
                --missing;
            }
        } catch (...) {
            for (; missing != 0; --missing) (void)begin_.arrive_and_drop();
            end();
            throw;
        }
    }
    ~Burst() { end(); }
    Burst(const Burst&) = delete;
    Burst& operator=(const Burst&) = delete;

    void run() {
        begin_.arrive_and_wait();
        end_.arrive_and_wait();
    }

private:
    void serve(Submitter& submitter, const Batcher& batcher) {
        while (begin_.arrive_and_wait(), !ended_) {
            submitter.run(batcher.get(), 0);
            end_.arrive_and_wait();
        }
    }
    void end() {
        ended_ = true;
        begin_.arrive_and_wait();
    }

    bool ended_ = false;  // read and written between the barriers
    std::barrier<> begin_, end_;
    std::vector<std::jthread> running_;
};

KemClients::Bursts KemClients::bursts(warpseal_engine* engine,
                                      const warpseal_kem_batcher_options& options, unsigned threads,
                                      const BurstPlan& plan) {
    if (plan.decapsulates) {
        const warpseal_kem_batch all = items(0, count_);
        check(warpseal_kem_encapsulate(engine_, set_.name, &all));
        expected_ = secrets_;
    }
    Submitters submitters;
    for (std::vector<warpseal_kem_request>& some : requests_of(threads, plan.decapsulates))
        submitters.push_back(std::make_unique<Submitter>(std::move(some)));
    Batcher batcher;
    Burst burst(submitters, batcher);
    const auto measure = [&](bool create) {
        std::fill(secrets_.begin(), secrets_.end(), uint8_t{0});
        KemFigure figure;
        const Watch watch;
        if (create) batcher = make_batcher(engine, options);
        burst.run();
        figure.seconds = watch.seconds();
        figure.core_seconds = watch.core_seconds();
        figure.exchanges = count_;
        std::vector<double> latencies;
        for (const auto& submitter : submitters)
            latencies.insert(latencies.end(), submitter->latencies.begin(),
                             submitter->latencies.end());
        set_percentiles(figure, std::move(latencies));
        figure.wrong = plan.decapsulates ? count_differing() : count_wrong();
        return figure;
    };
    Bursts out{.first = measure(true), .warm = {}};
    uint64_t wrong = 0;
    const Watch warm_up;
    do wrong += measure(false).wrong;
    while (warm_up.seconds() < plan.warm_up_seconds);
    std::vector<KemFigure> warm;
    for (unsigned i = 0; i < plan.later; ++i) {
        warm.push_back(measure(false));
        wrong += warm.back().wrong;
    }
    for (const auto& submitter : submitters) check(submitter->status);
    std::sort(warm.begin(), warm.end(),
              [](const KemFigure& a, const KemFigure& b) { return a.seconds < b.seconds; });
    out.warm = warm[warm.size() / 2];
    out.warm.wrong = wrong;
    return out;
}

KemFigure KemClients::encapsulate_lone(warpseal_engine* engine,
                                       const warpseal_kem_batcher_options& options,
                                       double seconds) {
    zeroize_results();
    const Batcher batcher = make_batcher(engine, options);
    KemFigure figure;
    std::vector<double> latencies;
    const auto run_all = [&] {
        for (uint64_t item = 0; item < count_; ++item) {
            const warpseal_kem_request one = request(item);
            const Clock::time_point submitted = Clock::now();
            check(warpseal_kem_batcher_run(batcher.get(), &one));
            latencies.push_back(seconds_since(submitted));
        }
    };
    run_all();  // to warm it up
    latencies.clear();
    zeroize_results();
    const Watch watch;
    do run_all();
    while (watch.seconds() < seconds);
    figure.seconds = watch.seconds();
    figure.core_seconds = watch.core_seconds();
    figure.exchanges = latencies.size();
    set_percentiles(figure, std::move(latencies));
    figure.wrong = count_wrong();
    return figure;
}

KemClients::Decapsulated KemClients::decapsulate(warpseal_engine* engine, uint64_t batch,
                                                 double seconds) {
    zeroize_results();
    warpseal_kem_pool* made = nullptr;
    check(warpseal_kem_pool_create(engine, set_.name, count_, &made));
    const std::unique_ptr<warpseal_kem_pool, void (*)(warpseal_kem_pool*)> pool(
        made, warpseal_kem_pool_destroy);
    std::vector<uint64_t> handles(count_);
    std::vector<uint8_t> keys(public_keys_.size());
    Decapsulated figures;
    do {
        const Watch pairs;
        check(warpseal_kem_pool_acquire(pool.get(), count_, keys.data(), set_.public_key_bytes,
                                        handles.data()));
        figures.pairs.seconds += pairs.seconds();
        figures.pairs.core_seconds += pairs.core_seconds();
        figures.pairs.exchanges += count_;
        warpseal_kem_batch clients = items(0, count_);
        clients.public_keys = keys.data();
        clients.shared_secrets = expected_.data();
        check(warpseal_kem_encapsulate(engine_, set_.name, &clients));
        const Watch secrets;
        for (uint64_t first = 0; first < count_; first += batch) {
            const uint64_t some = std::min(batch, count_ - first);
            check(warpseal_kem_pool_decapsulate(
                pool.get(), some, &handles[first], &ciphertexts_[first * set_.ciphertext_bytes],
                set_.ciphertext_bytes, &secrets_[first * set_.shared_secret_bytes],
                set_.shared_secret_bytes, nullptr));
        }
        figures.secrets.seconds += secrets.seconds();
        figures.secrets.core_seconds += secrets.core_seconds();
        figures.secrets.exchanges += count_;
        for (uint64_t i = 0; i < secrets_.size(); i += set_.shared_secret_bytes)
            figures.secrets.wrong +=
                std::memcmp(&secrets_[i], &expected_[i], set_.shared_secret_bytes) != 0;
    } while (figures.secrets.seconds + figures.pairs.seconds < seconds);
    return figures;
}

}  // namespace warpseal::tls
