// `warpseal kem bench`: measures operations per second and latency of batches, or runs many round
// trips.
#include "bench/kem/kem_bench.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "bench/kem/batch.h"
#include "bench/report/failure.h"
#include "bench/report/figures.h"
#include "bench/report/file.h"
#include "bench/report/head.h"
#include "cli/support/format.h"
#include "cli/support/kem_sets.h"

namespace warpseal::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Figures of one operation: items per second of each repetition and seconds of each call.
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
        rates.push_back(static_cast<double>(count * (calls.size() - before)) /
                        seconds_since(start));
    }
    // Returns the time that the given fraction of all calls did not exceed.
    double percentile(double fraction) const {
        std::vector<double> sorted = calls;
        std::sort(sorted.begin(), sorted.end());
        return sorted[static_cast<size_t>(
            std::lround(fraction * static_cast<double>(sorted.size() - 1)))];
    }
};

// Collects the first eight bytes of every secret to detect duplicates. Among 10^8 distinct secrets,
// a pair with the same eight bytes is expected once in 3700 runs. Threads sort the values in
// buckets, by first byte.
class Seen {
public:
    explicit Seen(uint64_t items) {
        for (std::vector<uint64_t>& bucket : buckets_)
            bucket.reserve(items / buckets_.size() + items / buckets_.size() / 16 + 64);
    }
    ~Seen() {
        for (std::vector<uint64_t>& bucket : buckets_)
            warpseal_wipe(bucket.data(), bucket.size() * sizeof(uint64_t));
    }
    Seen(const Seen&) = delete;
    Seen& operator=(const Seen&) = delete;

    void add(const KemBatch& batch, uint64_t count) {
        for (uint64_t item = 0; item < count; ++item) {
            const std::span<const uint8_t> secret = batch.secret(item);
            uint64_t start = 0;
            std::memcpy(&start, secret.data(), sizeof start);
            buckets_[secret[0]].push_back(start);
        }
    }
    uint64_t distinct() {
        std::atomic<size_t> next{0};
        std::atomic<uint64_t> count{0};
        // std::jthread joins even if a later thread cannot be created.
        std::vector<std::jthread> threads;
        for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
            threads.emplace_back([&] {
                for (size_t bucket; (bucket = next++) < buckets_.size();) {
                    std::sort(buckets_[bucket].begin(), buckets_[bucket].end());
                    count += static_cast<uint64_t>(
                        std::unique(buckets_[bucket].begin(), buckets_[bucket].end()) -
                        buckets_[bucket].begin());
                }
            });
        threads.clear();
        return count;
    }

private:
    std::array<std::vector<uint64_t>, 256> buckets_;
};

// An engine that counts its notices. A notice means that cores did work intended for the device, so
// the result is not the device's.
class Device {
public:
    Device(const std::string& device, unsigned threads, cli::Session& session) : name(device) {
        // Throws with the reason if the device is not usable.
        cli::create_engine({device, threads}, session);
        warpseal_engine_options options{};
        options.struct_bytes = sizeof options;
        options.threads = threads;
        options.device = name.c_str();
        options.notice = [](void* user, const char* text) {
            cli::complain(text);
            ++static_cast<Device*>(user)->notices_;
        };
        options.notice_user = this;
        warpseal_engine* made = nullptr;
        const warpseal_status status = warpseal_engine_create(&options, &made);
        if (status != WARPSEAL_OK)
            throw cli::Failure(cli::exit_code_of(status),
                               cli::format("cannot start: {}", warpseal_status_text(status)));
        engine_.reset(made);
    }
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    const std::string name;
    warpseal_engine* engine() const { return engine_.get(); }
    bool is_gpu() const { return name.rfind("cuda", 0) == 0; }
    void require_no_notice() const {
        if (notices_ != 0)
            throw BenchWrong(
                "the engine had something to say: what ran may not be what was asked for");
    }

private:
    std::atomic<unsigned> notices_{0};
    // Declared last: the engine must end before the members that it notifies.
    cli::EngineHandle engine_;
};

