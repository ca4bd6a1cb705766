// A row of `warpseal bench papers`: a published figure with this machine's measurements beside it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warpseal::papers {

// A table or figure of a paper, or a related study of ours.
struct Table {
    const char* paper;         // e.g. "P1"
    const char* name;          // e.g. "table 3"
    const char* title;         // subject of its rows
    const char* published_on;  // the paper's machine
    const char* differs;       // Differences from the paper's measurement, apart from the machine.
};

struct Row {
    const Table* table = nullptr;
    std::string row = {};
    std::string unit = {};
    std::optional<double> published = {};
    std::string published_bound = {};  // ">" or "<": the paper gives only a bound.
    std::string published_on = {};     // Machine of this row, if it differs from the table's.
    std::optional<double> method = {}, ours = {};
    // The paper's method as it ran here: a step of the ladder, or a description.
    std::string method_what = {};
    std::string ours_what = {};  // our default path: the call
    std::string not_run = {};    // reason of a missing figure
    // further figures of the row, by JSON name
    std::vector<std::pair<std::string, double>> more = {};

    const char* on() const {
        return published_on.empty() ? table->published_on : published_on.c_str();
    }
    // Ratio of speeds: 2 is twice as fast, for units of time and of throughput. Empty if a figure
    // is missing or the unit is not a speed.
    std::optional<double> method_over_published() const;
    std::optional<double> ours_over_method() const;
    // Returns true if ours is faster than the published figure and than the paper's method here.
    std::optional<bool> beats() const;
};

// Summary of a run.
struct Tally {
    // Rows for which beats() has a value, and rows for which it is true.
    unsigned judged = 0, beaten = 0;
    unsigned methods_below = 0;  // Methods that are slower here than in their paper.

    void take(const Row& row);
    std::string text() const;
};

// Return the text of a table's title and of a row.
std::string title_text(const Table& table);
std::string row_text(const Row& row);

}  // namespace warpseal::papers
