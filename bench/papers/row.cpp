// Evaluates and formats a row of `warpseal bench papers`.
#include "bench/papers/row.h"

#include <fmt/core.h>

#include <cmath>

namespace warpseal::papers {
namespace {

enum class Better { neither, higher, lower };

Better better(const std::string& unit) {
    if (unit == "Gbit/s" || unit == "GB/s") return Better::higher;
    if (unit == "s" || unit == "ms") return Better::lower;
    return Better::neither;
}

std::optional<double> speed_over(const std::string& unit, std::optional<double> one,
                                 std::optional<double> other) {
    if (!one || !other || better(unit) == Better::neither || *one <= 0 || *other <= 0)
        return std::nullopt;
    return better(unit) == Better::higher ? *one / *other : *other / *one;
}

std::string figure_text(std::optional<double> figure) {
    if (!figure) return "-";
    if (*figure == 0) return "0";
    const double size = std::abs(*figure);
    if (size >= 100) return fmt::format("{:.0f}", *figure);
    return size >= 10     ? fmt::format("{:.1f}", *figure)
           : size >= 0.01 ? fmt::format("{:.3g}", *figure)
                          : fmt::format("{:.2g}", *figure);
}

std::string times_text(std::optional<double> times) {
    return times ? figure_text(times) + "x" : "";
}

// Wraps the text to indented lines of at most 120 characters.
std::string wrapped(const std::string& text) {
    constexpr size_t width = 120;
    std::string lines;
    for (size_t at = 0; at < text.size();) {
        const size_t end = text.size() - at <= width ? text.size() : text.rfind(' ', at + width);
        lines += (at == 0 ? "  " : "    ") + text.substr(at, end - at) + "\n";
        at = end + 1;
    }
    return lines;
}

}  // namespace

std::optional<double> Row::method_over_published() const {
    return speed_over(unit, method, published);
}

std::optional<double> Row::ours_over_method() const { return speed_over(unit, ours, method); }

std::optional<bool> Row::beats() const {
    const auto over_published = speed_over(unit, ours, published), over_method = ours_over_method();
    if (!published || !over_published) return std::nullopt;
    return *over_published > 1 && (!method || (over_method && *over_method > 1));
}

void Tally::take(const Row& row) {
    const std::optional<bool> beats = row.beats();
    const std::optional<double> method = row.method_over_published();
    judged += beats ? 1 : 0;
    beaten += beats && *beats ? 1 : 0;
    methods_below += method && *method < 1 ? 1 : 0;
}

std::string Tally::text() const {
    return fmt::format(
        "\n{} of {} rows are beaten by our default; {} methods are below their published figure\n",
        beaten, judged, methods_below);
}

std::string title_text(const Table& table) {
    std::string text = fmt::format("\n{} {}: {}\n", table.paper, table.name, table.title);
    text += fmt::format("  published on: {}\n", table.published_on);
    text += wrapped(std::string("what differs: ") + table.differs);
    return text + fmt::format("  {:<58}{:>12}{:>12}{:>9}{:>12}{:>9}  {}\n", "", "published",
                              "method", "times", "default", "times", "unit");
}

std::string row_text(const Row& row) {
    const std::string published = row.published_bound + figure_text(row.published);
    const bool bare = !row.method && !row.ours && !row.not_run.empty();
    std::string text = fmt::format("  {:<58}{:>12}", row.row, published);
    if (bare) return text + fmt::format("{:>12}  {}\n", "not run", row.not_run);
    text += fmt::format("{:>12}{:>9}{:>12}{:>9}  {}", figure_text(row.method),
                        times_text(row.method_over_published()), figure_text(row.ours),
                        times_text(row.ours_over_method()), row.unit);
    if (!row.not_run.empty()) text += fmt::format("  (not run: {})", row.not_run);
    return text + "\n";
}

}  // namespace warpseal::papers
