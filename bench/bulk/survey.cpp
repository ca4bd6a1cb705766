// `warpseal bench survey`.
#include "bench/bulk/survey.h"

#include <algorithm>
#include <fstream>
#include <map>

#include "bench/bulk/bounds.h"
#include "bench/bulk/bulk_meter.h"
#include "bench/report/file.h"
#include "bench/report/head.h"
#include "cli/support/ciphers.h"

namespace warpseal::bench {
namespace {

constexpr uint64_t gibibyte = uint64_t{1} << 30;
// Smaller for serial modes, because their reference is slow.
constexpr uint64_t serial_bytes = gibibyte / 4;
constexpr uint64_t smallest_size = 1024;
constexpr double longest_call = 2;  // Seconds; larger sizes are omitted.

bool is_shown(const BenchCase& what) {
    switch (what.mode) {
        case WARPSEAL_ECB:
        case WARPSEAL_CTR:
        case WARPSEAL_XTS:
        case WARPSEAL_CMAC: return what.encrypt;
        case WARPSEAL_CFB: return !what.encrypt;
        case WARPSEAL_CBC:
        case WARPSEAL_GCM: return true;
        default: return false;
    }
}

// Returns, unless ciphers were named, the shortest key of each family ("aes", "des"), and the
// longest of the two best known families.
std::vector<BenchCase> shown_cases(const BenchOptions& options) {
    std::vector<BenchCase> cases = chosen_cases(options);
    cases.erase(std::remove_if(cases.begin(), cases.end(),
                               [](const BenchCase& what) { return !is_shown(what); }),
                cases.end());
    if (!options.what.empty()) return cases;
    const auto family = [](const BenchCase& what) {
        return std::string(what.cipher.name).substr(0, std::string(what.cipher.name).find('-'));
    };
    std::map<std::string, std::pair<uint32_t, uint32_t>> keys;
    for (const BenchCase& what : cases) {
        auto& [shortest, longest] =
            keys.try_emplace(family(what), what.cipher.key_bytes, what.cipher.key_bytes)
                .first->second;
        shortest = std::min(shortest, what.cipher.key_bytes);
        longest = std::max(longest, what.cipher.key_bytes);
    }
    const auto is_left_out = [&](const BenchCase& what) {
        const auto& [shortest, longest] = keys.at(family(what));
        const bool both = family(what) == "aes" || family(what) == "des";
        return what.cipher.key_bytes != shortest && !(both && what.cipher.key_bytes == longest);
    };
    cases.erase(std::remove_if(cases.begin(), cases.end(), is_left_out), cases.end());
    return cases;
}

// Returns counter mode of one cipher with CPU instructions and of one without, or of the first two
// that were named.
std::vector<BenchCase> sized_cases(const BenchOptions& options,
                                   const std::vector<BenchCase>& cases) {
    std::vector<BenchCase> chosen;
    for (const BenchCase& what : cases) {
        const std::string name = what.name();
        if (what.mode == WARPSEAL_CTR && chosen.size() < 2 &&
            (!options.what.empty() || name == "aes-128-ctr" || name == "aria-128-ctr"))
            chosen.push_back(what);
    }
    return chosen;
}

// Returns the free memory of the host, within the limit of its control group.
uint64_t free_memory() {
    uint64_t bytes = 0;
    std::ifstream file("/proc/meminfo");
    for (std::string name, unit; file >> name >> bytes && std::getline(file, unit);)
        if (name == "MemAvailable:") break;
    bytes *= 1024;
    uint64_t limit = 0, used = 0;
    if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit &&
        std::ifstream("/sys/fs/cgroup/memory.current") >> used)
        bytes = std::min(bytes, limit - std::min(limit, used));
    return bytes;
}

class Survey {
public:
    Survey(const BenchOptions& options, cli::Session& session)
        : options_(options), session_(session), report_file_(options.json) {
        options_.what.erase(options_.what.begin());  // the word "survey"
        warpseal_device_info gpu{};
        const bool cores_alone = options.device != "auto" && options.device.rfind("cuda", 0) != 0;
        if (!cores_alone && warpseal_device_at(0, &gpu) == WARPSEAL_OK)
            gpu_ = options.device == "auto" ? "cuda" : options.device;
        // reports an error if there is no GPU
        if (options.device.rfind("cuda", 0) == 0) gpu_ = options.device;
        cores_ = cores_alone ? options.device : "cpu";
        gpu_memory_ = gpu.memory_bytes;
        report_["head"] = json_head(gpu_, options_.seconds);
        report_["rows"] = nlohmann::ordered_json::array();
        report_["sizes"] = nlohmann::ordered_json::array();
        options_.threads = std::max(1, report_["head"]["cores"].get<int>());
    }

