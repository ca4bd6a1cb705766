// `warpseal tls-bench`: runs groups in turn in several rounds and reports medians over the rounds.
#include <openssl/err.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "bench/report/figures.h"
#include "bench/report/report.h"
#include "bench/tls/contexts.h"
#include "bench/tls/key_exchange.h"
#include "bench/tls/load.h"
#include "bench/tls/metrics.h"
#include "bench/tls/options.h"
#include "cli/support/format.h"
#include "examples/tls_exchange/socket.h"

namespace warpseal::tls {
namespace {

using bench::rounded;

// Returns the device of the server's key exchanges; a remote server has its own.
std::string device_of(const HandshakesOptions& options) {
    return options.connect.empty() ? options.device : "cpu";
}

ProviderSettings settings_of(const HandshakesOptions& options) {
    ProviderSettings settings{{"device", device_of(options)}};
    if (!options.max_delay_us.empty()) settings.emplace_back("max_delay_us", options.max_delay_us);
    if (!options.max_batch.empty()) settings.emplace_back("max_batch", options.max_batch);
    return settings;
}

class Bench {
public:
    explicit Bench(const HandshakesOptions& options)
        : options_(options),
          elsewhere_(options.connect.empty() ? HostAndPort{} : split_address(options.connect)),
          groups_(choices(options.groups.empty() ? usual_groups() : options.groups)),
          report_(options.json, gpu_of(any_of_ours(groups_) ? device_of(options) : "")) {
        load_.in_flight = options.in_flight;
        load_.async = options.async;
        const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
        const unsigned usual = options.sockets ? std::max(1U, cores / 2) : cores;
        load_.server_threads = options.server_threads ? options.server_threads : usual;
        load_.client_threads = options.client_threads ? options.client_threads : usual;
        if (options.library_contexts > load_.server_threads)
            throw cli::Failure(cli::ExitCode::usage,
                               cli::format("--library-contexts {}: there are {} loops; give as "
                                           "many at most.",
                                           options.library_contexts, load_.server_threads));
        constexpr uint64_t others = 256;
        allow_descriptors(others + uint64_t{options.in_flight} * (options.sockets ? 2
                                                                  : external()    ? 1
                                                                                  : 0));
        for (unsigned i = 0; i < options.library_contexts; ++i)
            contexts_.push_back(std::make_unique<Contexts>(
                groups_, settings_of(options), RemoteServer{elsewhere_.host, options.authority}));
    }

    cli::ExitCode run() {
        introduce();
        std::vector<Row> rows = options_.mixed ? std::vector<Row>{mixed_row()} : single_rows();
        for (unsigned round = 0; round < options_.rounds; ++round) {
            for (Row& row : rows) run_round(row, round);
            if (round == 0) resident_after_first_round_ = resident_bytes();
        }
        uint64_t failed = 0;
        for (const Row& row : rows) {
            add_row(row, rows.front());
            failed += row.failed;
        }
        conclude();
        report_.write();
        return failed ? cli::ExitCode::error : cli::ExitCode::ok;
    }

private:
    struct Row {
        std::string name;
        std::vector<Ends> ends;  // of each library context
        std::vector<double> rates = {}, p50 = {}, p99 = {}, server_cpu = {}, engine_cpu = {},
                            busy = {};  // one for each round
        uint64_t done = 0, failed = 0;
        std::string first_failure = {};
        std::vector<BatchCounts> batches = {};  // of each library context
    };

    static std::vector<std::string> usual_groups() {
        return {"X25519", "x25519_ntru_hps4096821", "ntru_hps4096821"};
    }
    static std::vector<GroupChoice> choices(const std::vector<std::string>& texts) {
        return {texts.begin(), texts.end()};
    }
    bool external() const { return !options_.connect.empty(); }

