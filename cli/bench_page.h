// The page of `warpseal bench --html`: one file with its style and pictures inside, no script,
// nothing to load.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace warpseal::cli {

using Rows = std::vector<nlohmann::ordered_json>;

// What a page shows, from one run or from several recorded ones: rows as `--json` writes them.
struct PageData {
    Rows heads;  // one for each machine and commit
    Rows bars;   // `rows` of warpseal bench; with "bound" and "bound_gigabytes_per_second" where
                 // there is a bound
    Rows sizes;  // `sizes`: the same call on more and more data
    Rows ladder, papers;         // of warpseal-bench
    std::string studies_absent;  // why there is nothing of warpseal-bench

    // Adds a report, whatever it is of. Of the same thing measured twice the later one counts.
    // Throws nlohmann::json::exception if a row lacks what its kind has.
    void add(const nlohmann::ordered_json& report);
};

std::string html_page(const PageData& data);

// ---- the parts

// As text or an attribute's value.
std::string escaped(std::string_view text);
// Three digits or fewer: "894", "48.1", "0.033".
std::string figure_text(double value);

// A bar on a scale that ends at `end`, with a line across it where `mark` is (0: none). `label` is
// what a reader who sees no pictures gets.
std::string bar(double value, double mark, double end, const std::string& label);
// The numbers above bars on that scale.
std::string bar_axis(double end, const char* unit);

// Figure against size, a line for each place, one chart for each cipher; and the same as tables.
std::string size_charts(const Rows& sizes);
std::string ladder_section(const PageData& data);
std::string papers_section(const PageData& data);

}  // namespace warpseal::cli
