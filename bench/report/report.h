// Report of a study: text during the run, and finally JSON {head, rows}.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "bench/report/file.h"

namespace warpseal::bench {

class Report {
public:
    // `json`: a file, "-" for stdout (the text then goes to stderr), or empty. `gpu`: e.g.
    // "cuda:0", or empty if no GPU is measured. Throws cli::Failure if the file is not writable.
    Report(const std::string& json, const std::string& gpu);

    void print(const std::string& text) const;
    void say(const std::string& name, nlohmann::ordered_json value) {
        report_["head"][name] = std::move(value);
    }
    void add(nlohmann::ordered_json row) { report_["rows"].push_back(std::move(row)); }
    void write();

private:
    ReportFile file_;  // opened first, so that an error is reported before measuring
    nlohmann::ordered_json report_;
};

}  // namespace warpseal::bench
