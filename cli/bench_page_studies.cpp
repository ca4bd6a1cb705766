// Sections of warpseal-bench's reports: the ladder of kernels and the papers' tables.
#include <fmt/core.h>

#include <algorithm>

#include "cli/bench_page.h"

namespace warpseal::cli {
namespace {

using Json = nlohmann::ordered_json;

// Returns a cell's content: a figure, a text or a dash.
std::string cell(const Json& row, const char* name) {
    const auto found = row.find(name);
    if (found == row.end() || found->is_null()) return "–";
    if (found->is_number_integer()) return fmt::format("{}", found->get<int64_t>());
    if (found->is_number()) return figure_text(found->get<double>());
    return escaped(found->is_string() ? found->get<std::string>() : found->dump());
}

std::string string_of(const Json& row, const char* name) {
    const auto found = row.find(name);
    return found != row.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string absent(const PageData& data, const char* command) {
    return fmt::format(
        "<p class=\"absent\">Not run: {}. <code>warpseal bench {}</code> does.</p></section>\n",
        escaped(data.studies_absent.empty() ? "no report here has it" : data.studies_absent),
        command);
}

// Steps of ciphers count bytes; steps of NTRU count operations.
struct Unit {
    const char *key, *name;
    double one;
};
constexpr Unit units[] = {{"gigabytes_per_second", "GB/s", 1},
                          {"operations_per_second", "million/s", 1e6}};

double figure_of(const Json& row, const Unit& unit) {
    return row.at(unit.key).is_number() ? row[unit.key].get<double>() / unit.one : 0;
}

std::string ladder_row(const Json& row, const Unit& unit, double end) {
    const double figure = figure_of(row, unit);
    const std::string name = string_of(row, "step"), paper = string_of(row, "paper"),
                      not_run = string_of(row, "not_run");
    std::string about = escaped(string_of(row, "what"));
    if (!paper.empty()) about = fmt::format("<b>{}</b> ", escaped(paper)) + about;
    if (row.value("keystream_only", false)) about += " <small>keystream only</small>";
    if (const std::string taught = string_of(row, "taught"); !taught.empty())
        about += fmt::format("<br><small class=\"taught\">{}</small>", escaped(taught));
    const std::string picture =
        figure > 0
            ? bar(figure, 0, end, fmt::format("{}: {} {}", name, figure_text(figure), unit.name))
            : "<small>not run: " + escaped(not_run) + "</small>";
    std::string text = fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"chart\">{}</td><td class=\"number\">{}</td>",
        escaped(name), picture, figure > 0 ? figure_text(figure) : "–");
    for (const char* column : {"registers", "local_bytes", "shared_bytes", "threads_per_block"})
        text += fmt::format("<td class=\"number\">{}</td>", cell(row, column));
    return text + fmt::format("<td>{}</td></tr>\n", about);
}

// Returns a figure with its subject in small print.
std::string measured(const Json& row, const char* figure, const char* what) {
    const std::string text = string_of(row, what);
    return fmt::format("<td class=\"number\">{}{}</td>", cell(row, figure),
                       text.empty() ? "" : fmt::format(" <small>{}</small>", escaped(text)));
}

std::string paper_row(const Json& row) {
    const std::string not_run = string_of(row, "not_run");
    std::string text = fmt::format(
        "<tr><th scope=\"row\">{} <small>{}</small></th><td class=\"number\">{}{}</td><td>{}</td>",
        cell(row, "row"), cell(row, "published_on"), escaped(string_of(row, "published_bound")),
        cell(row, "published"), cell(row, "unit"));
    const bool nothing =
        row.value("method", Json()).is_null() && row.value("default", Json()).is_null();
    if (nothing && !not_run.empty())
        return text + fmt::format("<td colspan=\"3\">not run: {}</td></tr>\n", escaped(not_run));
    return text + measured(row, "method", "method_what") +
           measured(row, "default", "default_what") +
           fmt::format("<td class=\"number\">{}</td></tr>\n", cell(row, "ratio"));
}

// Returns the table of all steps that have `unit`.
std::string ladder_table(const Rows& rows, const Unit& unit) {
    double end = 0;
    std::string lines;
    for (const Json& row : rows)
        if (row.contains(unit.key)) end = std::max(end, figure_of(row, unit));
    for (const Json& row : rows)
        if (row.contains(unit.key)) lines += ladder_row(row, unit, end);
    if (lines.empty()) return "";
    return fmt::format(
        "<div class=\"scroll\"><table class=\"wide ladder\"><thead><tr><th "
        "scope=\"col\">step</th><th scope=\"col\" class=\"chart\">{}</th>"
        "<th scope=\"col\" class=\"number\">{}</th><th scope=\"col\" "
        "class=\"number\">registers</th><th scope=\"col\" "
        "class=\"number\">local</th>"
        "<th scope=\"col\" class=\"number\">shared</th><th scope=\"col\" "
        "class=\"number\">threads</th><th scope=\"col\">what it changes, "
        "and taught</th></tr></thead>\n<tbody>\n{}</tbody></table></div>\n",
        end > 0 ? bar_axis(end, unit.name) : "", unit.name, lines);
}

}  // namespace

std::string ladder_section(const PageData& data) {
    std::string text = "<section><h2>The ladder: from the papers' kernels to ours</h2>\n";
    if (data.ladder.empty()) return text + absent(data, "ladder");
    for (const Unit& unit : units) text += ladder_table(data.ladder, unit);
    return text + "</section>\n";
}

std::string papers_section(const PageData& data) {
    std::string text = "<section><h2>The papers' tables</h2>\n", table, differs;
    if (data.papers.empty()) return text + absent(data, "papers");
    const auto close = [&] {
        if (table.empty()) return;
        text += "</tbody></table></div>\n";
        if (!differs.empty())
            text += fmt::format("<p class=\"note\">What differs: {}</p>\n", escaped(differs));
    };
    for (const Json& row : data.papers) {
        const std::string own = string_of(row, "paper") + "/" + string_of(row, "table");
        if (own != table) {
            close();
            table = own;
            differs = string_of(row, "differs");
            text += fmt::format(
                "<div class=\"scroll\"><table class=\"wide papers\"><caption>{}: "
                "{}</caption><thead><tr><th scope=\"col\">row, published "
                "on</th>"
                "<th scope=\"col\" class=\"number\">published</th><th scope=\"col\">unit</th><th "
                "scope=\"col\" class=\"number\">its method "
                "here</th>"
                "<th scope=\"col\" class=\"number\">our default</th><th scope=\"col\" "
                "class=\"number\">ratio</th></tr></thead>\n<tbody>\n",
                cell(row, "paper"),
                string_of(row, "title").empty() ? cell(row, "table") : cell(row, "title"));
        }
        text += paper_row(row);
    }
    close();
    return text + "</section>\n";
}

}  // namespace warpseal::cli
