// `warpseal bench auto`: compares `auto` with the fastest of all its choices, for points of cipher,
// size and memory kind.

#include <algorithm>
#include <map>
#include <tuple>

#include "bench/bulk/race.h"
#include "bench/report/file.h"
#include "bench/report/head.h"
#include "c_api/internal.h"
#include "cli/support/ciphers.h"
#include "cli/support/format.h"

namespace warpseal::bench {
namespace {

constexpr double good_ratio = 0.9;
// Other processes use the machine too, so a point fails only if every attempt is slow.
constexpr int attempts = 3;

const char* const default_cases[] = {"aes-256-ctr", "aes-256-gcm", "aria-256-ctr",
                                     "camellia-256-gcm", "des-ede3-ctr"};
constexpr uint64_t default_sizes[] = {uint64_t{64} << 10, uint64_t{4} << 20, uint64_t{32} << 20,
                                      uint64_t{256} << 20};
const char* const places[] = {"host", "pinned", "device"};

std::vector<BenchCase> auto_cases() {
    std::vector<BenchCase> cases;
    for (const char* name : default_cases)
        for (const warpseal_cipher_info& cipher : cli::all_ciphers())
            for (const warpseal_mode mode : cli::modes_of(cipher)) {
                const BenchCase what{cipher, mode, true};
                if (what.name() == name) cases.push_back(what);
            }
    return cases;
}

struct Point {
    BenchCase what;
    std::string place;
    uint64_t bytes = 0;
    std::string picked, best;
    double rate = 0, best_rate = 0;
    int attempt = 0;
    std::vector<std::pair<std::string, double>> rates;

    double ratio() const { return rate / best_rate; }
    bool good() const { return ratio() >= good_ratio; }
    // Takes the rates of a race whose last candidate is `auto`.
    void set_rates(const std::vector<Candidate>& candidates) {
        rates.clear();
        for (const Candidate& candidate : candidates)
            rates.emplace_back(candidate.name, candidate.gigabytes_per_second(bytes));
        rate = rates.back().second;
        std::tie(best, best_rate) =
            *std::max_element(rates.begin(), rates.end(),
                              [](const auto& a, const auto& b) { return a.second < b.second; });
    }
    nlohmann::ordered_json json() const {
        nlohmann::ordered_json all = nlohmann::ordered_json::object();
        for (const auto& [name, each] : rates) all[name] = each;
        return {{"cipher", what.cipher.name},
                {"mode", warpseal_mode_name(what.mode)},
                {"operation", what.operation()},
                {"place", place},
                {"bytes", bytes},
                {"picked", picked},
                {"gigabytes_per_second", rate},
                {"best", best},
                {"best_gigabytes_per_second", best_rate},
                {"ratio", ratio()},
                {"good", good()},
                {"attempts", attempt},
                {"candidates_gigabytes_per_second", all}};
    }
};

class AutoBench {
public:
    AutoBench(const BenchOptions& options, cli::Session& session)
        : options_(options), session_(session), report_file_(options.json) {
        warpseal_device_info gpu{};
        has_gpu_ = warpseal_device_at(0, &gpu) == WARPSEAL_OK;
        for (const warpseal_target_info& target : cli::all_targets())
            if (target.usable) names_.emplace_back(target.name);
        names_.emplace_back("auto");  // must be last
    }

    cli::ExitCode run() {
        report_["head"] = json_head(has_gpu_ ? "cuda" : "");
        report_["points"] = nlohmann::ordered_json::array();
        print(cli::format("{:<18}{:>9}  {:<8}{:<14}{:>9}  {:<10}{:>9}{:>8}   GB/s of each\n", "",
                          "bytes", "place", "auto picked", "GB/s", "best", "GB/s", "ratio"));
        std::vector<uint64_t> sizes = options_.sizes;
        if (sizes.empty()) sizes.assign(std::begin(default_sizes), std::end(default_sizes));
        for (const char* place : places)
            for (const uint64_t bytes : sizes) measure(place, bytes);
        const size_t all = points_ + left_out_;
        print(cli::format(
            "\n{} of {} points within 10 % of the best{}\n", points_ - bad_, all,
            left_out_ == 0 ? "" : cli::format("; {} NOT RUN: there is no GPU", left_out_)));
        report_["left_out"] = left_out_;
        report_file_.write(report_.dump(1) + "\n");
        return bad_ == 0 ? cli::ExitCode::ok : cli::ExitCode::error;
    }

private:
    void print(const std::string& text) const { report_file_.print(text); }

