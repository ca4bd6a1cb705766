// Key exchanges of very many clients without TLS: what they take through the batcher, in batched
// calls, one by one, and from a key pool.
#pragma once

#include <cstdint>
#include <vector>

#include "warpseal/batcher.h"

namespace warpseal::tls {

struct KemFigure {
    double seconds = 0;
    double core_seconds = 0;                  // of all threads of the process
    uint64_t exchanges = 0, wrong = 0;        // secrets that did not arrive
    double p50_seconds = 0, p99_seconds = 0;  // from a request until its answer; 0: not taken
    double mean_batch = 0;                    // 0: no batcher
    double rate() const { return static_cast<double>(exchanges) / seconds; }
    double core_seconds_each() const { return core_seconds / static_cast<double>(exchanges); }
};

// The clients of one set: key pairs, and room for their ciphertexts and secrets. The clients' own
// work is never part of a figure.
class KemClients {
public:
    KemClients(warpseal_engine* clients_engine, const warpseal_kem_info& set, uint64_t count);
    ~KemClients();
    KemClients(const KemClients&) = delete;
    KemClients& operator=(const KemClients&) = delete;

    // The server encapsulates to each client's key: in calls of `batch`, again and again for so
    // many seconds, once for 0.
    KemFigure encapsulate(warpseal_engine* engine, uint64_t batch, double seconds);
    // By `threads` that ask the batcher, all clients waiting at any time.
    KemFigure encapsulate(warpseal_engine* engine, const warpseal_kem_batcher_options& options,
                          unsigned threads, double seconds);
    // A lone request to an idle batcher, again and again: p50 and p99 are what counts.
    KemFigure encapsulate_lone(warpseal_engine* engine, const warpseal_kem_batcher_options& options,
                               double seconds);
    // The server hands each client a key of a pool, and decapsulates in calls of `batch`. The first
    // figure is of key pairs.
    struct Decapsulated {
        KemFigure pairs, secrets;
    };
    Decapsulated decapsulate(warpseal_engine* engine, uint64_t batch, double seconds);

private:
    warpseal_kem_batch items(uint64_t first, uint64_t count);
    warpseal_kem_request request(uint64_t item);
    uint64_t count_wrong();
    void forget_answers();

    warpseal_engine* const engine_;  // the clients'
    const warpseal_kem_info set_;
    const uint64_t count_;
    std::vector<uint8_t> public_keys_, secret_keys_, ciphertexts_, secrets_, expected_;
};

}  // namespace warpseal::tls
