// Report of warpseal-bench.
#include "bench/report/report.h"

#include <fmt/core.h>

#include "bench/bulk/measure.h"

namespace warpseal::papers {

Report::Report(const std::string& json, const std::string& gpu) : path_(json) {
    // Opens the file first, so that an error is reported before measuring.
    if (!json.empty() && json != "-") {
        file_.open(json, std::ios::trunc);
        if (!file_) throw cli::Failure(cli::ExitCode::input_output, "cannot write " + json + ".");
    }
    report_["head"] = cli::json_head(gpu);
    report_["rows"] = nlohmann::ordered_json::array();
    print(fmt::format("warpseal {} (commit {}), {}\n",
                      report_["head"]["warpseal"].get<std::string>(),
                      report_["head"]["commit"].get<std::string>(),
                      report_["head"]["machine"].get<std::string>()));
}

void Report::print(const std::string& text) const {
    path_ == "-" ? cli::print_error(text) : cli::print_output(text);
}

void Report::write() {
    const std::string text = report_.dump(1) + "\n";
    if (path_ == "-") return cli::print_output(text);
    if (path_.empty()) return;
    file_ << text;
    file_.close();
    if (!file_) throw cli::Failure(cli::ExitCode::input_output, "cannot write " + path_ + ".");
}

nlohmann::ordered_json rounded(double value) { return std::stod(fmt::format("{:.4g}", value)); }

}  // namespace warpseal::papers
