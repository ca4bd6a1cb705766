// Formats rows of `warpseal bench papers` for a terminal.
#include "bench/papers/text.h"

#include <fmt/core.h>

#include <cmath>

#include "cli/support/format.h"

namespace warpseal::papers {
namespace {

constexpr size_t width = 120;
// Row, published, method and its ratio, default and its ratios.
constexpr const char* columns = "  {:<48}{:>14}{:>10}{:>8}{:>10}{:>8}{:>8}{:>9}  {}\n";

// Wraps the text to indented lines.
std::string wrapped(const std::string& text) {
    std::string lines;
    for (size_t at = 0; at < text.size();) {
        const size_t end = text.size() - at <= width ? text.size() : text.rfind(' ', at + width);
        lines += (at == 0 ? "  " : "    ") + text.substr(at, end - at) + "\n";
        at = end + 1;
    }
    return lines;
}

}  // namespace

std::string figure_text(std::optional<double> figure) {
    if (!figure) return "-";
    if (*figure == 0) return "0";
    const double size = std::abs(*figure);
    if (size >= 100 || (size >= 1 && size == std::floor(size)))
        return cli::format("{:.0f}", *figure);
    return size >= 10 ? cli::format("{:.1f}", *figure) : cli::format("{:.3g}", *figure);
}

std::string times_text(std::optional<double> ratio) {
    return ratio ? figure_text(ratio) + "x" : "";
}

std::string published_text(const Row& row) {
    if (!row.published) return "-";
    return row.published_bound + (row.published_bound.empty() ? "" : " ") + row.published->text();
}

std::string title_text(const Row& row) {
    return cli::format("{} {}: {}{}", row.table->paper, row.table->name, row.table->title,
                       row.scaled.empty() ? "" : cli::format(" [{}]", row.scaled));
}

std::string table_text(const Row& first, bool differences) {
    std::string text = cli::format("\n{}\n", title_text(first));
    text += cli::format("  published on: {}\n", first.table->published_on);
    if (differences) text += wrapped(std::string("what differs: ") + first.table->differs);
    return text + cli::format(fmt::runtime(columns), "", "published", "method", "/publ.", "default",
                              "/publ.", "/method", "per unit", "unit");
}

std::string row_text(const Row& row) {
    if (row.bare())
        return cli::format("  {:<48}{:>14}   not run: {}\n", row.row, published_text(row),
                           row.not_run);
    std::string text =
        cli::format(fmt::runtime(columns), row.row, published_text(row), figure_text(row.method),
                    times_text(row.method_over_published()), figure_text(row.ours),
                    times_text(row.ours_over_published()), times_text(row.ours_over_method()),
                    times_text(per_unit(row).ours_over_published), row.unit);
    text.pop_back();
    if (row.noisy()) text += "  (noisy)";
    if (!row.not_run.empty()) text += cli::format("  (not run: {})", row.not_run);
    return text + "\n";
}

}  // namespace warpseal::papers
