// Output of the bench: a table for people and JSON for programs.
#include <fmt/core.h>
#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <ctime>
#include <fstream>

#include "bench/bulk/openssl.h"
#include "bench/report/clocks.h"
#include "bench_commit.h"

namespace warpseal::cli {
namespace {

std::string cpu_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
    return "unknown";
}

int core_count() {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

std::string now_utc() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

nlohmann::ordered_json rounded(double value) { return std::stod(fmt::format("{:.4g}", value)); }

constexpr int detail_width = 26;

std::string without_end_spaces(const std::string& text) {
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::string side_text(const BenchRow* row) {
    if (!row) return fmt::format("{:>10}  {:<{}}", "-", "", detail_width);
    const std::string memory = row->pinned            ? (*row->pinned ? ", pinned" : ", pageable")
                               : row->place == "file" ? ", files"
                                                      : "";
    return fmt::format("{:>10}  {:<{}}", rate_text(median(row->figures.ours)),
                       fmt::format("{}, {}{}", row->device, size_text(row->bytes), memory),
                       detail_width);
}

}  // namespace

std::string size_text(uint64_t bytes) {
    for (const auto& [unit, shift] : {std::pair{"GiB", 30}, {"MiB", 20}, {"KiB", 10}})
        if (bytes >> shift != 0 && bytes % (uint64_t{1} << shift) == 0)
            return fmt::format("{} {}", bytes >> shift, unit);
    return fmt::format("{} B", bytes);
}

std::string rate_text(double gigabytes_per_second) {
    return gigabytes_per_second >= 100 ? fmt::format("{:.0f}", gigabytes_per_second)
                                       : fmt::format("{:.2f}", gigabytes_per_second);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const size_t middle = values.size() / 2;
    return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

nlohmann::ordered_json json_head(const std::string& gpu_device, std::optional<double> seconds) {
    utsname system{};
    uname(&system);
    nlohmann::ordered_json head{{"machine", fmt::format("{}, {} cores", cpu_name(), core_count())},
                                {"gpu", nullptr},
                                {"driver", nullptr},
                                {"date", now_utc()},
                                {"commit", WARPSEAL_COMMIT},
                                {"warpseal", warpseal_version()},
                                {"openssl", openssl_version()},
                                {"cpu", cpu_name()},
                                {"cores", core_count()},
                                {"system", fmt::format("{} {}", system.sysname, system.release)},
                                {"repetitions", bench_repetitions}};
    if (seconds) head["seconds"] = *seconds;
    warpseal_device_info gpu{};
    const size_t colon = gpu_device.find(':');
    // first of several GPUs
    const size_t index = colon == std::string::npos ? 0 : std::stoul(gpu_device.substr(colon + 1));
    if (!gpu_device.empty() && warpseal_device_at(index, &gpu) == WARPSEAL_OK) {
        head["gpu"] = gpu.name;
        head["driver"] = gpu.driver;
        head["gpu_compute_capability"] = gpu.compute_capability;
        head["gpu_multiprocessors"] = gpu.multiprocessors;
        head["gpu_memory_bytes"] = gpu.memory_bytes;
        head["gpu_shared_bytes_per_block"] = gpu.shared_bytes_per_block;
        if (const auto clocks = gpu_clocks(index)) {
            head["gpu_clock_megahertz"] = clocks->megahertz;
            head["gpu_memory_bytes_per_second"] = clocks->memory_bytes_per_second;
        }
        head["machine"] = fmt::format("{}, {}", head["machine"].get<std::string>(), gpu.name);
    }
    return head;
}

nlohmann::ordered_json json_row(const BenchRow& row) {
    const double ours = median(row.figures.ours);
    nlohmann::ordered_json json{{"cipher", row.what.cipher.name},
                                {"mode", warpseal_mode_name(row.what.mode)},
                                {"operation", row.what.operation()},
                                {"device", row.device},
                                {"place", row.place},
                                {"threads", row.threads},
                                {"bytes", row.bytes},
                                {"message_bytes", row.message_bytes},
                                {"gigabytes_per_second", rounded(ours)},
                                {"openssl_gigabytes_per_second", nullptr},
                                {"ratio", nullptr},
                                {"buffer_per_thread", row.buffer_per_thread},
                                {"checked_against", row.checked_against}};
    if (row.what.mode == WARPSEAL_XTS) json["data_unit_bytes"] = row.what.unit_bytes;
    if (row.what.key_per_message) json["key_per_message"] = true;
    if (row.pinned) json["pinned"] = *row.pinned;
    if (!row.link.empty()) {
        json["link_gigabytes_per_second"] = rounded(median(row.link));
        json["link_ratio"] = rounded(ours / median(row.link));
    }
    if (row.gpus > 1) json["gpus"] = row.gpus;
    if (!row.one_gpu.empty()) {
        json["one_gpu_gigabytes_per_second"] = rounded(median(row.one_gpu));
        json["gpu_ratio"] = rounded(ours / median(row.one_gpu));
    }
    for (const double one : row.figures.ours) json["repetitions"].push_back(rounded(one));
    if (!row.figures.openssl.empty()) {
        const double theirs = median(row.figures.openssl);
        json["openssl_gigabytes_per_second"] = rounded(theirs);
        json["ratio"] = rounded(ours / theirs);
        json["openssl_threads"] = row.openssl_threads;
        if (!row.openssl_yardstick.empty()) json["openssl_yardstick"] = row.openssl_yardstick;
        for (const double one : row.figures.openssl)
            json["openssl_repetitions"].push_back(rounded(one));
    }
    return json;
}

std::string BenchTable::title(const BenchOptions& options,
                              const nlohmann::ordered_json& head) const {
    std::string text =
        fmt::format("warpseal {} (commit {}), {}\n{}\n", head["warpseal"].get<std::string>(),
                    head["commit"].get<std::string>(), head["openssl"].get<std::string>(),
                    head["machine"].get<std::string>());
    text += fmt::format(
        "GB/s = 10^9 bytes a second, median of {}; every output checked; {} thread{} on the "
        "cores\n\n",
        bench_repetitions, options.threads, options.threads == 1 ? "" : "s");
    text += fmt::format("{:<18}{:<10}{:<10}", "", "", "message");
    if (cores) text += fmt::format("{:>10}  {:<{}}", "cores", "", detail_width);
    if (gpu) text += fmt::format("{:>10}  {:<{}}", "GPU", "", detail_width);
    if (openssl) text += fmt::format("{:>9}{:>9}", "OpenSSL", "ratio");
    return without_end_spaces(text) + "\n";
}

std::string BenchTable::line(const BenchRow* cores_row, const BenchRow* gpu_row) const {
    const BenchRow& row = cores_row ? *cores_row : *gpu_row;
    std::string text = fmt::format("{:<18}{:<10}{:<10}", row.what.name(), row.what.operation(),
                                   size_text(row.message_bytes));
    if (cores) text += side_text(cores_row);
    if (gpu) text += side_text(gpu_row);
    if (!row.figures.openssl.empty()) {
        const double theirs = median(row.figures.openssl);
        text += fmt::format("{:>9}{:>8.2f}x", rate_text(theirs), median(row.figures.ours) / theirs);
        if (!row.openssl_yardstick.empty()) text += fmt::format("  of {}", row.openssl_yardstick);
    }
    if (gpu_row && !gpu_row->link.empty()) {
        const double link = median(gpu_row->link);
        text += fmt::format("  {:.0f} % of the link's {}",
                            100 * median(gpu_row->figures.ours) / link, rate_text(link));
    }
    if (gpu_row && !gpu_row->one_gpu.empty()) {
        const double one = median(gpu_row->one_gpu);
        text += fmt::format("  {:.2f}x one GPU's {}", median(gpu_row->figures.ours) / one,
                            rate_text(one));
    }
    return without_end_spaces(text) + "\n";
}

}  // namespace warpseal::cli