class KemBench {
public:
    KemBench(const KemBenchOptions& options, cli::Session& session)
        : options_(options), report_file_(options.json) {
        for (const std::string& name : options.sets) sets_.push_back(cli::kem_set(name));
        if (sets_.empty()) sets_ = cli::all_kem_sets();
        const std::string& device = options.engine.device;
        if (options.place == "device" && device.rfind("cuda", 0) != 0 && device != "auto")
            throw cli::Failure(cli::ExitCode::usage,
                               "--place device is for a GPU: use --device cuda.");
        if (options.round_trips > 0 && options.batches.size() > 1)
            throw cli::Failure(cli::ExitCode::usage, "--round-trips are of one --batch.");
        if (options.prepared && (device.rfind("cuda", 0) == 0 || !options.place.empty()))
            throw cli::Failure(cli::ExitCode::usage,
                               "--prepared is for the cores: use --device cpu, without --place.");
        if (options.prepared && options.round_trips > 0)
            throw cli::Failure(cli::ExitCode::usage, "--round-trips have no --prepared key.");
        warpseal_device_info info{};
        std::vector<std::string> names{device};
        if (device == "auto") names = {"cpu"};
        if (device == "auto" && options.place == "device") names.clear();
        if (device == "auto" && !options.prepared &&
            (options.place == "device" || warpseal_device_at(0, &info) == WARPSEAL_OK))
            names.push_back("cuda");
        for (const std::string& name : names)
            devices_.push_back(std::make_unique<Device>(name, options.engine.threads, session));
    }

    cli::ExitCode run() {
        report_["head"] =
            json_head(devices_.back()->is_gpu() ? devices_.back()->name : "", options_.seconds);
        report_["rows"] = nlohmann::ordered_json::array();
        print(cli::format("warpseal {} (commit {}), {}\n",
                          report_["head"]["warpseal"].get<std::string>(),
                          report_["head"]["commit"].get<std::string>(),
                          report_["head"]["machine"].get<std::string>()));
        if (options_.round_trips == 0)
            print(cli::format(
                "median of {}, and the time that half and 99 % of all calls stayed within; every "
                "secret checked; {} thread{} on the "
                "cores{}\n\n{:<18}{:<13}{:<16}{:>8}{:>14}{:>13}{:>13}\n",
                bench_repetitions, options_.engine.threads, options_.engine.threads == 1 ? "" : "s",
                options_.prepared ? "; one prepared key for all items" : "", "", "", "", "batch",
                "per second", "p50", "p99"));
        for (const warpseal_kem_info& set : sets_)
            for (const auto& device : devices_) attempt(set, *device);
        report_file_.write(report_.dump(1) + "\n");
        return wrong_ ? cli::ExitCode::error : cli::ExitCode::ok;
    }

private:
    // Returns true if the batch lies in GPU memory, without transfers from or to the host.
    bool on_device(const Device& device) const {
        return device.is_gpu() && options_.place != "host";
    }
    std::string place(const Device& device) const { return on_device(device) ? "device" : "host"; }
    void print(const std::string& text) const { report_file_.print(text); }
    static void throw_if_interrupted() {
        if (cli::interrupted_by() != 0)
            throw cli::Failure(static_cast<cli::ExitCode>(128 + cli::interrupted_by()),
                               "interrupted.");
    }

    // Asks with an empty batch, which computes nothing.
    static bool has_code_for(const warpseal_kem_info& set, const Device& device) {
        warpseal_kem_batch batch{};
        batch.struct_bytes = sizeof batch;
        return warpseal_kem_keypair(device.engine(), set.name, &batch) != WARPSEAL_UNSUPPORTED;
    }

    void attempt(const warpseal_kem_info& set, const Device& device) {
        const auto checked = [&](const auto& work) {
            try {
                work();
            } catch (const BenchWrong& why) {
                wrong_ = true;
                cli::complain(
                    cli::format("{} on {}: no figure: {}", set.name, device.name, why.what()));
            }
        };
        if (!has_code_for(set, device)) {
            if (!options_.sets.empty())
                return checked([] { throw BenchWrong("there is no code of this set for it"); });
            return cli::complain(cli::format(
                "NOT RUN {} on {}: there is no code of this set for it", set.name, device.name));
        }
        if (options_.round_trips > 0) return checked([&] { round_trips(set, device); });
        const std::vector<uint64_t> usual{64, 256, 1024, 4096};
        for (const uint64_t count : options_.batches.empty() ? usual : options_.batches)
            checked([&] { measure(set, device, count); });
    }

    // Checks that both secrets of each item are equal and that no two items have the same secret.
    static void check(KemBatch& batch, uint64_t count, const Device& device) {
        if (const uint64_t wrong = batch.mismatches(count))
            throw BenchWrong(cli::format("{} of {} secrets did not arrive", wrong, count));
        Seen seen(count);
        seen.add(batch, count);
        if (seen.distinct() != count) throw BenchWrong("two secrets are the same");
        device.require_no_notice();
    }

