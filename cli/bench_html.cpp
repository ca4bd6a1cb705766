// `warpseal bench --html`: the page of a run, or of recorded reports.
#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "bench_page.h"
#include "bench_survey.h"

namespace warpseal::cli {
namespace {

std::ofstream open_report(const std::string& path) {
    std::ofstream file;
    if (path.empty() || path == "-") return file;
    file.open(path, std::ios::trunc);
    if (!file) throw Failure(ExitCode::input_output, "cannot write " + path + ".");
    return file;
}

void write_report(std::ofstream& file, const std::string& path, const std::string& text) {
    if (path == "-") return print_output(text);
    file << text;
    file.close();
    if (!file) throw Failure(ExitCode::input_output, "cannot write " + path + ".");
}

void add_recorded(PageData& data, const std::string& path) {
    std::ifstream file(path);
    if (!file)
        throw Failure(errno == ENOENT ? ExitCode::input_missing : ExitCode::input_output,
                      fmt::format("cannot read {}: {}.", path, std::strerror(errno)));
    try {
        data.add(nlohmann::ordered_json::parse(file));
    } catch (const nlohmann::json::exception& why) {
        throw Failure(ExitCode::unsupported, fmt::format("{} is not a report of warpseal bench --json: {}.", path, why.what()));
    }
}

}  // namespace

ExitCode bench_html(const BenchOptions& options, Session& session) {
    PageData data;
    for (const std::string& path : options.from) add_recorded(data, path);
    std::ofstream page = open_report(options.html), json = open_report(options.json);
    bool wrong = false;
    if (options.from.empty()) {
        const nlohmann::ordered_json report = survey(options, session, wrong);
        if (!options.json.empty()) write_report(json, options.json, report.dump(1) + "\n");
        data.add(report);
    }
    write_report(page, options.html, html_page(data));
    return wrong ? ExitCode::error : ExitCode::ok;
}

}  // namespace warpseal::cli
