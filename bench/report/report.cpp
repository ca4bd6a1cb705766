// Report of a study.
#include "bench/report/report.h"

#include "bench/report/head.h"
#include "cli/support/format.h"

namespace warpseal::bench {

Report::Report(const std::string& json, const std::string& gpu) : file_(json) {
    report_["head"] = json_head(gpu);
    report_["rows"] = nlohmann::ordered_json::array();
    print(cli::format("warpseal {} (commit {}), {}\n",
                      report_["head"]["warpseal"].get<std::string>(),
                      report_["head"]["commit"].get<std::string>(),
                      report_["head"]["machine"].get<std::string>()));
}

void Report::print(const std::string& text) const { file_.print(text); }

void Report::write() { file_.write(report_.dump(1) + "\n"); }

}  // namespace warpseal::bench
