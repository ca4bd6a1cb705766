// Page of `warpseal bench --html`: facts of the machine and bars for every cipher.
#include "cli/bench_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "bench/bulk/bounds.h"
#include "bench/bulk/measure.h"
#include "cli/bench_page_style.h"

namespace warpseal::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || found->is_null()) return "";
    return found->is_string() ? found->get<std::string>() : found->dump();
}

double number_of(const Json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

bool on_gpu(const Json& row) { return text_of(row, "device").rfind("cuda", 0) == 0; }

// Returns a string that is equal for rows that measure the same thing.
std::string identity(const Json& row) {
    std::string all;
    for (const char* name :
         {"cipher", "mode", "operation", "device", "place", "threads", "message_bytes",
          "key_per_message", "pinned", "data_unit_bytes", "buffer_per_thread"})
        all += text_of(row, name) + "/";
    return all;
}

void put(Rows& rows, Json row, const std::string& name) {
    row["identity"] = name;
    const auto same = std::find_if(rows.begin(), rows.end(),
                                   [&](const Json& other) { return other["identity"] == name; });
    if (same != rows.end())
        *same = std::move(row);
    else
        rows.push_back(std::move(row));
}

// ---- machine

std::string fact(const char* name, const std::string& value) {
    return value.empty() ? ""
                         : fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", name,
                                       escaped(value));
}

std::string facts(const Json& head) {
    const double memory = number_of(head, "gpu_memory_bytes"),
                 rate = number_of(head, "gpu_memory_bytes_per_second");
    const std::string capability = text_of(head, "gpu_compute_capability");
    std::string gpu = text_of(head, "gpu");
    if (!capability.empty())
        gpu += fmt::format(", compute capability {}.{}",
                           capability.substr(0, capability.size() - 1), capability.back());
    std::string text = "<table class=\"facts\">\n";
    text += fact("CPU", fmt::format("{}, {} cores", text_of(head, "cpu"), text_of(head, "cores")));
    text += fact("GPU", gpu);
    if (number_of(head, "gpu_multiprocessors") > 0) {
        const double clock = number_of(head, "gpu_clock_megahertz");
        text += fact("Multiprocessors",
                     text_of(head, "gpu_multiprocessors") +
                         (clock > 0 ? fmt::format(" at {:.0f} MHz at most", clock) : ""));
    }
    if (memory > 0)
        text += fact("GPU memory", fmt::format("{:.1f} GiB", memory / (1 << 30)) +
                                       (rate > 0 ? fmt::format(", {:.0f} GB/s", rate / 1e9) : ""));
    if (const double shared = number_of(head, "gpu_shared_bytes_per_block"); shared > 0)
        text += fact("Shared memory", fmt::format("{:.0f} KiB a block", shared / 1024));
    text += fact("CUDA driver", text_of(head, "driver"));
    text += fact("System", text_of(head, "system"));
    text += fact("Warpseal",
                 fmt::format("{}, commit {}", text_of(head, "warpseal"), text_of(head, "commit")));
    text += fact("Beside it", text_of(head, "openssl"));
    text += fact("Measured", text_of(head, "date"));
    text += fact("Note", text_of(head, "note"));
    return text + "</table>\n";
}

// ---- bars

struct Group {
    std::string name;
    std::vector<const Json*> rows;
};

// Groups rows by name in order of first appearance.
template <class Name>
std::vector<Group> grouped(const std::vector<const Json*>& rows, const Name& name) {
    std::vector<Group> groups;
    for (const Json* row : rows) {
        const std::string own = name(*row);
        auto group = std::find_if(groups.begin(), groups.end(),
                                  [&](const Group& g) { return g.name == own; });
        if (group == groups.end()) group = groups.insert(group, {own, {}});
        group->rows.push_back(row);
    }
    return groups;
}

std::string where(const Json& row) {
    if (on_gpu(row))
        return text_of(row, "place") == "device"
                   ? "In GPU memory"
                   : "From host memory to host memory through the GPU";
    const double threads = number_of(row, "threads");
    const std::string cores =
        fmt::format("{:g} core{} ({})", threads, threads == 1 ? "" : "s", text_of(row, "device"));
    if (text_of(row, "place") == "file") return "From file to file on " + cores;
    return row.value("buffer_per_thread", false) ? "On " + cores
                                                 : "One call on host memory, " + cores;
}

