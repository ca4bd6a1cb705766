// A report of warpseal-bench: text as it comes, and JSON {head, rows} in the end, the head as in
// `warpseal bench --json`.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace warpseal::papers {

class Report {
public:
    // json: a file, "-" for stdout (the text then goes to stderr), or empty. Throws cli::Failure if
    // it cannot be written. gpu: "cuda:0", or empty if none is measured.
    Report(const std::string& json, const std::string& gpu);

    void print(const std::string& text) const;
    void say(const std::string& name, nlohmann::ordered_json value) {
        report_["head"][name] = std::move(value);
    }
    void add(nlohmann::ordered_json row) { report_["rows"].push_back(std::move(row)); }
    void write();

private:
    const std::string path_;
    std::ofstream file_;
    nlohmann::ordered_json report_;
};

// Four digits.
nlohmann::ordered_json rounded(double value);

}  // namespace warpseal::papers
