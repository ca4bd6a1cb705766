// A row of `warpseal bench papers`: what a paper published, and what was measured here beside it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warpseal::papers {

// A table or figure of a paper, or a study of ours that belongs to it.
struct Table {
    const char* paper;         // "P1"
    const char* name;          // "table 3"
    const char* title;         // what its rows are
    const char* published_on;  // the paper's machine
    const char* differs;  // what sets the measurement apart from the paper's, beside the machine
};

struct Row {
    const Table* table = nullptr;
    std::string row = {};
    std::string unit = {};
    std::optional<double> published = {};
    std::string published_bound = {};  // ">", "<": the paper says more, or less, than that
    std::string published_on = {};     // where a row of the table has a machine of its own
    std::optional<double> method = {}, ours = {};
    std::string method_what = {};  // the paper's method as it ran here: the ladder's step, or words
    std::string ours_what = {};    // our default path: the call
    std::string not_run = {};      // why a figure is missing
    std::vector<std::pair<std::string, double>> more =
        {};  // figures that belong to the row, by their names in the JSON

    const char* on() const {
        return published_on.empty() ? table->published_on : published_on.c_str();
    }
    // As speeds: 2 is twice as fast, whether the unit counts time or data. Nothing where a figure
    // is missing or the unit is no speed.
    std::optional<double> method_over_published() const;
    std::optional<double> ours_over_method() const;
    // Ours is faster than what was published and than the paper's method here.
    std::optional<bool> beats() const;
};

// What a run comes to.
struct Tally {
    unsigned judged = 0, beaten = 0;  // rows of which beats() says something, and where it is so
    unsigned methods_below = 0;       // slower here than their paper has them

    void take(const Row& row);
    std::string text() const;
};

// The text of a table, and each row as it comes.
std::string title_text(const Table& table);
std::string row_text(const Row& row);

}  // namespace warpseal::papers
