// JSON of a row: bench/README.md describes each key.
#include "bench/papers/json.h"

#include "bench/papers/text.h"
#include "bench/report/figures.h"
#include "cli/support/format.h"

namespace warpseal::papers {
namespace {

using Json = nlohmann::ordered_json;

Json rounded_or_null(std::optional<double> value) {
    return value ? bench::rounded(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json count_or_null(double value) { return value > 0 ? Json(value) : Json(nullptr); }

void add_per_unit(Json& json, const Row& row) {
    const PerUnit units = per_unit(row);
    json["per_unit"] = text_or_null(units.of);
    json["published_units"] = count_or_null(units.published_units.count);
    json["published_gigahertz"] = count_or_null(units.published_units.gigahertz);
    json["published_units_source"] = text_or_null(units.source);
    json["published_per_unit"] = rounded_or_null(units.published);
    json["method_units"] = count_or_null(row.method_units.count);
    json["method_per_unit"] = rounded_or_null(units.method);
    json["method_per_unit_ratio"] = rounded_or_null(units.method_over_published);
    json["default_units"] = count_or_null(row.ours_units.count);
    json["default_per_unit"] = rounded_or_null(units.ours);
    json["default_per_unit_ratio"] = rounded_or_null(units.ours_over_published);
}

}  // namespace

Json json_row(const Row& row) {
    const auto higher = row.higher_is_better();
    const auto beats = row.beats();
    Json json{{"paper", row.table->paper},
              {"table", row.table->name},
              {"title", row.scaled.empty() ? row.table->title
                                           : cli::format("{} [{}]", row.table->title, row.scaled)},
              {"row", row.row},
              {"unit", row.unit},
              {"better", higher ? Json(*higher ? "higher" : "lower") : Json(nullptr)},
              {"figure", beats ? Json(row.figure_name()) : Json(nullptr)},
              {"published", row.published ? Json(double(*row.published)) : Json(nullptr)},
              {"published_text", row.published ? Json(row.published->text()) : Json(nullptr)},
              {"published_bound", text_or_null(row.published_bound)},
              {"published_on", row.on()},
              {"method", rounded_or_null(row.method)},
              {"method_what", text_or_null(row.method_what)},
              {"default", rounded_or_null(row.ours)},
              {"default_what", text_or_null(row.ours_what)},
              {"method_ratio", rounded_or_null(row.method_over_published())},
              {"default_ratio", rounded_or_null(row.ours_over_published())},
              {"ratio", rounded_or_null(row.ours_over_method())},
              {"beats", beats ? Json(*beats) : Json(nullptr)},
              {"method_spread", rounded_or_null(row.method_spread)},
              {"default_spread", rounded_or_null(row.ours_spread)},
              {"noisy", row.noisy()},
              {"scaled", text_or_null(row.scaled)},
              {"not_run", text_or_null(row.not_run)},
              {"differs", row.table->differs}};
    add_per_unit(json, row);
    for (const auto& [name, value] : row.more) json[name] = bench::rounded(value);
    return json;
}

}  // namespace warpseal::papers