    std::vector<Row> single_rows() const {
        std::vector<Row> rows(groups_.size());
        for (size_t i = 0; i < groups_.size(); ++i) {
            rows[i].name = groups_[i].name;
            for (const auto& contexts : contexts_) rows[i].ends.push_back(contexts->ends(i));
        }
        return rows;
    }
    Row mixed_row() const {
        Row row{.name = "mixed", .ends = {}};
        for (const auto& contexts : contexts_) row.ends.push_back(contexts->mixed_ends());
        return row;
    }

    std::vector<BatchCounts> batch_counts() const {
        std::vector<BatchCounts> counts;
        for (const auto& contexts : contexts_)
            counts.push_back(BatchCounts::of(contexts->metrics()));
        return counts;
    }

    void run_round(Row& row, unsigned round) {
        load_.handshakes = quota_of(options_.handshakes, round, options_.rounds);
        const std::vector<BatchCounts> before = batch_counts();
        const Measured measured = run_once(row.ends);
        if (cli::interrupted_by() != 0)
            throw cli::Failure(static_cast<cli::ExitCode>(128 + cli::interrupted_by()),
                               "interrupted.");
        const std::vector<BatchCounts> now = batch_counts();
        row.batches.resize(now.size());
        for (size_t i = 0; i < now.size(); ++i) row.batches[i] += now[i] - before[i];
        row.done += measured.tally.done;
        if (row.failed == 0) row.first_failure = measured.tally.first_failure;
        row.failed += measured.tally.failed;
        if (measured.tally.done == 0) return;
        row.rates.push_back(measured.rate());
        row.p50.push_back(measured.percentile(0.5));
        row.p99.push_back(measured.percentile(0.99));
        row.server_cpu.push_back(measured.server_cpu());
        row.engine_cpu.push_back(measured.engine_seconds /
                                 static_cast<double>(measured.tally.done));
        row.busy.push_back(measured.busy());
    }

    Measured run_once(const std::vector<Ends>& ends) const {
        if (external()) return run_against(load_, ends.front(), elsewhere_.host, elsewhere_.port);
        return options_.sockets ? run_over_sockets(load_, ends.front())
                                : run_in_memory(load_, ends);
    }

    void introduce() {
        const std::string loops =
            load_.server_threads == 1 ? "1 loop" : cli::format("{} loops", load_.server_threads);
        std::string how = cli::format("both ends joined by memory, {}", loops);
        if (options_.sockets)
            how = cli::format("TCP over loopback, {} of the server, {} of clients", loops,
                              load_.client_threads);
        if (external())
            how = cli::format("{}, {} of clients{}", options_.connect, load_.client_threads,
                              options_.authority.empty() ? ", certificate not verified" : "");
        if (options_.library_contexts > 1)
            how += cli::format(", {} library contexts", options_.library_contexts);
        if (options_.async && !external()) how += ", asynchronous";
        report_.say("how", how);
        if (!external()) report_.say("device", options_.device);
        report_.say("in_flight", options_.in_flight);
        report_.say("library_contexts", options_.library_contexts);
        report_.say("rounds", options_.rounds);
        report_.say("libssl", OpenSSL_version(OPENSSL_VERSION));
        report_.print(cli::format("{}: {}, {} in flight; medians of {} rounds\n\n",
                                  OpenSSL_version(OPENSSL_VERSION), how, options_.in_flight,
                                  options_.rounds));
        report_.print(cli::format("{:<26}{:>13}{:>10}{:>10}{:>12}{:>8}{:>10}{:>9}{:>11}{:>9}\n", "",
                                  "handshakes/s", "p50 ms", "p99 ms", "server us", "ratio",
                                  "exchange", "batch", "wait us", "failed"));
    }

    void add_row(const Row& row, const Row& first) {
        if (!row.first_failure.empty())
            cli::complain(cli::format("{}: {}", row.name, row.first_failure));
        nlohmann::ordered_json json{
            {"group", row.name}, {"handshakes", row.done}, {"failures", row.failed}};
        if (row.failed) json["first_failure"] = row.first_failure;
        if (!row.rates.empty()) add_figures(row, first, json);
        report_.add(json);
    }