    void measure(const std::string& place, uint64_t bytes) {
        const std::vector<BenchCase> cases = auto_cases();
        if (place != "host" && !has_gpu_) {
            for (const BenchCase& what : cases)
                print(cli::format("{:<18}{:>9}  {:<8}NOT RUN: there is no GPU\n", what.name(),
                                  cli::human_bytes(bytes), place));
            left_out_ += cases.size();
            return;
        }
        const cli::EngineHandle owner =
            cli::create_engine({place == "host" ? "cpu" : "cuda", 0}, session_);
        Ground ground(owner.get(), place, bytes);
        for (const BenchCase& what : cases) {
            if (cli::interrupted_by() != 0)
                throw cli::Failure(static_cast<cli::ExitCode>(128 + cli::interrupted_by()),
                                   "interrupted.");
            try {
                measure(what, ground);
            } catch (const BenchWrong& why) {
                ++points_;
                ++bad_;
                cli::complain(cli::format("{} at {} in {} memory: {}", what.name(),
                                          cli::human_bytes(bytes), place, why.what()));
            }
        }
    }

    void measure(const BenchCase& what, Ground& ground) {
        Point point;
        point.what = what;
        point.place = ground.place();
        point.bytes = ground.bytes();
        std::vector<Candidate> candidates;
        for (const std::string& name : names_)
            if (!ground.on_device() || takes_device_memory(name))
                candidates.push_back(candidate(name, what));
        while (point.attempt < attempts && (point.attempt == 0 || !point.good())) {
            ++point.attempt;
            race(candidates, what, ground);
            point.set_rates(candidates);
        }
        check_outputs(candidates, what, ground);
        const Candidate& ours = candidates.back();
        point.picked = ground.on_device()
                           ? "cuda"
                           : warpseal_internal_pick(ours.engine, what.cipher.name, what.mode,
                                                    ground.in(), ground.out(), ground.bytes());
        ++points_;
        bad_ += point.good() ? 0 : 1;
        add_row(point);
    }

    Candidate candidate(const std::string& name, const BenchCase& what) {
        cli::EngineHandle& engine = engines_[name];
        if (!engine) {
            engine = cli::create_engine({name, 0}, session_);
            // Opening a GPU takes half a second, which `auto` takes into account. Opening it here
            // gives the state after the first call that was large enough.
            if (name == "auto" && has_gpu_)
                require_ok(warpseal_device_synchronize(engine.get(), nullptr), "opening the GPU");
        }
        return {name, engine.get(), make_bench_key(engine.get(), what), name == "auto"};
    }

    // Targets that return WARPSEAL_NO_DEVICE are not a choice of `auto`.
    static bool takes_device_memory(const std::string& name) {
        return name == "cuda" || name == "auto";
    }

    void add_row(const Point& point) {
        std::string each;
        for (const auto& [name, rate] : point.rates) each += cli::format(" {} {:.2f}", name, rate);
        print(cli::format("{:<18}{:>9}  {:<8}{:<14}{:>9.2f}  {:<10}{:>9.2f}{:>8.2f}{}  {}\n",
                          point.what.name(), cli::human_bytes(point.bytes), point.place,
                          point.picked, point.rate, point.best, point.best_rate, point.ratio(),
                          point.good() ? " " : "!", each));
        report_["points"].push_back(point.json());
    }

    const BenchOptions& options_;
    cli::Session& session_;
    bool has_gpu_ = false;
    std::vector<std::string> names_;
    std::map<std::string, cli::EngineHandle> engines_;
    size_t points_ = 0, bad_ = 0, left_out_ = 0;
    ReportFile report_file_;
    nlohmann::ordered_json report_;
};

}  // namespace

cli::ExitCode run_bench_auto(const BenchOptions& options, cli::Session& session) {
    return AutoBench(options, session).run();
}

}  // namespace warpseal::bench
