// Output of `warpseal bench`: a table for people and JSON for programs.

#include "bench/bulk/measure.h"
#include "cli/support/format.h"

namespace warpseal::bench {
namespace {

constexpr int detail_width = 26, yardstick_width = 12;
constexpr const char* linked_openssl = "openssl";

std::string without_end_spaces(const std::string& text) {
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::string side_text(const BenchRow* row) {
    if (!row) return cli::format("{:>10}  {:<{}}", "-", "", detail_width);
    const std::string memory = row->pinned            ? (*row->pinned ? ", pinned" : ", pageable")
                               : row->place == "file" ? ", files"
                                                      : "";
    return cli::format("{:>10}  {:<{}}", rate_text(median(row->figures.ours)),
                       cli::format("{}, {}{}", row->device, size_text(row->bytes), memory),
                       detail_width);
}

nlohmann::ordered_json rounded_list(const std::vector<double>& values) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const double one : values) list.push_back(rounded(one));
    return list;
}

// Fields of the linked OpenSSL, in reports with and without other yardsticks.
void add_openssl(nlohmann::ordered_json& json, const YardstickFigures& openssl) {
    if (openssl.rates.empty()) return;
    json["openssl_gigabytes_per_second"] = rounded(median(openssl.rates));
    json["openssl_threads"] = openssl.threads;
    if (openssl.is_ecb_instead) json["openssl_yardstick"] = openssl.cipher;
    json["openssl_repetitions"] = rounded_list(openssl.rates);
}

nlohmann::ordered_json json_yardstick(const YardstickFigures& one, double ours) {
    nlohmann::ordered_json json{{"name", one.name}};
    if (!one.version.empty()) json["version"] = one.version;
    if (one.rates.empty()) {
        json["not_run"] = one.not_run;
        return json;
    }
    json["cipher"] = one.cipher;
    if (one.is_ecb_instead) json["ecb_instead"] = true;
    json["threads"] = one.threads;
    json["gigabytes_per_second"] = rounded(median(one.rates));
    json["ratio"] = rounded(ours / median(one.rates));
    json["repetitions"] = rounded_list(one.rates);
    return json;
}

// Sets `ratio`, over the best, and the fields of each yardstick. A report beside the linked OpenSSL
// alone has no list of yardsticks.
void add_yardsticks(nlohmann::ordered_json& json, const BenchFigures& figures) {
    const double ours = median(figures.ours);
    const YardstickFigures* const best = figures.best();
    if (best) json["ratio"] = rounded(ours / median(best->rates));
    for (const YardstickFigures& one : figures.yardsticks)
        if (one.name == linked_openssl) {
            add_openssl(json, one);
            if (figures.yardsticks.size() == 1) return;
        }
    if (figures.yardsticks.empty()) return;
    json["best"] = best ? nlohmann::ordered_json(best->name) : nlohmann::ordered_json();
    for (const YardstickFigures& one : figures.yardsticks)
        json["yardsticks"].push_back(json_yardstick(one, ours));
}

}  // namespace

const YardstickFigures* BenchFigures::best() const {
    const YardstickFigures* best = nullptr;
    for (const YardstickFigures& one : yardsticks)
        if (!one.rates.empty() && (!best || median(one.rates) > median(best->rates))) best = &one;
    return best;
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
    add_yardsticks(json, row.figures);
    return json;
}

bool BenchTable::openssl_alone() const {
    return yardsticks.size() == 1 && yardsticks[0].name == linked_openssl;
}

std::string BenchTable::yardstick_titles() const {
    if (openssl_alone()) return cli::format("{:>9}{:>9}", "OpenSSL", "ratio");
    std::string text;
    for (const Yardstick& one : yardsticks)
        text += cli::format("{:>{}}", one.name, yardstick_width);
    return yardsticks.empty() ? text : text + cli::format("{:>9}", "ratio");
}

// OpenSSL alone has no cell where it has no figure. Of several each has one.
std::string BenchTable::yardstick_cells(const BenchFigures& figures) const {
    const YardstickFigures* const best = figures.best();
    std::string text;
    if (openssl_alone()) {
        if (best) text = cli::format("{:>9}", rate_text(median(best->rates)));
    } else {
        for (const YardstickFigures& one : figures.yardsticks)
            text +=
                cli::format("{:>{}}", one.rates.empty() ? "NOT RUN" : rate_text(median(one.rates)),
                            yardstick_width);
    }
    if (!best) return text;
    text += cli::format("{:>8.2f}x", median(figures.ours) / median(best->rates));
    const std::string ecb = best->is_ecb_instead ? best->cipher : "";
    const std::string of = openssl_alone() ? ecb : best->name + (ecb.empty() ? "" : " " + ecb);
    return of.empty() ? text : text + "  of " + of;
}

std::string BenchTable::title(const BenchOptions& options,
                              const nlohmann::ordered_json& head) const {
    std::string text =
        cli::format("warpseal {} (commit {}), {}\n{}\n", head["warpseal"].get<std::string>(),
                    head["commit"].get<std::string>(), head["openssl"].get<std::string>(),
                    head["machine"].get<std::string>());
    text += cli::format(
        "GB/s = 10^9 bytes a second, median of {}; every output checked; {} thread{} on the "
        "cores\n\n",
        bench_repetitions, options.threads, options.threads == 1 ? "" : "s");
    if (!openssl_alone())
        for (const Yardstick& one : yardsticks)
            text += cli::format("{:<12}{}\n", one.name,
                                one.library ? one.version : "NOT RUN: " + one.not_run);
    text += yardsticks.empty() || openssl_alone() ? "" : "\n";
    text += cli::format("{:<18}{:<10}{:<10}", "", "", "message");
    if (cores) text += cli::format("{:>10}  {:<{}}", "cores", "", detail_width);
    if (gpu) text += cli::format("{:>10}  {:<{}}", "GPU", "", detail_width);
    return without_end_spaces(text + yardstick_titles()) + "\n";
}

std::string BenchTable::line(const BenchRow* cores_row, const BenchRow* gpu_row) const {
    const BenchRow& row = cores_row ? *cores_row : *gpu_row;
    std::string text = cli::format("{:<18}{:<10}{:<10}", row.what.name(), row.what.operation(),
                                   size_text(row.message_bytes));
    if (cores) text += side_text(cores_row);
    if (gpu) text += side_text(gpu_row);
    text += yardstick_cells(row.figures);
    if (gpu_row && !gpu_row->link.empty()) {
        const double link = median(gpu_row->link);
        text += cli::format("  {:.0f} % of the link's {}",
                            100 * median(gpu_row->figures.ours) / link, rate_text(link));
    }
    if (gpu_row && !gpu_row->one_gpu.empty()) {
        const double one = median(gpu_row->one_gpu);
        text += cli::format("  {:.2f}x one GPU's {}", median(gpu_row->figures.ours) / one,
                            rate_text(one));
    }
    return without_end_spaces(text) + "\n";
}

}  // namespace warpseal::bench