    // Prepared keys are made once, so that key generation is not measured beside them.
    size_t first_measured() const { return options_.prepared ? 1 : 0; }

    void measure(const warpseal_kem_info& set, const Device& device, uint64_t count) {
        KemBatch batch(device.engine(), set, count, on_device(device));
        batch.run(KemOperation::keygen, count);
        if (options_.prepared) batch.prepare_keys();
        batch.run(KemOperation::encapsulate, count);
        batch.run(KemOperation::decapsulate, count);
        check(batch, count, device);
        batch.spoil_results();
        std::array<Figures, kem_operations.size()> figures;
        for (int repetition = 0; repetition < bench_repetitions; ++repetition)
            for (size_t i = first_measured(); i < kem_operations.size(); ++i) {
                throw_if_interrupted();
                figures[i].repeat(batch, kem_operations[i], count,
                                  options_.seconds / bench_repetitions);
            }
        check(batch, count, device);
        for (size_t i = first_measured(); i < kem_operations.size(); ++i)
            add_row(set, device, count, kem_operation_name(kem_operations[i]), figures[i]);
    }

    void add_row(const warpseal_kem_info& set, const Device& device, uint64_t count,
                 const char* operation, const Figures& figures) {
        // minimum number of calls for a 99th percentile
        constexpr size_t enough_calls = 100;
        const double rate = median(figures.rates), p50 = figures.percentile(0.5),
                     p99 = figures.percentile(0.99);
        const bool has_p99 = figures.calls.size() >= enough_calls;
        print(cli::format("{:<18}{:<13}{:<16}{:>8}{:>14.0f}{:>10.1f} us{:>13}\n", set.name,
                          operation, device.name + ", " + place(device), count, rate, 1e6 * p50,
                          has_p99 ? cli::format("{:.1f} us", 1e6 * p99) : "-"));
        nlohmann::ordered_json row{
            {"set", set.name},
            {"operation", operation},
            {"device", device.name},
            {"place", place(device)},
            {"threads", options_.engine.threads},
            {"batch", count},
            {"operations_per_second", rounded(rate)},
            {"p50_seconds", rounded(p50)},
            {"p99_seconds", has_p99 ? rounded(p99) : nlohmann::ordered_json(nullptr)},
            {"calls", figures.calls.size()}};
        if (options_.prepared) row["prepared"] = true;
        for (const double one : figures.rates) row["repetitions"].push_back(rounded(one));
        report_["rows"].push_back(row);
    }

    // Runs key generation, encapsulation and decapsulation with fresh coins for each item.
    void round_trips(const warpseal_kem_info& set, const Device& device) {
        const uint64_t usual = on_device(device) ? 131072 : 4096, total = options_.round_trips;
        const uint64_t most =
            std::min(total, options_.batches.empty() ? usual : options_.batches.front());
        KemBatch batch(device.engine(), set, most, on_device(device));
        Seen seen(total);
        uint64_t wrong = 0;
        const Clock::time_point start = Clock::now();
        for (uint64_t done = 0; done < total; done += most) {
            throw_if_interrupted();
            const uint64_t count = std::min(most, total - done);
            for (const KemOperation operation : kem_operations) batch.run(operation, count);
            wrong += batch.mismatches(count);
            seen.add(batch, count);
            batch.spoil_results();
        }
        const double seconds = seconds_since(start);
        const uint64_t distinct = seen.distinct();
        wrong_ = wrong_ || wrong != 0 || distinct != total;
        print(cli::format(
            "{:<18}{}, {}: {} round trips in {:.1f} s, {} mismatches, {} distinct secrets\n",
            set.name, device.name, place(device), total, seconds, wrong, distinct));
        device.require_no_notice();
        report_["round_trips"].push_back({{"set", set.name},
                                          {"device", device.name},
                                          {"place", place(device)},
                                          {"threads", options_.engine.threads},
                                          {"batch", most},
                                          {"round_trips", total},
                                          {"mismatches", wrong},
                                          {"secrets_distinct", distinct},
                                          {"seconds", rounded(seconds)}});
    }

    const KemBenchOptions& options_;
    ReportFile report_file_;
    std::vector<warpseal_kem_info> sets_;
    std::vector<std::unique_ptr<Device>> devices_;  // A GPU comes last.
    nlohmann::ordered_json report_;
    bool wrong_ = false;
};

}  // namespace

cli::ExitCode run_kem_bench(const KemBenchOptions& options, cli::Session& session) {
    return KemBench(options, session).run();
}

}  // namespace warpseal::bench
