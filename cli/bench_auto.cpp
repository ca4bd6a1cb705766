// `warpseal bench auto`: whether what `auto` does is as fast as the best of all that it could do, at points of cipher, size and place.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>

#include "bench_answers.h"
#include "ciphers.h"
#include "warpseal/inner.h"

namespace warpseal::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double good_ratio = 0.9;
constexpr int attempts = 3;  // others use the machine too: only a point that is never good is bad
constexpr int learning_calls = 5;
constexpr double seconds_each = 0.12;
constexpr size_t least_calls = 5, most_calls = 51;
constexpr uint64_t most_bytes_in_caches = uint64_t{32} << 20;
constexpr double out_of_the_race = 3;  // times slower than the best: one call says enough

const char* const default_cases[] = {"aes-256-ctr", "aes-256-gcm", "aria-256-ctr", "camellia-256-gcm", "des-ede3-ctr"};
constexpr uint64_t default_sizes[] = {uint64_t{64} << 10, uint64_t{4} << 20, uint64_t{32} << 20, uint64_t{256} << 20};
const char* const places[] = {"host", "pinned", "device"};

void require_ok(warpseal_status status, const char* what) {
    if (status != WARPSEAL_OK) throw BenchWrong(std::string(what) + ": " + warpseal_status_text(status));
}

std::vector<BenchCase> auto_cases() {
    std::vector<BenchCase> cases;
    for (const char* name : default_cases)
        for (const warpseal_cipher_info& cipher : all_ciphers())
            for (const warpseal_mode mode : modes_of(cipher)) {
                const BenchCase what{cipher, mode, true};
                if (what.name() == name) cases.push_back(what);
            }
    return cases;
}

// Input and output of a point, and what little else a call writes.
class Ground {
public:
    Ground(warpseal_engine* engine, const std::string& place, uint64_t bytes) : engine_(engine), place_(place), bytes_(bytes) {
        for (void** memory : {&in_, &out_}) *memory = allocate(bytes);
        small_ = static_cast<uint8_t*>(allocate(256));
        std::vector<uint8_t> text(bytes), zeros(256);
        fill_random(text.data(), bytes);
        put(in_, text.data(), bytes);
        put(small_, zeros.data(), zeros.size());
    }
    ~Ground() {
        release(in_, bytes_);
        release(out_, bytes_);
        release(small_, 256);
    }
    Ground(const Ground&) = delete;
    Ground& operator=(const Ground&) = delete;

    bool on_device() const { return place_ == "device"; }
    const uint8_t* in() const { return static_cast<uint8_t*>(in_); }
    uint8_t* out() const { return static_cast<uint8_t*>(out_); }
    uint64_t bytes() const { return bytes_; }
    const uint8_t* iv() const { return small_; }
    uint8_t* tag() const { return small_ + 64; }
    int32_t* status() const { return reinterpret_cast<int32_t*>(small_ + 128); }

    // The output as it is now, and the tag.
    std::vector<uint8_t> taken() const {
        std::vector<uint8_t> copy(bytes_ + 16);
        get(copy.data(), out_, bytes_);
        get(copy.data() + bytes_, small_ + 64, 16);
        return copy;
    }
    void spoil() {
        const std::vector<uint8_t> other(std::min<uint64_t>(bytes_, 4096), 0xa5);
        put(out_, other.data(), other.size());
        put(out() + bytes_ - other.size(), other.data(), other.size());
    }
    void put(void* to, const void* from, size_t bytes) const {
        if (on_device())
            require_ok(warpseal_device_upload(engine_, to, from, bytes), "copying to the GPU");
        else
            std::memcpy(to, from, bytes);
    }
    void get(void* to, const void* from, size_t bytes) const {
        if (on_device())
            require_ok(warpseal_device_download(engine_, to, from, bytes), "copying from the GPU");
        else
            std::memcpy(to, from, bytes);
    }

private:
    void* allocate(size_t bytes) {
        void* memory = nullptr;
        if (place_ == "host") return std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
        require_ok((on_device() ? warpseal_device_alloc : warpseal_host_alloc)(engine_, bytes, &memory), "allocating memory");
        return memory;
    }
    void release(void* memory, size_t bytes) {
        if (place_ == "host")
            std::free(memory);
        else
            (on_device() ? warpseal_device_free : warpseal_host_free)(engine_, memory, bytes);
    }

    warpseal_engine* engine_;
    const std::string place_;
    const uint64_t bytes_;
    void *in_ = nullptr, *out_ = nullptr;
    uint8_t* small_ = nullptr;
};

// A way to do a point: what one device does, or `auto`.
struct Candidate {
    std::string name;
    warpseal_engine* engine;
    BenchKey key;
    std::vector<double> seconds;
    bool racing = true;