std::string what(const Json& row) {
    const auto bytes = static_cast<uint64_t>(number_of(row, "bytes")),
               message = static_cast<uint64_t>(number_of(row, "message_bytes"));
    std::string text = escaped(text_of(row, "mode")) + " " + escaped(text_of(row, "operation"));
    if (message < bytes && text_of(row, "place") != "file")
        text += fmt::format(" <small>{} messages</small>", size_text(message));
    if (message >= bytes && on_gpu(row) && bytes != uint64_t{1} << 30)
        text += fmt::format(" <small>{}</small>", size_text(bytes));
    if (row.value("key_per_message", false)) text += " <small>a key each</small>";
    return text;
}

// Returns the marker across a bar: the GPU's bound, or OpenSSL's rate on the same cores.
double mark_of(const Json& row) {
    return number_of(row,
                     on_gpu(row) ? "bound_gigabytes_per_second" : "openssl_gigabytes_per_second");
}

std::string bar_row(const Json& row, double end) {
    const double value = number_of(row, "gigabytes_per_second"), mark = mark_of(row);
    std::string beside, label = figure_text(value) + " GB/s";
    if (mark > 0 && on_gpu(row)) {
        beside = fmt::format("<td title=\"{}\">{:.0f} %</td>", escaped(text_of(row, "bound")),
                             100 * value / mark);
        label += fmt::format(", at most {}: {}", figure_text(mark), text_of(row, "bound"));
    } else if (mark > 0) {
        const std::string yardstick = text_of(row, "openssl_yardstick");
        beside =
            fmt::format("<td>{}×{}</td>", figure_text(value / mark), yardstick.empty() ? "" : "*");
        label += fmt::format(", OpenSSL {}{}", figure_text(mark),
                             yardstick.empty() ? "" : " in " + yardstick);
    } else {
        beside = "<td>–</td>";
    }
    return fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"chart\">{}</td><td>{}</td>{}</tr>\n", what(row),
        bar(value, mark, end, label), figure_text(value), beside);
}

std::string bars_card(const Group& cipher, double end) {
    const bool gpu = on_gpu(*cipher.rows.front());
    std::string text = fmt::format(
        "<table class=\"card\"><caption>{}</caption>\n<thead><tr><th scope=\"col\">mode</th><th "
        "scope=\"col\" class=\"chart\">{}</th>"
        "<th scope=\"col\">GB/s</th><th scope=\"col\">{}</th></tr></thead>\n<tbody>\n",
        escaped(cipher.name), bar_axis(end, "GB/s"), gpu ? "of bound" : "OpenSSL");
    for (const Json* row : cipher.rows) text += bar_row(*row, end);
    return text + "</tbody></table>\n";
}

std::string bars_section(const Group& place, bool folded) {
    double end = 0;
    bool marked = false, yardsticks = false;
    for (const Json* row : place.rows) {
        end = std::max({end, number_of(*row, "gigabytes_per_second"), mark_of(*row)});
        marked = marked || mark_of(*row) > 0;
        yardsticks = yardsticks || !text_of(*row, "openssl_yardstick").empty();
    }
    const bool gpu = on_gpu(*place.rows.front());
    std::string text = fmt::format("<h2>{}</h2>\n", escaped(place.name));
    if (marked)
        text += fmt::format(
            "<p class=\"key\"><i class=\"ours\"></i> measured <i class=\"mark\"></i> {}</p>\n",
            gpu ? "bound: what the busiest unit of this GPU can do at its highest clock, or copies "
                  "over the link (docs/design/tuning.md)"
            : yardsticks
                ? "OpenSSL on as many cores; with *, its ECB of the cipher, as it lacks the mode"
                : "OpenSSL on as many cores");
    text += "<div class=\"cards\">\n";
    for (const Group& cipher :
         grouped(place.rows, [](const Json& row) { return text_of(row, "cipher"); }))
        text += bars_card(cipher, end);
    text += "</div>\n";
    if (folded)
        return fmt::format("<section><details><summary>{}</summary>\n{}</details></section>\n",
                           escaped(place.name), text);
    return "<section>" + text + "</section>\n";
}

// Shows the GPU first, then the configuration with most threads. All others are collapsed.
std::string all_bars(const Rows& bars) {
    std::vector<const Json*> rows;
    for (const Json& row : bars) rows.push_back(&row);
    std::vector<Group> places = grouped(rows, where);
    std::stable_sort(places.begin(), places.end(), [](const Group& a, const Group& b) {
        const auto rank = [](const Json& row) {
            return on_gpu(row) ? (text_of(row, "place") == "device" ? -2e9 : -1e9)
                               : -number_of(row, "threads");
        };
        return rank(*a.rows.front()) < rank(*b.rows.front());
    });
    std::string text;
    bool cores_shown = false;
    for (const Group& place : places) {
        const bool gpu = on_gpu(*place.rows.front());
        text += bars_section(place, !gpu && cores_shown);
        cores_shown = cores_shown || !gpu;
    }
    return text;
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            default: out += c;
        }
    return out;
}

