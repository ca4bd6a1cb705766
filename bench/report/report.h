// Report of warpseal-bench: text during the run, and finally JSON {head, rows} with the head of
// `warpseal bench --json`.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace warpseal::papers {

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
    const std::string path_;
    std::ofstream file_;
    nlohmann::ordered_json report_;
};

// Rounds to four significant digits.
nlohmann::ordered_json rounded(double value);

}  // namespace warpseal::papers
