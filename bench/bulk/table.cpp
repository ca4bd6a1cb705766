// Output of `warpseal bench`: a table for people and JSON for programs.
#include <fmt/core.h>

#include "bench/bulk/measure.h"

namespace warpseal::bench {
namespace {

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

}  // namespace warpseal::bench