std::string figure_text(double value) {
    if (value >= 100) return fmt::format("{:.0f}", value);
    return value >= 10  ? fmt::format("{:.1f}", value)
           : value >= 1 ? fmt::format("{:.2f}", value)
                        : fmt::format("{:.2g}", value);
}

std::string bar(double value, double mark, double end, const std::string& label) {
    const auto place = [end](double x) { return 1000 * std::clamp(x / end, 0.0, 1.0); };
    std::string text = fmt::format(
        "<svg class=\"bar\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" role=\"img\" "
        "aria-label=\"{0}\"><title>{0}</title>"
        "<rect class=\"ours\" width=\"{1:.1f}\" height=\"10\"/>",
        escaped(label), place(value));
    if (mark > 0) text += fmt::format("<path class=\"mark\" d=\"M{:.1f} 0V10\"/>", place(mark));
    return text + "</svg>";
}

std::string bar_axis(double end, const char* unit) {
    const double ten = std::pow(10, std::floor(std::log10(end)));
    const double step = ten * (end / ten < 1.5 ? 0.5 : end / ten < 3 ? 1 : end / ten < 7 ? 2 : 5);
    std::string text = "<span class=\"axis\">";
    for (int i = 0; i * step <= end; ++i)
        text +=
            fmt::format("<span style=\"left:{:.2f}%\">{:g}</span>", 100 * i * step / end, i * step);
    return text + fmt::format("</span><span class=\"unseen\">{}</span>", unit);
}

void PageData::add(const Json& report) {
    const Json& head = report.at("head");
    const auto same_run = [&](const Json& other) {
        return text_of(other, "machine") == text_of(head, "machine") &&
               text_of(other, "commit") == text_of(head, "commit");
    };
    if (std::none_of(heads.begin(), heads.end(), same_run)) heads.push_back(head);
    const auto take = [&](const Json& row, Rows& into, const std::string& more) {
        Json own = row;
        for (const char* name : {"cipher", "mode", "operation", "device", "place"})
            (void)row.at(name).get_ref<const std::string&>();
        for (const char* name : {"bytes", "message_bytes", "gigabytes_per_second"})
            (void)row.at(name).get<double>();
        if (on_gpu(row))
            if (const auto bound = gpu_bound(head, row)) {
                own["bound"] = bound->binds;
                own["bound_gigabytes_per_second"] = bound->gigabytes_per_second;
            }
        put(into, std::move(own), identity(row) + more);
    };
    for (const Json& row : report.value("rows", Json::array())) {
        if (row.contains("step"))
            put(ladder, row, row.at("step"));
        else if (row.contains("paper"))
            put(papers, row,
                text_of(row, "paper") + "/" + text_of(row, "table") + "/" + text_of(row, "row"));
        else
            take(row, bars, "");
    }
    for (const Json& row : report.value("sizes", Json::array()))
        take(row, sizes, text_of(row, "bytes"));
}

std::string html_page(const PageData& data) {
    std::string machines;
    for (const Json& head : data.heads) {
        const std::string machine = text_of(head, "machine");
        if (machines.find(machine) == std::string::npos)
            machines += (machines.empty() ? "" : "; ") + machine;
    }
    std::string text = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta "
        "name=\"color-scheme\" content=\"light dark\">\n"
        "<title>Warpseal on {0}</title>\n<style>{1}</style>\n</head>\n<body>\n<main>\n<h1>Warpseal "
        "on {0}</h1>\n"
        "<p>GB/s are 10<sup>9</sup> bytes of data a second, the data counted once, and medians of "
        "repetitions. Every output was compared "
        "before it had a figure.</p>\n",
        escaped(machines), page_style);
    text +=
        all_bars(data.bars) + size_charts(data.sizes) + ladder_section(data) + papers_section(data);
    text += "<section><h2>The machine</h2>\n<div class=\"cards\">\n";
    for (const Json& head : data.heads) text += facts(head);
    return text + "</div></section>\n</main>\n</body>\n</html>\n";
}

}  // namespace warpseal::cli
