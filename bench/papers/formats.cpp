// Text of whole papers.
#include "bench/papers/formats.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/papers/json.h"
#include "bench/papers/text.h"
#include "cli/support/format.h"

namespace warpseal::papers {
namespace {

constexpr size_t screen_rows = 50;
constexpr size_t index_width = 110;

// Rows that a reader sees, and the number of those that are left out.
struct Choice {
    std::vector<const Row*> shown;
    size_t left_out = 0;  // measured here, without a published figure or of no speed
    struct {
        size_t rows = 0, published = 0;
        std::string reason;  // of the first of them
    } bare;
};

Choice chosen(const std::vector<Row>& rows, bool all) {
    const auto measured = static_cast<size_t>(
        std::count_if(rows.begin(), rows.end(), [](const Row& row) { return !row.bare(); }));
    Choice choice;
    for (const Row& row : rows) {
        const bool fits = measured <= screen_rows || (row.published && row.higher_is_better());
        if (all || (fits && !row.bare()))
            choice.shown.push_back(&row);
        else if (row.bare()) {
            if (choice.bare.rows++ == 0) choice.bare.reason = row.not_run;
            choice.bare.published += row.published ? 1 : 0;
        } else
            ++choice.left_out;
    }
    return choice;
}

std::string left_out_text(const char* paper, const Choice& choice, const std::string& no_gpu) {
    std::string text;
    if (choice.left_out > 0)
        text += cli::format(
            "{}: {} more rows have no published figure or compare no speed; --all or --table shows "
            "them\n",
            paper, choice.left_out);
    if (choice.bare.rows == 0) return text;
    if (choice.bare.reason == no_gpu)
        return text + cli::format(
                          "{}: needs an NVIDIA GPU ({}) for {} of its published figures; "
                          "--all lists them\n",
                          paper, no_gpu, choice.bare.published);
    return text + cli::format("{}: rows that were not measured: {} ({}); --all lists them\n", paper,
                              choice.bare.rows, choice.bare.reason);
}

bool starts_table(const std::vector<const Row*>& rows, size_t at) {
    return at == 0 || rows[at]->table != rows[at - 1]->table;
}

// The row of the table at `first` whose title says what is scaled in it.
const Row& titled(const std::vector<const Row*>& rows, size_t first) {
    for (size_t at = first; at < rows.size() && rows[at]->table == rows[first]->table; ++at)
        if (!rows[at]->scaled.empty()) return *rows[at];
    return *rows[first];
}

std::string escaped_markdown(std::string text) {
    for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
        text.insert(at, "\\");
    return text;
}

std::string markdown_row(const Row& row) {
    std::string note = row.noisy() ? "noisy" : "";
    if (!row.not_run.empty()) note += (note.empty() ? "not run: " : "; not run: ") + row.not_run;
    return cli::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                       escaped_markdown(row.row), published_text(row), row.unit,
                       figure_text(row.method), times_text(row.method_over_published()),
                       figure_text(row.ours), times_text(row.ours_over_published()),
                       times_text(row.ours_over_method()),
                       times_text(per_unit(row).ours_over_published), escaped_markdown(note));
}

std::string csv_field(const nlohmann::ordered_json& value) {
    if (value.is_null()) return "";
    if (!value.is_string()) return value.dump();
    std::string text = value.get<std::string>();
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    for (size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2)
        text.insert(at, "\"");
    return "\"" + text + "\"";
}

}  // namespace

std::string index_text(const std::vector<const Paper*>& papers) {
    std::string text;
    for (const Paper* paper : papers) {
        text += cli::format("\n{}  {}\n", paper->name, paper->title);
        std::string line;
        for (const Table* table : paper->tables) {
            const std::string next = (line.empty() ? "    " : "; ") + std::string(table->name);
            if (line.size() + next.size() > index_width) {
                text += line + ";\n";
                line = "    " + std::string(table->name);
            } else
                line += next;
        }
        text += line + "\n";
    }
    return text;
}

std::string paper_text(const Paper& paper, const std::vector<Row>& rows, const Shown& shown) {
    const Choice choice = chosen(rows, shown.all);
    std::string text;
    for (size_t at = 0; at < choice.shown.size(); ++at) {
        if (starts_table(choice.shown, at)) text += table_text(titled(choice.shown, at), shown.all);
        text += row_text(*choice.shown[at]);
    }
    return text + "\n" + left_out_text(paper.name, choice, shown.no_gpu);
}

std::string markdown_text(const Paper& paper, const std::vector<Row>& rows, const Shown& shown) {
    const Choice choice = chosen(rows, shown.all);
    std::string text = cli::format("\n## {}: {}\n", paper.name, paper.title);
    for (size_t at = 0; at < choice.shown.size(); ++at) {
        if (starts_table(choice.shown, at)) {
            const Row& row = titled(choice.shown, at);
            text += cli::format(
                "\n### {}\n\nPublished on: {}. What differs: {}.\n\n"
                "| | published | unit | method here | / published | default | / published | "
                "/ method | default / published, each per unit | |\n"
                "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n",
                title_text(row), row.table->published_on, row.table->differs);
        }
        text += markdown_row(*choice.shown[at]);
    }
    return text + "\n" + left_out_text(paper.name, choice, shown.no_gpu);
}

std::string csv_text(const std::vector<Row>& rows) {
    std::string text;
    for (const Row& row : rows) {
        Row plain = row;
        plain.more.clear();
        const auto json = json_row(plain);
        std::vector<std::string> keys, fields;
        for (const auto& [key, value] : json.items()) {
            keys.push_back(key);
            fields.push_back(csv_field(value));
        }
        if (text.empty()) text = cli::format("{}\r\n", fmt::join(keys, ","));
        text += cli::format("{}\r\n", fmt::join(fields, ","));
    }
    return text;
}

}  // namespace warpseal::papers