    cli::ExitCode run() {
        const std::vector<BenchCase> cases = shown_cases(options_);
        const BenchTable table{true, !gpu_.empty(), options_.yardsticks};
        // Reports a missing GPU before anything is measured.
        if (!gpu_.empty()) cli::create_engine({gpu_, 1}, session_);
        print(table.title(options_, report_["head"]));
        measure_gpu(cases, table);
        for (const BenchCase& what : cases) measure_on_cores(what, table);
        measure_sizes(sized_cases(options_, cases));
        report_file_.write(report_.dump(1) + "\n");
        return wrong_ ? cli::ExitCode::error : cli::ExitCode::ok;
    }

private:
    void print(const std::string& text) const { report_file_.print(text); }

    template <class Measure>
    std::optional<BenchRow> attempt(const BenchCase& what, const char* list,
                                    const Measure& measure) {
        if (cli::interrupted_by() != 0)
            throw cli::Failure(static_cast<cli::ExitCode>(128 + cli::interrupted_by()),
                               "interrupted.");
        try {
            BenchRow row = measure();
            report_[list].push_back(json_row(row));
            add_bound(report_["head"], report_[list].back());
            return row;
        } catch (const BenchWrong& why) {
            wrong_ = true;
            cli::complain(what.name() + " " + what.operation() + ": no figure: " + why.what());
            return std::nullopt;
        }
    }

    void measure_on_cores(const BenchCase& what, const BenchTable& table) {
        const auto row = attempt(what, "rows", [&] {
            return measure_cores(options_, what, cores_, bench_core_bytes, session_);
        });
        if (row) print(table.line(&*row, nullptr));
    }

    void measure_gpu(const std::vector<BenchCase>& cases, const BenchTable& table) {
        if (gpu_.empty()) return;
        BenchOptions plain = options_;  // Yardsticks are measured beside the cores only.
        plain.yardsticks.clear();
        BulkMeter parallel(plain, gpu_, session_, Oracle::cores), serial(plain, gpu_, session_);
        const uint64_t bytes = std::min(gibibyte, options_.max_size);
        const auto one = [&](const BenchCase& what, const char* place, uint64_t message_bytes) {
            const auto row = attempt(what, "rows", [&] {
                if (what.serial())
                    return serial.measure(what, place, std::min(serial_bytes, bytes),
                                          bench_serial_message_bytes);
                return parallel.measure(what, place, bytes, message_bytes);
            });
            if (row) print(table.line(nullptr, &*row));
        };
        for (const BenchCase& what : cases) {
            one(what, "device", bytes);
            if (what.mode == WARPSEAL_GCM) one(what, "device", bench_chunk_bytes);
        }
        for (const BenchCase& what : cases)
            if (what.mode == WARPSEAL_CTR) one(what, "host", bytes);
    }

    // Returns the largest size that fits. The divisor covers the input, the expected output and one
    // output for each engine.
    uint64_t largest_size() const {
        uint64_t bytes = std::min(options_.max_size, free_memory() / 5);
        if (!gpu_.empty()) bytes = std::min(bytes, gpu_memory_ / 4);
        uint64_t size = smallest_size;
        while (size * 2 <= bytes) size *= 2;
        return size;
    }

    void measure_sizes(const std::vector<BenchCase>& cases) {
        const uint64_t largest = largest_size();
        if (largest * 2 <= options_.max_size)
            cli::remark(session_, "there is memory for sizes up to " + size_text(largest) + ".");
        BulkMeter cores(options_, cores_, session_);
        std::optional<BulkMeter> gpu;
        if (!gpu_.empty()) gpu.emplace(options_, gpu_, session_);
        for (const BenchCase& what : cases) try {
                cores.reserve("host", largest);
                const ReferenceOutput right =
                    (gpu ? *gpu : cores).reference_output(what, largest, largest);
                measure_curve(what, cores, "host", right);
                for (const char* place : {"host", "device"}) {
                    if (!gpu) break;
                    gpu->reserve(place, largest);
                    measure_curve(what, *gpu, place, right);
                }
            } catch (const BenchWrong& why) {
                wrong_ = true;
                cli::complain(what.name() + " by size: no figures: " + why.what());
            }
    }

    void measure_curve(const BenchCase& what, BulkMeter& meter, const char* place,
                       const ReferenceOutput& right) {
        double seconds_a_byte = 0;
        for (uint64_t bytes = smallest_size;; bytes = std::min(4 * bytes, right.bytes)) {
            if (seconds_a_byte * static_cast<double>(bytes) > longest_call) return;
            const auto row = attempt(what, "sizes", [&] {
                return meter.measure_prefix(what, place, bytes, right, options_.seconds);
            });
            if (!row) return;
            seconds_a_byte = 1e-9 / median(row->figures.ours);
            print(what.name() + " " + size_text(bytes) + ", " + row->device + ", " + place + ": " +
                  rate_text(median(row->figures.ours)) + " GB/s\n");
            if (bytes == right.bytes) return;
        }
    }

    BenchOptions options_;
    cli::Session& session_;
    std::string cores_, gpu_;
    uint64_t gpu_memory_ = 0;
    ReportFile report_file_;
    nlohmann::ordered_json report_;
    bool wrong_ = false;
};

}  // namespace

cli::ExitCode run_survey(const BenchOptions& options, cli::Session& session) {
    return Survey(options, session).run();
}

}  // namespace warpseal::bench
