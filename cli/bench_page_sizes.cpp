// Charts of throughput against size, with logarithmic axes and one line for each place.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "bench/bulk/measure.h"
#include "cli/bench_page.h"

namespace warpseal::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Line {
    std::string name;
    std::map<uint64_t, double> points;  // GB/s by bytes
};
struct Chart {
    std::string name;
    std::vector<Line> lines;
};

std::string line_name(const Json& row) {
    const std::string device = row.at("device"), place = row.at("place");
    if (device.rfind("cuda", 0) != 0)
        return device + " on " + std::to_string(row.value("threads", 1)) + " cores";
    return place == "device" ? "GPU, in its memory" : "GPU, from host memory";
}

template <class Named>
Named& named(std::vector<Named>& all, const std::string& name) {
    for (Named& one : all)
        if (one.name == name) return one;
    all.push_back({name, {}});
    return all.back();
}

// Converts values to coordinates of the view box.
class Scales {
public:
    static constexpr double width = 560, height = 340, left = 48, right = 12, top = 10, bottom = 38;

    explicit Scales(const Chart& chart) {
        for (const Line& line : chart.lines)
            for (const auto& [bytes, figure] : line.points) {
                const double x = std::log2(static_cast<double>(bytes)), y = std::log10(figure);
                first_ = std::min(first_, x), last_ = std::max(last_, x);
                low_ = std::min(low_, std::floor(y)), high_ = std::max(high_, std::ceil(y));
            }
        if (last_ <= first_) last_ = first_ + 1;
        if (high_ <= low_) high_ = low_ + 1;
    }
    double x(double log2_bytes) const {
        return left + (log2_bytes - first_) / (last_ - first_) * (width - left - right);
    }
    double y(double log10_figure) const {
        return height - bottom - (log10_figure - low_) / (high_ - low_) * (height - top - bottom);
    }

    std::string axes() const {
        std::string text;
        for (int decade = static_cast<int>(low_); decade <= high_; ++decade)
            text += fmt::format(
                "<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/><text x=\"{:.1f}\" y=\"{:.1f}\" "
                "text-anchor=\"end\">{:g}</text>\n",
                left, y(decade), width - right, left - 5, y(decade) + 4, std::pow(10, decade));
        for (int power = 4 * static_cast<int>(std::ceil(first_ / 4)); power <= last_; power += 4)
            if (power - first_ > 1.9 || power == std::ceil(first_)) text += tick(power);
        text += fmt::format(
            "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">bytes of a call</text>",
            width - right, height - 5);
        return text + fmt::format(
                          "<text x=\"4\" y=\"{:.1f}\" transform=\"rotate(-90 12 {:.1f})\" "
                          "text-anchor=\"middle\">GB/s</text>\n",
                          (height - bottom) / 2, (height - bottom) / 2);
    }

private:
    std::string tick(int power) const {
        return fmt::format(
            "<path class=\"grid\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/><text x=\"{0:.1f}\" "
            "y=\"{3:.1f}\" text-anchor=\"middle\">{4}</text>\n",
            x(power), top, height - bottom, height - bottom + 15, size_text(uint64_t{1} << power));
    }

    double first_ = 64, last_ = 0, low_ = 9, high_ = -9;
};

// Marker shapes supplement colors, for readers and printers that cannot distinguish them.
std::string marker(size_t shape, double x, double y) {
    switch (shape % 4) {
        case 0: return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>", x, y);
        case 1: return fmt::format("<path d=\"M{:.1f} {:.1f}l4.5 8h-9z\"/>", x, y - 5);
        case 2:
            return fmt::format("<path d=\"M{:.1f} {:.1f}h7.5v7.5h-7.5z\"/>", x - 3.75, y - 3.75);
        default: return fmt::format("<path d=\"M{:.1f} {:.1f}l5 5-5 5-5-5z\"/>", x, y - 5);
    }
}

std::string drawn(const Line& line, size_t index, const Scales& scales) {
    std::string path, markers;
    for (const auto& [bytes, figure] : line.points) {
        const double x = scales.x(std::log2(static_cast<double>(bytes))),
                     y = scales.y(std::log10(figure));
        path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x, y);
        markers += fmt::format("<g class=\"point s{}\"><title>{}, {}: {} GB/s</title>{}</g>\n",
                               index % 4, escaped(line.name), size_text(bytes), figure_text(figure),
                               marker(index, x, y));
    }
    return fmt::format("<path class=\"line s{}\" d=\"{}\"/>\n{}", index % 4, path, markers);
}

std::string legend(const Chart& chart) {
    std::string text = "<p class=\"key\">";
    for (size_t i = 0; i < chart.lines.size(); ++i)
        text += fmt::format(
            "<svg width=\"14\" height=\"14\" aria-hidden=\"true\"><g class=\"s{}\">{}</g></svg> "
            "{}&ensp; ",
            i % 4, marker(i, 7, 7), escaped(chart.lines[i].name));
    return text + "</p>\n";
}

std::string as_table(const Chart& chart) {
    std::map<uint64_t, bool> sizes;
    std::string text =
        "<details><summary>The same as a table</summary><table class=\"numbers\"><thead><tr><th "
        "scope=\"col\">bytes</th>";
    for (const Line& line : chart.lines) {
        text += fmt::format("<th scope=\"col\">{}</th>", escaped(line.name));
        for (const auto& [bytes, figure] : line.points) sizes[bytes] = true;
    }
    text += "</tr></thead><tbody>\n";
    for (const auto& [bytes, unused] : sizes) {
        text += fmt::format("<tr><th scope=\"row\">{}</th>", size_text(bytes));
        for (const Line& line : chart.lines) {
            const auto point = line.points.find(bytes);
            text += fmt::format("<td>{}</td>",
                                point == line.points.end() ? "–" : figure_text(point->second));
        }
        text += "</tr>\n";
    }
    return text + "</tbody></table></details>\n";
}

std::string figure(const Chart& chart) {
    const Scales scales(chart);
    std::string text = fmt::format(
        "<figure><figcaption>{0}</figcaption>\n{1}<svg class=\"sizes\" viewBox=\"0 0 {2:g} {3:g}\" "
        "role=\"img\" "
        "aria-label=\"{0}: GB/s against bytes of a call\">\n",
        escaped(chart.name), legend(chart), Scales::width, Scales::height);
    text += scales.axes();
    for (size_t i = 0; i < chart.lines.size(); ++i) text += drawn(chart.lines[i], i, scales);
    return text + "</svg>\n" + as_table(chart) + "</figure>\n";
}

}  // namespace

std::string size_charts(const Rows& sizes) {
    std::vector<Chart> charts;
    for (const Json& row : sizes) {
        const std::string name =
            fmt::format("{}-{} {}", row.at("cipher").get<std::string>(),
                        row.at("mode").get<std::string>(), row.at("operation").get<std::string>());
        named(named(charts, name).lines, line_name(row)).points[row.at("bytes")] =
            row.at("gigabytes_per_second");
    }
    std::string text = "<section><h2>By size</h2>\n";
    if (charts.empty())
        return text +
               "<p class=\"absent\">Not run: no report here has figures by size.</p></section>\n";
    text +=
        "<p>One call on so many bytes. In GPU memory by the GPU's clock, which leaves out how long "
        "a call takes to reach the GPU; else by "
        "the clock on the wall.</p>\n"
        "<div class=\"cards\">\n";
    for (const Chart& chart : charts) text += figure(chart);
    return text + "</div></section>\n";
}

}  // namespace warpseal::cli
