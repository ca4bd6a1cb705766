// Page of `warpseal bench --html`: one file with embedded style and pictures, without scripts or
// external resources.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace warpseal::cli {

using Rows = std::vector<nlohmann::ordered_json>;

// Content of a page, from one run or from several recorded ones; rows have the form that `--json`
// writes.
struct PageData {
    Rows heads;  // one for each machine and commit
    // `rows` of warpseal bench, with "bound" and "bound_gigabytes_per_second" where a bound is
    // known.
    Rows bars;
    Rows sizes;                  // `sizes`: figures of the same call for growing sizes
    Rows ladder, papers;         // reports of warpseal-bench
    std::string studies_absent;  // reason why there are no warpseal-bench reports

    // Adds a report of any kind. If two reports measure the same thing, the later one counts.
    // Throws nlohmann::json::exception if a row lacks a field of its kind.
    void add(const nlohmann::ordered_json& report);
};

std::string html_page(const PageData& data);

// ---- sections and charts

// Escapes `text` for use in HTML text or an attribute value.
std::string escaped(std::string_view text);
// Returns at most three digits: "894", "48.1", "0.033".
std::string figure_text(double value);

// Returns a bar on a scale that ends at `end`, with a marker at `mark` (0: none). `label` is the
// text for screen readers.
std::string bar(double value, double mark, double end, const std::string& label);
// Returns the numbers above bars of that scale.
std::string bar_axis(double end, const char* unit);

// Returns one chart for each cipher, with a line of figure against size for each place, and the
// same data as tables.
std::string size_charts(const Rows& sizes);
std::string ladder_section(const PageData& data);
std::string papers_section(const PageData& data);

}  // namespace warpseal::cli
