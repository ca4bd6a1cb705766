// `warpseal bench --html`: writes the page of a run or of recorded reports.
#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "bench/bulk/survey.h"
#include "bench/report/file.h"
#include "cli/bench_page.h"

namespace warpseal::cli {
namespace {

void add_recorded(PageData& data, const std::string& path) {
    std::ifstream file(path);
    if (!file)
        throw Failure(errno == ENOENT ? ExitCode::input_missing : ExitCode::input_output,
                      fmt::format("cannot read {}: {}.", path, std::strerror(errno)));
    try {
        data.add(nlohmann::ordered_json::parse(file));
    } catch (const std::ios_base::failure& why) {
        throw Failure(ExitCode::input_output,
                      fmt::format("cannot read {}: {}.", path, why.code().message()));
    } catch (const nlohmann::json::exception& why) {
        throw Failure(
            ExitCode::unsupported,
            fmt::format("{} is not a report of warpseal bench --json: {}.", path, why.what()));
    }
}

// Adds the studies. They have fixed ciphers and take only our options for time and device. The size
// is limited, because the papers' longest rows would double the total time.
bool add_studies(PageData& data, const BenchOptions& options) {
    if (!options.what.empty()) {
        data.studies_absent = "the run was of chosen ciphers";
        return true;
    }
    const bool gpu = options.device == "auto" || options.device.rfind("cuda", 0) == 0;
    const std::string seconds = fmt::format("{:g}", options.seconds);
    // The studies use one GPU.
    const std::string device = options.device.substr(0, options.device.find(','));
    const size_t number = device.find(':');
    try {
        data.add(study_report(
            "papers", {"--seconds", seconds, "--bytes", "1GiB", "--device", gpu ? device : "cpu"}));
        if (gpu)
            data.add(study_report("ladder",
                                  {"--seconds", seconds, "--device",
                                   number == std::string::npos ? "0" : device.substr(number + 1)}));
    } catch (const Failure& failure) {
        complain(failure.what());
        data.studies_absent = failure.what();
        return failure.code == ExitCode::unsupported;  // A missing study program is no error.
    }
    return true;
}

}  // namespace

ExitCode bench_html(const BenchOptions& options, Session& session) {
    PageData data;
    for (const std::string& path : options.from) add_recorded(data, path);
    ReportFile page(options.html), json(options.json);
    bool wrong = false;
    if (options.from.empty()) {
        const nlohmann::ordered_json report = survey(options, session, wrong);
        json.write(report.dump(1) + "\n");
        data.add(report);
        if (!add_studies(data, options)) wrong = true;
    }
    page.write(html_page(data));
    return wrong ? ExitCode::error : ExitCode::ok;
}

}  // namespace warpseal::cli