    void call(const BenchCase& what, const Ground& ground) const {
        if (!ground.on_device()) return on_host(what, ground.in(), ground.out(), ground.bytes(), ground.tag());
        on_device(what, ground);
    }

private:
    void on_host(const BenchCase& what, const uint8_t* in, uint8_t* out, uint64_t bytes, uint8_t* tag) const {
        const uint8_t iv[16] = {};
        require_ok(bench_call_one(what, key.get(), iv, in, out, bytes, tag), "a call");
    }
    void on_device(const BenchCase& what, const Ground& ground) const {
        const uint8_t iv[16] = {};
        if (what.tagged()) {
            const BatchMemory memory{ground.in(), ground.out(), ground.iv(), nullptr, ground.tag(), ground.status()};
            const warpseal_batch one = bench_batch(what, memory, ground.bytes(), ground.bytes());
            require_ok(bench_call_batch_device(what, key.get(), one, nullptr), "a call");
        } else {
            require_ok(bench_call_device(what, key.get(), iv, ground.in(), ground.out(), ground.bytes(), nullptr), "a call");
        }
        require_ok(warpseal_device_synchronize(engine, nullptr), "waiting for the GPU");
    }
};

double seconds_of(const Candidate& candidate, const BenchCase& what, const Ground& ground) {
    const auto begin = Clock::now();
    candidate.call(what, ground);
    return std::chrono::duration<double>(Clock::now() - begin).count();
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

// All candidates in turn, so that whatever else the machine does falls on all of them; who is far behind is asked no more.
void race(std::vector<Candidate>& candidates, const BenchCase& what, const Ground& ground, Point& point) {
    double best = 0;
    std::vector<double> first;
    for (Candidate& candidate : candidates) {
        candidate.seconds.clear();
        const int calls = candidate.name == "auto" ? learning_calls : 1;
        for (int i = 0; i < calls; ++i) candidate.call(what, ground);
        first.push_back(seconds_of(candidate, what, ground));
        best = best == 0 ? first.back() : std::min(best, first.back());
    }
    for (size_t i = 0; i < candidates.size(); ++i) {
        candidates[i].racing = first[i] < out_of_the_race * best || candidates[i].name == "auto";
        if (!candidates[i].racing) candidates[i].seconds = {first[i]};
    }
    const auto rounds = std::clamp(static_cast<size_t>(seconds_each / best), least_calls, most_calls);
    for (size_t round = 0; round < rounds; ++round)
        for (Candidate& candidate : candidates) {
            if (!candidate.racing) continue;
            if (ground.bytes() <= most_bytes_in_caches) candidate.call(what, ground);  // finds the caches as it leaves them
            candidate.seconds.push_back(seconds_of(candidate, what, ground));
        }
    point.rates.clear();
    point.best_rate = 0;
    for (const Candidate& candidate : candidates) {
        const double rate = static_cast<double>(ground.bytes()) / median(candidate.seconds) / 1e9;
        point.rates.emplace_back(candidate.name, rate);
        if (candidate.name == "auto") point.rate = rate;
        if (rate <= point.best_rate) continue;
        point.best_rate = rate;
        point.best = candidate.name;
    }
}

// What no candidate had a hand in, where it does not take too long.
constexpr uint64_t most_compared_bytes = uint64_t{4} << 20;

void check_against_reference(const BenchCase& what, const Ground& ground, const std::vector<uint8_t>& got) {
    if (ground.bytes() > most_compared_bytes) return;
    std::vector<uint8_t> in(ground.bytes()), right(ground.bytes());
    const uint8_t iv[16] = {};
    uint8_t tag[16] = {};
    ground.get(in.data(), ground.in(), in.size());
    if (!make_reference(what, bench_key(what), "auto")->run(iv, in.data(), right.data(), in.size(), tag))
        throw BenchWrong("the reference failed");
    const bool tag_right = !what.tagged() || std::equal(tag, tag + sizeof tag, got.data() + right.size());
    if (!tag_right || !std::equal(right.begin(), right.end(), got.begin())) throw BenchWrong("the output is not what it must be");
}

// The first candidate's output is right, and each other's is the same.
void check_outputs(const std::vector<Candidate>& candidates, const BenchCase& what, Ground& ground) {
    std::vector<uint8_t> right;
    for (const Candidate& candidate : candidates) {
        ground.spoil();
        candidate.call(what, ground);
        std::vector<uint8_t> got = ground.taken();
        if (right.empty()) {
            check_against_reference(what, ground, got);
            right = std::move(got);
        } else if (got != right) {
            throw BenchWrong(candidate.name + " has another output than " + candidates[0].name);
        }
    }
}

class AutoBench {
public:
    AutoBench(const BenchOptions& options, Session& session) : options_(options), session_(session) {
        warpseal_device_info gpu{};
        has_gpu_ = warpseal_device_at(0, &gpu) == WARPSEAL_OK;
        for (const warpseal_target_info& target : all_targets())
            if (target.usable) names_.emplace_back(target.name);
        names_.emplace_back("auto");  // the last
    }

    ExitCode run() {
        if (!options_.json.empty() && options_.json != "-") {
            json_.open(options_.json, std::ios::trunc);
            if (!json_) throw Failure(ExitCode::input_output, "cannot write " + options_.json + ".");
        }
        report_["head"] = json_head(has_gpu_ ? "cuda" : "");
        report_["points"] = nlohmann::ordered_json::array();
        print(fmt::format("{:<18}{:>9}  {:<8}{:<14}{:>9}  {:<10}{:>9}{:>8}   GB/s of each\n", "", "bytes", "place", "auto picked", "GB/s",
                          "best", "GB/s", "ratio"));
        std::vector<uint64_t> sizes = options_.sizes;
        if (sizes.empty()) sizes.assign(std::begin(default_sizes), std::end(default_sizes));
        for (const char* place : places)
            for (const uint64_t bytes : sizes) measure(place, bytes);
        const size_t all = points_ + left_out_;
        print(fmt::format("\n{} of {} points within 10 % of the best{}\n", points_ - bad_, all,
                          left_out_ == 0 ? "" : fmt::format("; {} NOT RUN: there is no GPU", left_out_)));
        report_["left_out"] = left_out_;
        if (options_.json == "-") print_output(report_.dump(1) + "\n");
        if (json_.is_open()) {
            json_ << report_.dump(1) << "\n";
            json_.close();
            if (!json_) throw Failure(ExitCode::input_output, "cannot write " + options_.json + ".");
        }
        return bad_ == 0 ? ExitCode::ok : ExitCode::error;
    }

private:
    void print(const std::string& text) const { options_.json == "-" ? print_error(text) : print_output(text); }

    void measure(const std::string& place, uint64_t bytes) {
        const std::vector<BenchCase> cases = auto_cases();
        if (place != "host" && !has_gpu_) {
            for (const BenchCase& what : cases)
                print(fmt::format("{:<18}{:>9}  {:<8}NOT RUN: there is no GPU\n", what.name(), human_bytes(bytes), place));
            left_out_ += cases.size();
            return;
        }
        const EngineHandle owner = create_engine({place == "host" ? "cpu" : "cuda", 0}, session_);
        Ground ground(owner.get(), place, bytes);
        for (const BenchCase& what : cases) {
            if (interrupted_by() != 0) throw Failure(static_cast<ExitCode>(128 + interrupted_by()), "interrupted.");
            try {
                measure(what, place, ground);
            } catch (const BenchWrong& why) {
                ++points_;
                ++bad_;
                complain(fmt::format("{} at {} in {} memory: {}", what.name(), human_bytes(bytes), place, why.what()));
            }
        }
    }

    void measure(const BenchCase& what, const std::string& place, Ground& ground) {
        Point point;
        point.what = what;
        point.place = place;
        point.bytes = ground.bytes();
        std::vector<Candidate> candidates;
        for (const std::string& name : names_)
            if (place != "device" || takes_device_memory(name)) candidates.push_back(candidate(name, what));
        while (point.attempt < attempts && (point.attempt == 0 || !point.good())) {
            ++point.attempt;
            race(candidates, what, ground, point);
        }
        check_outputs(candidates, what, ground);
        const Candidate& ours = candidates.back();
        point.picked = place == "device"
                           ? "cuda"
                           : warpseal_inner_pick(ours.engine, what.cipher.name, what.mode, ground.in(), ground.out(), ground.bytes());
        ++points_;
        bad_ += point.good() ? 0 : 1;
        tell(point);
    }

    Candidate candidate(const std::string& name, const BenchCase& what) {
        EngineHandle& engine = engines_[name];
        if (!engine) {
            engine = create_engine({name, 0}, session_);
            // Opening a GPU takes half a second, which `auto` counts: here it is open, as after the first call that was worth it.
            if (name == "auto" && has_gpu_) require_ok(warpseal_device_synchronize(engine.get(), nullptr), "opening the GPU");
        }
        return {name, engine.get(), make_bench_key(engine.get(), what), {}};
    }

    // What others answer with WARPSEAL_NO_DEVICE is no choice that `auto` has.
    static bool takes_device_memory(const std::string& name) { return name == "cuda" || name == "auto"; }

    void tell(const Point& point) {
        std::string each;
        for (const auto& [name, rate] : point.rates) each += fmt::format(" {} {:.2f}", name, rate);
        print(fmt::format("{:<18}{:>9}  {:<8}{:<14}{:>9.2f}  {:<10}{:>9.2f}{:>8.2f}{}  {}\n", point.what.name(), human_bytes(point.bytes),
                          point.place, point.picked, point.rate, point.best, point.best_rate, point.ratio(), point.good() ? " " : "!",
                          each));
        report_["points"].push_back(point.json());
    }

    const BenchOptions& options_;
    Session& session_;
    bool has_gpu_ = false;
    std::vector<std::string> names_;
    std::map<std::string, EngineHandle> engines_;
    size_t points_ = 0, bad_ = 0, left_out_ = 0;
    std::ofstream json_;
    nlohmann::ordered_json report_;
};

}  // namespace

ExitCode run_bench_auto(const BenchOptions& options, Session& session) { return AutoBench(options, session).run(); }

}  // namespace warpseal::cli
