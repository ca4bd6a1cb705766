// `warpseal tls-bench exchanges`: both scenarios of the paper without TLS. Study P4 of bench/papers
// has the table for data in GPU memory.

#include <algorithm>

#include "bench/clients/kem_load.h"
#include "bench/report/figures.h"
#include "bench/report/report.h"
#include "bench/tls/options.h"
#include "cli/support/format.h"
#include "cli/support/kem_sets.h"

namespace warpseal::tls {
namespace {

using bench::rounded;

std::vector<warpseal_kem_info> chosen_sets(const std::vector<std::string>& names) {
    std::vector<warpseal_kem_info> sets;
    sets.reserve(std::max<size_t>(names.size(), 1));
    for (const std::string& name : names) sets.push_back(cli::kem_set(name));
    if (sets.empty()) sets.push_back(cli::kem_set("ntruhps4096821"));
    return sets;
}

class Exchanges {
public:
    Exchanges(const ExchangesOptions& options, cli::Session& session)
        : options_(options),
          sets_(chosen_sets(options.sets)),
          counts_(options.clients.empty() ? std::vector<uint64_t>{100, 1'000, 10'000, 100'000}
                                          : options.clients),
          cores_(cli::create_engine({"cpu", 0}, session)),
          one_core_(cli::create_engine({"cpu", 1}, session)),
          engine_(cli::create_engine({options.device, 0}, session)),
          burst_engines_(engines_of_bursts(session)),
          report_(options.json, gpu_of(options.device)) {
        batching_.struct_bytes = sizeof batching_;
        batching_.max_batch = options.max_batch;
        batching_.max_delay_us = options.max_delay_us;
        // Room for all requests: these figures measure batches, not a full queue.
        batching_.max_waiting = static_cast<uint32_t>(std::max<uint64_t>(
            options.outstanding, *std::max_element(counts_.begin(), counts_.end())));
    }

    cli::ExitCode run() {
        report_.say("threads", options_.threads);
        report_.say("outstanding", options_.outstanding);
        report_.say("device", options_.device);
        report_.print(
            cli::format("{} threads ask, {} requests waiting; device {}; every secret "
                        "compared\n\n{:<66}{:>12}{:>14}{:>10}{:>10}{:>10}{:>9}\n",
                        options_.threads, options_.outstanding, options_.device, "", "seconds",
                        "exchanges/s", "core us", "p50 ms", "p99 ms", "batch"));
        for (const warpseal_kem_info& set : sets_) {
            measure_rates(set);
            measure_clients(set);
            measure_bursts(set);
        }
        report_.write();
        return wrong_ ? cli::ExitCode::error : cli::ExitCode::ok;
    }

private:
    void add_row(const warpseal_kem_info& set, const char* scenario, const std::string& how,
                 const KemFigure& figure, uint64_t clients) {
        wrong_ = wrong_ || figure.wrong != 0;
        if (figure.wrong)
            cli::complain(
                cli::format("{}: {}: {} secrets did not arrive", set.name, how, figure.wrong));
        const std::string who = clients ? cli::format("N = {}, {}", clients, how) : how;
        std::string line = cli::format(
            "{:<66}{:>12.4f}{:>14.0f}{:>10.2f}", cli::format("{} {}: {}", set.name, scenario, who),
            figure.seconds, figure.rate(), 1e6 * figure.core_seconds_each());
        nlohmann::ordered_json row{{"set", set.name}, {"scenario", scenario}, {"how", how}};
        if (clients) row["clients"] = clients;
        row["seconds"] = rounded(figure.seconds);
        row["exchanges"] = figure.exchanges;
        row["exchanges_per_second"] = rounded(figure.rate());
        row["core_microseconds"] = rounded(1e6 * figure.core_seconds_each());
        row["wrong"] = figure.wrong;
        if (figure.p50_seconds > 0) {
            row["p50_milliseconds"] = rounded(1e3 * figure.p50_seconds);
            row["p99_milliseconds"] = rounded(1e3 * figure.p99_seconds);
            line += cli::format("{:>10.3f}{:>10.3f}", 1e3 * figure.p50_seconds,
                                1e3 * figure.p99_seconds);
        }
        if (figure.mean_batch > 0) {
            row["mean_batch"] = rounded(figure.mean_batch);
            line += cli::format("{:>9.0f}", figure.mean_batch);
        }
        report_.print(line + "\n");
        report_.add(row);
    }

    void measure_rates(const warpseal_kem_info& set) {
        const double seconds = options_.seconds;
        KemClients clients(cores_.get(), set, options_.outstanding),
            lone(cores_.get(), set, std::min<uint64_t>(options_.outstanding, most_lone));
        add_row(set, encapsulates, "single calls, one core",
                lone.encapsulate(one_core_.get(), 1, seconds), 0);
        add_row(set, encapsulates, "batched calls, all cores",
                clients.encapsulate(cores_.get(), options_.outstanding, seconds), 0);
        if (options_.device != "cpu")
            add_row(set, encapsulates, "batched calls, " + options_.device,
                    clients.encapsulate(engine_.get(), options_.outstanding, seconds), 0);
        add_row(set, encapsulates, "through the batcher",
                clients.encapsulate(engine_.get(), batching_, options_.threads, seconds), 0);
        add_row(set, encapsulates, "through the batcher, one at a time",
                lone.encapsulate_lone(engine_.get(), batching_, seconds), 0);
        const KemClients::Decapsulated pool =
            clients.decapsulate(engine_.get(), options_.outstanding, seconds);
        add_row(set, decapsulates, "key pairs, for a pool", pool.pairs, 0);
        add_row(set, decapsulates, "ciphertexts of a pool's pairs", pool.secrets, 0);
    }

    // Measures `count` clients that arrive at once: the time until the last one has its answer.
    void measure_clients(const warpseal_kem_info& set) {
        for (const uint64_t count : counts_) {
            KemClients clients(cores_.get(), set, count);
            // Warm-up: an engine self-tests its paths and measures their speed at first use.
            clients.encapsulate(engine_.get(), count, 0);
            add_row(set, encapsulates, "one call", clients.encapsulate(engine_.get(), count, 0),
                    count);
            add_row(set, encapsulates, "through the batcher",
                    clients.encapsulate(engine_.get(), batching_, options_.threads, 0), count);
            const KemClients::Decapsulated pool = clients.decapsulate(engine_.get(), count, 0);
            add_row(set, decapsulates, "key pairs", pool.pairs, count);
            add_row(set, decapsulates, "one call", pool.secrets, count);
        }
    }

    // Measures clients that arrive at once at a batcher just created, and at the same one once it
    // is warm, on each device beside the others.
    void measure_bursts(const warpseal_kem_info& set) {
        for (const uint64_t count : counts_) {
            KemClients clients(cores_.get(), set, count);
            for (const auto& [device, engine] : burst_engines_) {
                const KemClients::Bursts bursts =
                    clients.bursts(engine.get(), batching_, options_.threads,
                                   {false, later_bursts, options_.seconds});
                add_row(set, at_once, "batcher just created, " + device, bursts.first, count);
                add_row(set, at_once, "batcher once warm, " + device, bursts.warm, count);
            }
        }
    }

    // Devices of the bursts: cpu beside the chosen one; for auto on a machine with a GPU, all
    // three.
    std::vector<std::pair<std::string, cli::EngineHandle>> engines_of_bursts(
        cli::Session& session) const {
        std::vector<std::pair<std::string, cli::EngineHandle>> engines;
        engines.emplace_back("cpu", cli::create_engine({"cpu", 0}, session));
        if (options_.device == "cpu") return engines;
        if (options_.device == "auto") try {
                engines.emplace_back("cuda", cli::create_engine({"cuda", 0}, session));
            } catch (const cli::Failure&) {
                return engines;  // no GPU: the same as cpu
            }
        engines.emplace_back(options_.device, cli::create_engine({options_.device, 0}, session));
        return engines;
    }

    static constexpr unsigned later_bursts = 11;
    static constexpr const char *at_once = "all clients at once",
                                *encapsulates = "server encapsulates",
                                *decapsulates = "server decapsulates";
    // Maximum number of single requests; enough for a percentile.
    static constexpr uint64_t most_lone = 4096;
    const ExchangesOptions& options_;
    const std::vector<warpseal_kem_info> sets_;
    const std::vector<uint64_t> counts_;
    const cli::EngineHandle cores_, one_core_, engine_;
    const std::vector<std::pair<std::string, cli::EngineHandle>> burst_engines_;
    warpseal_kem_batcher_options batching_{};
    bench::Report report_;
    bool wrong_ = false;
};

}  // namespace

cli::ExitCode run_exchanges(const ExchangesOptions& options, cli::Session& session) {
    return Exchanges(options, session).run();
}

}  // namespace warpseal::tls
