// Key exchanges of many clients without TLS, measured through the batcher, in batched calls, one by
// one, and from a key pool.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "warpseal/batcher.h"

namespace warpseal::tls {

struct KemFigure {
    double seconds = 0;
    double core_seconds = 0;  // all threads of the process
    // `wrong` counts secrets that differ between client and server.
    uint64_t exchanges = 0, wrong = 0;
    double p50_seconds = 0, p99_seconds = 0;  // From request to answer; 0: not measured.
    double mean_batch = 0;                    // 0: no batcher
    double rate() const { return static_cast<double>(exchanges) / seconds; }
    double core_seconds_each() const { return core_seconds / static_cast<double>(exchanges); }
};

class Submitter;

// Clients of one set: key pairs, and room for ciphertexts and secrets. The clients' own work is
// never part of a figure.
class KemClients {
public:
    KemClients(warpseal_engine* clients_engine, const warpseal_kem_info& set, uint64_t count);
    ~KemClients();
    KemClients(const KemClients&) = delete;
    KemClients& operator=(const KemClients&) = delete;

    // Encapsulates to each client's key in calls of `batch` items. Repeats for `seconds`, or runs
    // once for 0.
    KemFigure encapsulate(warpseal_engine* engine, uint64_t batch, double seconds);
    // Encapsulates through the batcher from `threads` threads, with all clients' requests pending
    // at any time: for `seconds` to warm it up, then measured for `seconds`. Runs once for 0.
    KemFigure encapsulate(warpseal_engine* engine, const warpseal_kem_batcher_options& options,
                          unsigned threads, double seconds);
    // Lets all clients ask at once, and waits for the last answer: on a batcher created at the same
    // moment, and on it once it is warm. The threads exist before.
    struct BurstPlan {
        bool decapsulates;       // the server decapsulates, else it encapsulates to clients' keys
        unsigned later;          // measured bursts on the warm batcher, at least 1
        double warm_up_seconds;  // of bursts before these
    };
    struct Bursts {
        KemFigure first, warm;  // warm: the median by its seconds; `wrong` is of all
    };
    Bursts bursts(warpseal_engine* engine, const warpseal_kem_batcher_options& options,
                  unsigned threads, const BurstPlan& plan);
    // Repeats a single request to an idle batcher, to measure p50 and p99.
    KemFigure encapsulate_lone(warpseal_engine* engine, const warpseal_kem_batcher_options& options,
                               double seconds);
    // Acquires a key of a pool for each client and decapsulates in calls of `batch` items. The
    // first figure is for key pairs.
    struct Decapsulated {
        KemFigure pairs, secrets;
    };
    Decapsulated decapsulate(warpseal_engine* engine, uint64_t batch, double seconds);

private:
    warpseal_kem_batch items(uint64_t first, uint64_t count);
    warpseal_kem_request request(uint64_t item, bool decapsulates = false);
    class Burst;
    using Submitters = std::vector<std::unique_ptr<Submitter>>;
    // Returns the requests of all clients, divided among the threads.
    std::vector<std::vector<warpseal_kem_request>> requests_of(unsigned threads, bool decapsulates);
    // Number of clients whose secret differs from the server's.
    uint64_t count_differing() const;
    uint64_t count_wrong();
    void zeroize_results();

    warpseal_engine* const engine_;  // the clients' engine
    const warpseal_kem_info set_;
    const uint64_t count_;
    std::vector<uint8_t> public_keys_, secret_keys_, ciphertexts_, secrets_, expected_;
};

}  // namespace warpseal::tls
