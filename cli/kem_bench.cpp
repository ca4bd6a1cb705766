// `warpseal kem bench`: key pairs, encapsulations and decapsulations a second, how long a batch takes, and very many round trips.
#include "kem_bench.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "bench.h"
#include "kem_batch.h"

namespace warpseal::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

nlohmann::ordered_json rounded(double value) { return std::stod(fmt::format("{:.4g}", value)); }

// What one operation took: items a second in each repetition, and each call's seconds.
struct Figures {
    std::vector<double> rates, calls;

    void repeat(KemBatch& batch, KemOperation operation, uint64_t count, double seconds) {
        const Clock::time_point start = Clock::now();
        const size_t before = calls.size();
        do {
            const Clock::time_point called = Clock::now();
            batch.run(operation, count);
            calls.push_back(seconds_since(called));
        } while (seconds_since(start) < seconds);
        rates.push_back(static_cast<double>(count * (calls.size() - before)) / seconds_since(start));
    }
    // The time that `part` of all calls stayed within.
    double percentile(double part) const {
        std::vector<double> sorted = calls;
        std::sort(sorted.begin(), sorted.end());
        return sorted[static_cast<size_t>(part * static_cast<double>(sorted.size() - 1) + 0.5)];
    }
};

// Secrets of items far apart, to see that no two are the same.
class Sample {
public:
    static constexpr size_t most = size_t{1} << 20;
    explicit Sample(uint64_t items) : stride_(std::max<uint64_t>(1, (items + most - 1) / most)) {
        secrets_.reserve(items / stride_ + 1);  // a vector that grows leaves secrets behind
    }
    ~Sample() { warpseal_wipe(secrets_.data(), secrets_.size() * sizeof(KemSecret)); }

    void take(const KemBatch& batch, uint64_t first, uint64_t count) {
        for (uint64_t item = (first + stride_ - 1) / stride_ * stride_; item < first + count; item += stride_)
            secrets_.push_back(batch.secret(item - first));
    }
    size_t size() const { return secrets_.size(); }
    size_t distinct() {
        std::sort(secrets_.begin(), secrets_.end());
        return static_cast<size_t>(std::unique(secrets_.begin(), secrets_.end()) - secrets_.begin());
    }

private:
    const uint64_t stride_;
    std::vector<KemSecret> secrets_;
};

class KemBench {
public:
    KemBench(const KemBenchOptions& options, Session& session) : options_(options) {
        if (!options.json.empty() && options.json != "-") {  // a file that cannot be written is told before the measuring
            json_.open(options.json, std::ios::trunc);
            if (!json_) throw Failure(ExitCode::input_output, "cannot write " + options.json + ".");
        }
        for (const std::string& name : options.sets) sets_.push_back(kem_set(name));
        if (sets_.empty()) sets_ = all_kem_sets();
        const bool gpu = options.engine.device.rfind("cuda", 0) == 0;
        warpseal_device_info info{};
        if (options.place == "device" && !gpu && options.engine.device != "auto")
            throw Failure(ExitCode::usage, "--place device is for a GPU: use --device cuda.");
        if (gpu || options.place == "device")
            devices_ = {gpu ? options.engine.device : "cuda"};
        else if (options.engine.device != "auto")
            devices_ = {options.engine.device};
        else if (warpseal_device_at(0, &info) == WARPSEAL_OK)
            devices_ = {"cpu", "cuda"};
        else
            devices_ = {"cpu"};
        for (const std::string& device : devices_) engines_.push_back(create_engine({device, options.engine.threads}, session));
    }

    ExitCode run() {
        const std::string gpu = devices_.back().rfind("cuda", 0) == 0 ? devices_.back() : "";
        report_["head"] = json_head(gpu);
        report_["rows"] = nlohmann::ordered_json::array();
        print(fmt::format("warpseal {} (commit {}), {}\n", report_["head"]["warpseal"].get<std::string>(),
                          report_["head"]["commit"].get<std::string>(), report_["head"]["machine"].get<std::string>()));
        if (options_.round_trips == 0)
            print(fmt::format(
                "median of {}, and the time that half and 99 % of all calls stayed within; every secret checked; {} thread{} on the "
                "cores\n\n{:<18}{:<13}{:<16}{:>8}{:>14}{:>13}{:>13}\n",
                bench_repetitions, options_.engine.threads, options_.engine.threads == 1 ? "" : "s", "", "", "", "batch", "per second",
                "p50", "p99"));
        for (const warpseal_kem_info& set : sets_)
            for (size_t i = 0; i < devices_.size(); ++i) attempt(set, i);
        write_json();
        return wrong_ ? ExitCode::error : ExitCode::ok;
    }

private:
    // In the GPU's memory, without anything to or from the host.
    bool on_device(size_t device) const { return devices_[device].rfind("cuda", 0) == 0 && options_.place != "host"; }
    std::string place(size_t device) const { return on_device(device) ? "device" : "host"; }
    void print(const std::string& text) const { options_.json == "-" ? print_error(text) : print_output(text); }
    static void heed_interrupt() {
        if (interrupted_by() != 0) throw Failure(static_cast<ExitCode>(128 + interrupted_by()), "interrupted.");
    }