    void add_figures(const Row& row, const Row& first, nlohmann::ordered_json& json) {
        const double rate = bench::median(row.rates), p50 = bench::median(row.p50),
                     p99 = bench::median(row.p99);
        json["handshakes_per_second"] = rounded(rate);
        json["p50_milliseconds"] = rounded(p50);
        json["p99_milliseconds"] = rounded(p99);
        json["loops_busy"] = rounded(bench::median(row.busy));
        std::string line =
            cli::format("{:<26}{:>13.0f}{:>10.2f}{:>10.2f}", row.name, rate, p50, p99);
        if (!external()) line += server_figures(row, first, json);
        report_.print(line + cli::format("{:>9}\n", row.failed));
    }

    std::string server_figures(const Row& row, const Row& first,
                               nlohmann::ordered_json& json) const {
        const double cpu = 1e6 * bench::median(row.server_cpu),
                     ratio = cpu / (1e6 * bench::median(first.server_cpu));
        json["server_cpu_microseconds"] = rounded(cpu);
        json["engine_cpu_microseconds"] = rounded(1e6 * bench::median(row.engine_cpu));
        json["server_cpu_ratio"] = rounded(ratio);
        for (const double one : row.server_cpu)
            json["server_cpu_rounds"].push_back(rounded(1e6 * one));
        std::string line = cli::format("{:>12.1f}{:>7.2f}x", cpu, ratio);
        const GroupChoice choice(options_.mixed ? groups_.front() : GroupChoice(row.name));
        const double exchange = options_.mixed
                                    ? 0
                                    : 1e6 * key_exchange_seconds(contexts_.front()->servers(),
                                                                 choice.group, choice.provider);
        json["key_exchange_microseconds"] = rounded(exchange);
        line += exchange > 0 ? cli::format("{:>8.1f} %", 100 * exchange / cpu)
                             : cli::format("{:>10}", "-");
        BatchCounts batches;
        for (const BatchCounts& counts : row.batches) {
            batches += counts;
            json["requests_of_contexts"].push_back(counts.requests);
        }
        if (batches.batches == 0) return line + cli::format("{:>9}{:>11}", "-", "-");
        json["batches"] = batches.batches;
        json["mean_batch"] = rounded(batches.mean_batch());
        json["mean_wait_microseconds"] = rounded(1e6 * batches.mean_wait_seconds());
        json["fallbacks"] = batches.fallbacks;
        return line + cli::format("{:>9.1f}{:>11.0f}", batches.mean_batch(),
                                  1e6 * batches.mean_wait_seconds());
    }

    void conclude() {
        const uint64_t resident = resident_bytes();
        report_.say("resident_bytes_after_first_round", resident_after_first_round_);
        report_.say("resident_bytes_at_end", resident);
        if (external()) return;
        report_.print(
            "\nms: from a client's first step until both ends are done, the turns of all others in "
            "flight included.\nserver us: CPU time "
            "of the server's SSL_do_handshake and of the threads that compute batches, for each "
            "handshake; ratio to "
            "the "
            "first row.\nexchange: the server's part of the key exchange, alone on one core, of "
            "that. The rest is the signature, the key "
            "schedule and records,\nwhich no batch makes quicker: batches pay where key exchanges "
            "are many and their handshakes wait in "
            "fibres (--async), and in key pools.\n");
    }

    const HandshakesOptions options_;
    const HostAndPort elsewhere_;
    const std::vector<GroupChoice> groups_;
    std::vector<std::unique_ptr<Contexts>> contexts_;
    Load load_;
    uint64_t resident_after_first_round_ = 0;
    bench::Report report_;
};

}  // namespace

cli::ExitCode run_handshakes(const HandshakesOptions& options, cli::Session& session) {
    // Checked here, because the provider would report a wrong device only as failing handshakes.
    (void)cli::create_engine({device_of(options), 1}, session);
    // It would override the configuration on both sides.
    (void)unsetenv("WARPSEAL_DEVICE");
    return Bench(options).run();
}

}  // namespace warpseal::tls