    void attempt(const warpseal_kem_info& set, size_t device) {
        const auto checked = [&](const auto& work) {
            try {
                work();
            } catch (const BenchWrong& why) {
                wrong_ = true;
                complain(fmt::format("{} on {}: no figure: {}", set.name, devices_[device], why.what()));
            }
        };
        if (options_.round_trips > 0) return checked([&] { round_trips(set, device); });
        const std::vector<uint64_t> usual{64, 256, 1024, 4096};
        for (const uint64_t count : options_.batches.empty() ? usual : options_.batches) checked([&] { measure(set, device, count); });
    }

    // One of each, and all secrets have arrived; the same again after the last repetition.
    void check(KemBatch& batch, uint64_t count) const {
        batch.spoil_results();
        for (const KemOperation operation : kem_operations) batch.run(operation, count);
        if (const uint64_t wrong = batch.mismatches(count)) throw BenchWrong(fmt::format("{} of {} secrets did not arrive", wrong, count));
        Sample sample(count);
        sample.take(batch, 0, count);
        if (sample.distinct() != sample.size()) throw BenchWrong("two secrets are the same");
    }

    void measure(const warpseal_kem_info& set, size_t device, uint64_t count) {
        KemBatch batch(engines_[device].get(), set, count, on_device(device));
        check(batch, count);
        std::array<Figures, kem_operations.size()> figures;
        for (int repetition = 0; repetition < bench_repetitions; ++repetition)
            for (size_t i = 0; i < kem_operations.size(); ++i) {
                heed_interrupt();
                figures[i].repeat(batch, kem_operations[i], count, options_.seconds / bench_repetitions);
            }
        if (const uint64_t wrong = batch.mismatches(count))
            throw BenchWrong(fmt::format("{} of {} secrets did not arrive after the measuring", wrong, count));
        for (size_t i = 0; i < kem_operations.size(); ++i) add_row(set, device, count, kem_operation_name(kem_operations[i]), figures[i]);
    }

    void add_row(const warpseal_kem_info& set, size_t device, uint64_t count, const char* operation, const Figures& figures) {
        const double rate = median(figures.rates), p50 = figures.percentile(0.5), p99 = figures.percentile(0.99);
        print(fmt::format("{:<18}{:<13}{:<16}{:>8}{:>14.0f}{:>10.1f} us{:>10.1f} us\n", set.name, operation,
                          devices_[device] + ", " + place(device), count, rate, 1e6 * p50, 1e6 * p99));
        nlohmann::ordered_json row{{"set", set.name},
                                   {"operation", operation},
                                   {"device", devices_[device]},
                                   {"place", place(device)},
                                   {"threads", options_.engine.threads},
                                   {"batch", count},
                                   {"operations_per_second", rounded(rate)},
                                   {"p50_seconds", rounded(p50)},
                                   {"p99_seconds", rounded(p99)},
                                   {"calls", figures.calls.size()}};
        for (const double one : figures.rates) row["repetitions"].push_back(rounded(one));
        report_["rows"].push_back(row);
    }

    // Key pair, ciphertext and secret there and back, from coins that are drawn for each item.
    void round_trips(const warpseal_kem_info& set, size_t device) {
        const uint64_t usual = on_device(device) ? 131072 : 4096, total = options_.round_trips;
        const uint64_t most = std::min(total, options_.batches.empty() ? usual : options_.batches.back());
        KemBatch batch(engines_[device].get(), set, most, on_device(device));
        Sample sample(total);
        uint64_t wrong = 0;
        const Clock::time_point start = Clock::now();
        for (uint64_t done = 0; done < total; done += most) {
            heed_interrupt();
            const uint64_t count = std::min(most, total - done);
            for (const KemOperation operation : kem_operations) batch.run(operation, count);
            wrong += batch.mismatches(count);
            sample.take(batch, done, count);
            batch.spoil_results();
        }
        const double seconds = seconds_since(start);
        const size_t sampled = sample.size(), distinct = sample.distinct();
        wrong_ = wrong_ || wrong != 0 || distinct != sampled;
        print(fmt::format("{:<18}{}, {}: {} round trips in {:.1f} s, {} mismatches; of {} secrets looked at {} are distinct\n", set.name,
                          devices_[device], place(device), total, seconds, wrong, sampled, distinct));
        report_["round_trips"].push_back({{"set", set.name},
                                          {"device", devices_[device]},
                                          {"place", place(device)},
                                          {"threads", options_.engine.threads},
                                          {"batch", most},
                                          {"round_trips", total},
                                          {"mismatches", wrong},
                                          {"secrets_sampled", sampled},
                                          {"secrets_distinct", distinct},
                                          {"seconds", rounded(seconds)}});
    }

    void write_json() {
        if (options_.json.empty()) return;
        const std::string text = report_.dump(1) + "\n";
        if (options_.json == "-") return print_output(text);
        json_ << text;
        json_.close();
        if (!json_) throw Failure(ExitCode::input_output, "cannot write " + options_.json + ".");
    }

    const KemBenchOptions& options_;
    std::vector<warpseal_kem_info> sets_;
    std::vector<std::string> devices_;  // a GPU last
    std::vector<EngineHandle> engines_;
    nlohmann::ordered_json report_;
    std::ofstream json_;
    bool wrong_ = false;
};

}  // namespace

ExitCode run_kem_bench(const KemBenchOptions& options, Session& session) { return KemBench(options, session).run(); }

}  // namespace warpseal::cli
